// Writes a file as statements that `sqlite3` and the import read. The engine itself writes the rows, a page at a time.
import type { EngineValue } from "../../../sql/words/sql_value.ts";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { quoteIdentifier as quoted, quoteText } from "../../../sql/words/quote.ts";
import { allRows } from "./engine_rows.ts";
import { NotTaken, Unreadable } from "./not_taken.ts";
import { isUtf8, OddText } from "../../../sql/words/stored_text.ts";
import { exactText } from "./exact_value.ts";
import type { FilePlan } from "./file_plan.ts";
import { planSteps, type Step } from "./items.ts";
import type { TableSource } from "./table_source.ts";
import { endLine, FIRST_LINE } from "./sql_marks.ts";
import type { TextOut } from "./text_out.ts";

/** The rows of the first page, and about how many bytes later pages have. */
const FIRST_ROWS = 64;
const PAGE_BYTES = 1024 * 1024;
const MAX_ROWS = 5000;
/** Operands of one expression: a longer one is deeper than the engine allows. */
const OPERANDS = 50;
/** SQL without effect on rows: what `sqlite3` runs before and after the dump. */
const HEAD = "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n";

/** What is written, and where to. */
interface SqlExport {
  readonly db: DatabaseSync;
  readonly plan: FilePlan;
  readonly out: TextOut;
}

/** Writes everything and counts the rows. The last line says that nothing is missing. */
export function* writeSql(work: SqlExport): Generator<number> {
  const { db, plan, out } = work;
  const contentless = plan.virtual.find(({ fills }) => fills === "storage");
  if (contentless) {
    throw new NotTaken(
      `the table ${contentless.name} keeps no rows that statements could write; format=sqlite has all tables, or drop this one and make it of its texts again`,
      null,
    );
  }
  defineIsOdd(db);
  out.text(`${FIRST_LINE}${HEAD}`);
  let rows = 0;
  for (const step of planSteps(plan)) {
    if (step.t !== "source") out.text(stepText(step));
    else {
      for (const count of sourceLines(work, step.source)) {
        rows += count;
        yield rows;
      }
    }
  }
  const tables = plan.tables.length + plan.virtual.length;
  out.text(`COMMIT;\n${endLine(tables, rows)}`);
  yield rows;
}

function stepText(step: Exclude<Step, { t: "source" }>): string {
  switch (step.t) {
    case "object":
      // A comment at the end would swallow the semicolon.
      return `${step.sql}${step.sql.includes("--") ? "\n" : ""};\n`;
    case "sequence":
      return `DELETE FROM sqlite_sequence WHERE name=${quoteText(step.table)};\n` +
        `INSERT INTO sqlite_sequence VALUES(${quoteText(step.table)},${step.value});\n`;
    case "config": {
      const table = quoted(step.table);
      return `INSERT INTO ${table}(${table}, rank) VALUES(${quoteText(step.name)},${
        literalOf(step.value)
      });\n`;
    }
    case "rebuild":
      return `INSERT INTO ${quoted(step.table)}(${quoted(step.table)}) VALUES('rebuild');\n`;
    case "version":
      return step.value === 0n ? "" : `PRAGMA user_version=${step.value};\n`;
    case "statement":
    case "notKept":
      return "";
  }
}

function literalOf(value: EngineValue | OddText): string {
  return typeof value === "string" ? quoteText(value) : String(value);
}

/** Yields how many rows each page has had. */
function* sourceLines({ db, out }: SqlExport, source: TableSource): Generator<number> {
  if (source.key === null) return yield* singleLines({ db, out }, source);
  const { from, order, key } = source;
  const paged = (where: string, strict = false) =>
    arrays(db.prepare(
      `SELECT CAST(group_concat(line, '') AS BLOB), count(*), max(k) FROM ` +
        `(SELECT ${
          lineOf(source, strict)
        } AS line, ${key} AS k FROM ${from}${where} ORDER BY ${order} LIMIT ?)`,
    ));
  const first = paged("");
  const next = paged(` WHERE ${key} > ?`);
  let above: bigint | null = null;
  for (let limit = FIRST_ROWS;;) {
    const page: EngineValue[] | undefined = readPage(above === null ? first : next, above, limit);
    const [bytes, count, last] = page ?? [];
    if (page === undefined) limit = Math.max(1, limit >> 3);
    else {
      if (!(bytes instanceof Uint8Array) || typeof last !== "bigint") return;
      if (isUtf8(bytes)) out.bytes(bytes);
      else {
        const where = above === null ? "" : ` WHERE ${key} > ?`;
        const [exact] = readPage(paged(where, true), above, Number(count)) ?? [];
        if (!(exact instanceof Uint8Array)) throw new Unreadable(`rows of ${source.name} are too large`);
        out.bytes(exact);
      }
      yield Number(count);
      above = last;
      limit = Math.max(
        1,
        Math.min(MAX_ROWS, limit * 8, Math.floor(PAGE_BYTES * Number(count) / bytes.length)),
      );
    }
  }
}

