// The transactions over several frames that callers have open in this child. Each has a connection of its own and stays
// open between its frames; what ends unasked is rolled back.
import type { Connection } from "../../../engine/connection.ts";
import { type EngineFailure, engineFailure } from "../../../engine/engine_failure.ts";
import { listTables } from "../../../engine/list_tables.ts";
import { commitToDisk } from "./commit_to_disk.ts";
import { dryRunInside } from "./dry_run.ts";
import { FirstWrite } from "./first_write.ts";
import { inspectInside } from "./inspect.ts";
import { insertAuditRows, insertLogRows } from "./log_rows.ts";
import { CommitChange } from "../../../sql/service/change_rows.ts";
import type { OpenFiles } from "./open_files.ts";
import type { Progress } from "./progress.ts";
import type { Reply, TransactionRequest, TransactionWork } from "./protocol.ts";
import { runCall, wireOutcomeOf } from "./run_call.ts";
import { unguarded } from "./savepoints.ts";
import type { TenantFile } from "./tenant_file.ts";
import { wholeCall, type WireCall, type WireOutcome } from "./wire_call.ts";
import { GroupLost, writeCall } from "./write_call.ts";
import { dropSnapshot, takeSnapshot } from "./own_snapshots.ts";

/** Databases whose connection waits for the next transaction in them. */
const MAX_READY = 16;

/** One open transaction. `file` is nobody else's. */
interface Held {
  readonly databaseId: string;
  readonly file: TenantFile;
  readonly reads: boolean;
  readonly firstWrite: FirstWrite;
}

interface Answer {
  readonly reply: Reply;
  readonly text?: string;
}

/** The transactions of this child. */
export class CallerTransactions {
  readonly #open = new Map<number, Held>();
  /** Files without a transaction, the longest unused one first. */
  readonly #ready = new Map<string, TenantFile>();

  constructor(
    private readonly files: Pick<OpenFiles, "make">,
    private readonly progress: Progress,
  ) {}

  /** Does one piece of work. A failure outside the caller's statement ends the transaction. */
  serve(request: TransactionRequest): Answer {
    const { number, work } = request;
    if (work.do === "end") return this.#end(number);
    try {
      const held = this.#open.get(number) ?? this.#begin(request);
      return held === null ? { reply: { t: "missing" } } : this.#work(number, held, work);
    } catch (error) {
      this.#drop(number);
      throw error;
    }
  }

  /** Closes what waits for the next transaction in a database. */
  closeReady(databaseId: string): void {
    this.#ready.get(databaseId)?.close();
    this.#ready.delete(databaseId);
  }

  /** Closes everything that waits; the logs stay beside their files. */
  leaveReady(): void {
    for (const file of this.#ready.values()) file.leave();
    this.#ready.clear();
  }

  /** Only the first frame of a transaction begins it: what was ended never goes on, statement by statement. */
  #begin({ number, db, begin }: TransactionRequest): Held | null {
    if (begin === null) return null;
    const file = this.#ready.get(db) ?? this.files.make(db);
    this.#ready.delete(db);
    const firstWrite = new FirstWrite(begin !== "snapshot");
    const held = { databaseId: db, file, reads: begin === "read", firstWrite };
    this.#open.set(number, held);
    const connection = connectionOf(held);
    connection.internalRun(begin === "write" ? "BEGIN IMMEDIATE" : "BEGIN");
    // The engine takes the snapshot at the first read.
    connection.internalRow("SELECT 1 FROM sqlite_schema LIMIT 1");
    return held;
  }

