// A transfer child: reads or builds one database file in the only folder that it may touch, and ends. The file may be a
// stranger's, so nothing else of anybody is within its reach. The service may kill it at any moment.
import type {} from "../../../engine/node_sqlite.d.ts";
import { DatabaseSync } from "node:sqlite";
import { ENGINE_LIMITS } from "../../../engine/engine_limits.ts";
import { sameName } from "../../../sql/words/names.ts";
import { transferFiles, type TransferJob, type TransferReport } from "../job.ts";
import { Builder, type BuilderOptions, type Built } from "./builder.ts";
import { NotTaken, Unreadable } from "./not_taken.ts";
import { allRows, encodingOf } from "./engine_rows.ts";
import { frameOf, inputFrames, itemOf } from "./frames.ts";
import { type FilePlan, planFile } from "./file_plan.ts";
import { emptied, emptyIndex, fileItems, type Item } from "./items.ts";
import { dumpItems } from "./read_dump.ts";
import { isNoRoom } from "./no_room.ts";
import { Reports } from "./reports.ts";
import { TextOut } from "./text_out.ts";
import { writeRows } from "./write_rows.ts";
import { writeSql } from "./write_sql.ts";
import { runWork } from "../../../core/run_work.ts";

/** Bytes of one value or line: what the engine holds at once. */
const LENGTH = 128 * 1024 * 1024;
const READ_PRAGMAS =
  "PRAGMA hard_heap_limit=402653184; PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA query_only=ON";

const SQLITE_FILE = "SQLite format 3\0";
/** Where that header says how the file is written, and what it says of one with a log beside it (`journal_mode=WAL`). */
const WRITE_VERSION = 18;
const WITH_LOG = 2;

/** How the dumps of other databases begin that would else be refused in words about some statement of theirs. */
const OTHER_DUMPS = [
  ["PGDMP", "PostgreSQL"],
  ["-- MySQL dump", "MySQL"],
  ["-- MariaDB dump", "MariaDB"],
  ["/*M!999999", "MariaDB"],
] as const;

/** The engine's code for what is wrong with what it reads (sqlite.org/rescode.html), as an index that it cannot open. */
const SQLITE_ERROR = 1;
/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const DAMAGED: ReadonlySet<number> = new Set([11, 26]);

const [folder = "", jobText = ""] = Deno.args;
const reports = new Reports(`${folder}/${transferFiles.report}`);
const job = parseJob(jobText);
try {
  run(job);
} catch (error) {
  reports.end(failed(error, job));
  Deno.exit(1);
}
Deno.exit(0);

function run(job: TransferJob): void {
  if (job.do === "export") reports.end({ state: "done", ...exportCopy(job) });
  else if (job.do === "build") {
    reports.end({ state: "done", ...build(transferFiles.built, { forService: true, ...job }) });
  } else if (job.do === "copy") {
    const options = { forService: false, looseReferences: true };
    reports.end({ state: "done", ...build(transferFiles.copy, options) });
  } else {
    read(job);
    reports.end({ state: "done" });
  }
}

/** A stranger's file: nothing of it runs but the reading of its tables. */
function read({ format }: Extract<TransferJob, { do: "read" }>): void {
  const path = `${folder}/${transferFiles.upload}`;
  checkBeginning(path, format);
  const out = new TextOut();
  for (const item of format === "sql" ? dumpItems(path) : strangersItems(path)) out.bytes(frameOf(item));
  out.flush();
}

/** Throws `NotTaken` where the first bytes say that the file is of another kind than its caller has named. */
function checkBeginning(path: string, format: "sqlite" | "sql"): void {
  using file = Deno.openSync(path);
  const bytes = new Uint8Array(16);
  file.readSync(bytes);
  // The formats that these tell apart begin with ASCII; sqlite.org/fileformat.html gives SQLite's.
  const start = String.fromCharCode(...bytes);
  const other = OTHER_DUMPS.find(([beginning]) => start.startsWith(beginning));
  const found = start.startsWith("\x1f\x8b")
    ? "it is compressed by gzip; unpack it and send what is in it"
    : format === "sql" && /^(?:\xff\xfe|\xfe\xff)/.test(start)
    ? "it is UTF-16, as > of PowerShell writes it; save it as UTF-8, or let sqlite3 write it by .output"
    : other !== undefined
    ? `it is a dump of ${other[1]}; rows of other databases come in as csv or ndjson`
    : format === "sql" && start === SQLITE_FILE
    ? "it is a SQLite file; send it with format=sqlite"
    : format === "sqlite" && start !== SQLITE_FILE
    ? "it is not a database file of SQLite; a text of statements comes in with format=sql"
    : null;
  if (found !== null) throw new NotTaken(found, null);
}