/** Undefined: the page is more than the engine can hold, and fewer rows may not be. */
function readPage(statement: StatementSync, above: bigint | null, limit: number): EngineValue[] | undefined {
  try {
    const params = above === null ? [BigInt(limit)] : [above, BigInt(limit)];
    return arrayOf(statement.get(...params));
  } catch (error) {
    if (limit === 1 || !(error instanceof Error) || !/too big|out of memory/.test(error.message)) throw error;
    return undefined;
  }
}

/** For tables without rowid. */
function* singleLines(
  { db, out }: Pick<SqlExport, "db" | "out">,
  source: TableSource,
): Generator<number> {
  let count = 0;
  const { from, order, name } = source;
  const statement = arrays(
    db.prepare(`SELECT CAST(${lineOf(source, true)} AS BLOB) FROM ${from} ORDER BY ${order}`),
  );
  for (const row of statement.iterate()) {
    const [bytes] = arrayOf(row) ?? [];
    if (bytes instanceof Uint8Array) out.bytes(bytes);
    if (++count % 1000 === 0) yield 1000;
  }
  const [total] = allRows(db, `SELECT count(*) FROM ${from}`)[0] ?? [];
  if (total !== BigInt(count)) {
    throw new Unreadable(`the table ${name} cannot be read behind row ${count}`);
  }
  yield count % 1000;
}

/** An expression that makes the INSERT of a row. */
function lineOf({ name, columns, rowid, storage }: TableSource, strict: boolean): string {
  const all = [...rowid ? [rowid] : [], ...columns];
  const named = rowid !== null || storage.length > 0 ? `(${all.map(({ target }) => target).join(",")})` : "";
  const head = quoteText(`INSERT INTO ${quoted(name)}${named} VALUES(`);
  const values = all.map(({ select }, at) => `${at === 0 ? "" : "',' || "}${literal(select, strict)}`);
  const groups = Array.from(
    { length: Math.ceil(values.length / OPERANDS) },
    (_, at) => `(${values.slice(at * OPERANDS, (at + 1) * OPERANDS).join(" || ")})`,
  );
  return `${head} || ${groups.join(" || ")} || ');' || char(10)`;
}

/**
 * `quote()` ends at U+0000, and text that is not UTF-8 would not be a text file. The program `sqlite3` reads lines, and
 * takes the CR of a CR LF away, inside of a text too.
 */
function literal(select: string, strict: boolean): string {
  const bytes = `CAST(${select} AS BLOB)`;
  // To ask about every text would take as long as the rest.
  const mayBeOdd = strict ? "" : `length(${bytes}) <> length(${select}) AND `;
  return `CASE WHEN typeof(${select}) = 'text' AND ` +
    `(instr(${select}, char(13, 10)) OR ${mayBeOdd}is_odd(${bytes})) ` +
    `THEN 'CAST(X''' || hex(${bytes}) || ''' AS TEXT)' ELSE quote(${select}) END`;
}

function defineIsOdd(db: DatabaseSync): void {
  const isOdd = (value: null | number | bigint | string | Uint8Array) =>
    value instanceof Uint8Array && exactText(value, "UTF-8") instanceof OddText ? "1" : null;
  db.function("is_odd", { varargs: false }, isOdd);
}

function arrays(statement: StatementSync): StatementSync {
  statement.setReturnArrays(true);
  statement.setReadBigInts(true);
  return statement;
}

/** Guarantee: with `setReturnArrays(true)` each row is an array of engine values; the declared type does not say so. */
function arrayOf(row: unknown): EngineValue[] | undefined {
  return row as EngineValue[] | undefined;
}