  #work(number: number, held: Held, work: Exclude<TransactionWork, { do: "end" }>): Answer {
    switch (work.do) {
      case "call": {
        const { outcome, text } = this.#call(held, wholeCall(work.call));
        return { reply: { t: "transaction", o: outcome, f: null, open: this.#stays(number, held) }, text };
      }
      case "inspect":
        return {
          reply: { t: "inspected", ...inspectInside(connectionOf(held), versionOf(held), work) },
        };
      case "schema":
        return { reply: { t: "schema", v: versionOf(held), tables: listTables(connectionOf(held)) } };
      case "savepoint":
        return {
          reply: { t: "transaction", o: null, f: setSavepoint(held, work.sql), open: true },
        };
      case "commit": {
        const failure = held.reads ? null : commit(connectionOf(held), work);
        if (held.reads) connectionOf(held).internalRun("COMMIT");
        return { reply: { t: "transaction", o: null, f: failure, open: this.#stays(number, held) } };
      }
    }
  }

  #call(
    { file, reads, firstWrite }: Held,
    call: WireCall,
  ): { readonly outcome: WireOutcome; readonly text: string } {
    if (call.level !== "read") firstWrite.prepare(file);
    const connection = reads ? file.reader() : file.writer();
    const version = reads ? file.readerVersion() : file.writerVersion();
    const { progress } = this;
    if (call.schemaVersion !== version) return { outcome: { k: "stale", v: version }, text: "" };
    if (call.dryRun) return dryRunInside(connection, call, progress);
    if (call.level === "read") {
      const run = runCall(
        { connection, progress, guardStatement: unguarded, countWritten: () => 0 },
        call,
        0,
      );
      return wireOutcomeOf(run, [run.rowsRead, 0]);
    }
    return writeInside(file, call, progress);
  }

  /** Whether the transaction is still open; a statement may have rolled the whole back. */
  #stays(number: number, held: Held): boolean {
    if (connectionOf(held).database.isTransaction) return true;
    this.#open.delete(number);
    this.#keep(held);
    return false;
  }

  #end(number: number): Answer {
    const held = this.#open.get(number);
    if (held) {
      this.#open.delete(number);
      rollBack(connectionOf(held));
      this.#keep(held);
    }
    return { reply: { t: "done" } };
  }

  /** Keeps the connection for the next transaction in the database. */
  #keep({ databaseId, file }: Held): void {
    // Statements may have been compiled for a schema that was rolled back.
    file.forgetVersions();
    if (this.#ready.has(databaseId)) return void file.leave();
    this.#ready.set(databaseId, file);
    for (const [oldest, old] of this.#ready) {
      if (this.#ready.size <= MAX_READY) break;
      old.leave();
      this.#ready.delete(oldest);
    }
  }

  #drop(number: number): void {
    const held = this.#open.get(number);
    this.#open.delete(number);
    try {
      held?.file.close();
    } catch {
      // The caller reports the first error.
    }
  }
}

function connectionOf({ file, reads }: Held): Connection {
  return reads ? file.reader() : file.writer();
}

function versionOf({ file, reads }: Held): number {
  return reads ? file.readerVersion() : file.writerVersion();
}

/** A snapshot holds the state before the transaction, because it is made of what is committed. */
function writeInside(file: TenantFile, call: WireCall, progress: Progress) {
  const connection = file.writer();
  if (call.snapshot !== undefined) {
    progress.startStatement(0, 0);
    takeSnapshot(file, call.snapshot);
  }
  const run = writeOrLose(connection, call, progress);
  if (call.snapshot !== undefined && run.leftNothing) dropSnapshot(file, call.snapshot);
  if (call.level === "schema" && run.leftNothing) connection.schemaChanged();
  return run;
}

function writeOrLose(connection: Connection, call: WireCall, progress: Progress) {
  try {
    // Its records, and what it has changed, come with the commit.
    const change = new CommitChange();
    return writeCall(call, { connection, progress, index: 0, alone: false, goesOn: true, change });
  } catch (error) {
    if (!(error instanceof GroupLost) || error.run === null) throw error;
    const { run } = error;
    return { ...wireOutcomeOf(run, [run.rowsRead, run.rowsWritten]), leftNothing: true };
  }
}

function setSavepoint(held: Held, sql: string): EngineFailure | null {
  const connection = connectionOf(held);
  try {
    // Names are the caller's, so the statement is not one to keep prepared. What `exec` throws has no code.
    connection.database.prepare(sql).run();
  } catch (error) {
    return engineFailure(error, null);
  }
  held.firstWrite.noteSavepoint(sql);
  // What was compiled may be for a schema that is undone now.
  connection.schemaChanged();
  return null;
}

/** Commits with the records. A broken reference leaves the transaction open, any other failure ends it. */
function commit(
  connection: Connection,
  { logRows, auditRows, change }: Extract<TransactionWork, { do: "commit" }>,
): EngineFailure | null {
  try {
    connection.internalRun("SAVEPOINT records");
    insertLogRows(connection, logRows);
    insertAuditRows(connection, auditRows);
    if (change !== null) connection.internalRun(change[0], ...change[1]);
    commitToDisk(connection);
    return null;
  } catch (error) {
    const failure = engineFailure(error, null);
    const { database } = connection;
    if (failure.kind === "foreign_key_violation" && database.isTransaction) {
      connection.internalRun("ROLLBACK TO records");
      connection.internalRun("RELEASE records");
    } else rollBack(connection);
    return failure;
  }
}

function rollBack(connection: Connection): void {
  if (connection.database.isTransaction) connection.internalRun("ROLLBACK");
}