/** Whether the newest rows of the SQLite file may be in another file, beside it. */
function hasLog(path: string): boolean {
  using file = Deno.openSync(path);
  file.seekSync(WRITE_VERSION, Deno.SeekMode.Start);
  const version = new Uint8Array(1);
  file.readSync(version);
  return version[0] === WITH_LOG;
}

function* strangersItems(path: string): Generator<Item> {
  const db = openFile(path);
  const [found] = allRows(db, "PRAGMA integrity_check(1)")[0] ?? [];
  if (found !== "ok") throw new Unreadable(String(found));
  const plan = planOf(db, null);
  if (allRows(db, "SELECT 1 FROM sqlite_schema LIMIT 1").length === 0 && hasLog(path)) {
    throw new NotTaken(
      "it has no tables; what a program has written that still has it open is in the file beside it, whose name ends with -wal: " +
        "send the file that VACUUM INTO makes",
      null,
    );
  }
  const wide = plan.tables.find(({ columns }) => columns.length > ENGINE_LIMITS.column);
  if (wide) throw new NotTaken(`table ${wide.name}: too many columns`, null);
  // What an index stores would be read as it came by whoever searches it, so it is not taken over.
  yield* fileItems(db, { ...plan, virtual: plan.virtual.map(emptied) });
  for (const { name, fills } of plan.virtual) if (fills === "storage") yield emptyIndex(name);
}

function build(name: string, { forService, looseReferences }: BuilderOptions): Built {
  const builder = new Builder(`${folder}/${name}`, { forService, looseReferences });
  let rows = 0;
  let tables = 0;
  for (const bytes of inputFrames()) {
    const item = itemOf(bytes);
    builder.take(item);
    if (item.t === "rows") rows += item.rows.length;
    if (item.t === "object" && (item.type === "table" || item.type === "virtual")) tables++;
    reports.progress({ tables, rows });
  }
  return builder.finish();
}

function exportCopy(job: Extract<TransferJob, { do: "export" }>): Built {
  const db = openFile(`${folder}/${transferFiles.copy}`);
  const plan = planOf(db, job.table);
  const tables = plan.tables.length + plan.virtual.length;
  if (job.table !== null && tables === 0) throw new NotTaken("no such table", null);
  const out = new TextOut();
  let rows = 0;
  if (job.format === "sqlite") return buildFrom(db);
  const counts = job.format === "sql"
    ? writeSql({ db, plan, out })
    : writeRows({ db, plan, out }, sourceOf(plan, job.table), { format: job.format, safe: job.safe });
  for (rows of counts) reports.progress({ tables, rows });
  out.flush();
  return { tables, rows, notKept: plan.notKept };

  function buildFrom(db: DatabaseSync): Built {
    const builder = new Builder(`${folder}/${transferFiles.built}`, {
      forService: false,
      looseReferences: true,
    });
    for (const item of fileItems(db, plan)) {
      builder.take(item);
      if (item.t === "rows" && !item.storage) reports.progress({ tables, rows: rows += item.rows.length });
    }
    return builder.finish();
  }
}

function planOf(db: DatabaseSync, table: string | null): FilePlan {
  return runWork(planFile(table, encodingOf(db)), ({ sql, params }) => allRows(db, sql, ...params));
}

function sourceOf(plan: FilePlan, table: string | null) {
  const found = [...plan.tables, ...plan.virtual].find(({ name }) => table !== null && sameName(name, table));
  if (found === undefined) throw new NotTaken("no such table", null);
  if (found.fills !== "rows") throw new NotTaken(`the table ${found.name} keeps no rows of its own`, null);
  return found;
}

function openFile(path: string): DatabaseSync {
  const db = new DatabaseSync(path, {
    enableForeignKeyConstraints: false,
    enableDoubleQuotedStringLiterals: true,
    allowExtension: false,
    defensive: true,
    limits: { length: LENGTH, attach: 0 },
  });
  db.exec(READ_PRAGMAS);
  return db;
}

function failed(
  error: unknown,
  job: TransferJob,
): Omit<TransferReport, "tables" | "rows" | "notKept"> {
  const message = error instanceof Error ? error.message : "unknown";
  if (error instanceof NotTaken) {
    return { state: "failed", failure: { message, at: error.at, kind: "refused" } };
  }
  if (error instanceof Unreadable) {
    return { state: "failed", failure: { message, at: null, kind: "damaged" } };
  }
  const kind = isNoRoom(error)
    ? "room"
    : DAMAGED.has(engineCode(error)) || (job.do === "read" && engineCode(error) === SQLITE_ERROR)
    ? "damaged"
    : "fault";
  return { state: "failed", failure: { message, at: null, kind } };
}

/** 0: the engine has not thrown it. Its words tell less: modules have their own for what is damaged. */
function engineCode(error: unknown): number {
  return error instanceof Error ? Number(Reflect.get(error, "errcode") ?? 0) % 256 : 0;
}

/** Guarantee: the service has written the argument. */
function parseJob(text: string): TransferJob {
  return JSON.parse(text);
}
