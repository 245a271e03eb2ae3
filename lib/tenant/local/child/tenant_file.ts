// One database's file in this child: a connection that reads and one that writes, each opened when it is first needed,
// and the schema version that each last saw. Older files get the service's tables of this version.
import { systemClock } from "../../../core/clock.ts";
import {
  isUpToDate,
  serviceTableStatements,
  upgradedTableQuery,
  upgradeStatements,
} from "../../../sql/service_tables.ts";
import { Connection } from "../../../engine/connection.ts";
import { FileDamage } from "../../../engine/engine_failure.ts";
import { copyDatabase, removeDatabase, snapshotFolder } from "./file_copy.ts";
import { listTables, type NamedTable } from "../../../engine/list_tables.ts";

/**
 * A reader checks at most once in this many milliseconds that the path still leads to its file. A writer checks each
 * time.
 */
const CHECK_MS = 100;

/** The open file of one database. */
export class TenantFile {
  lastUsedMs = 0;
  /** The file that is open (see `fileAt`), and when the path last led to it. */
  #opened: string | null = null;
  #seenMs = -Infinity;
  #reader: Connection | null = null;
  #writer: Connection | null = null;
  #versionOfReader = -1;
  #versionOfWriter = -1;

  constructor(readonly path: string) {}

  /** Makes the file and the service's tables. Fails when the file exists already. */
  create(): void {
    Deno.openSync(this.path, { createNew: true, write: true, mode: 0o600 }).close();
    this.#writer = this.#connect(false);
    const writer = this.writer();
    for (const sql of serviceTableStatements) writer.internalRun(sql);
  }

  /** The connection that reads. Throws `FileDamage` when the file is missing or empty. */
  reader(): Connection {
    if (this.#reader && !this.#reader.database.isTransaction) this.#checkFile(CHECK_MS);
    return this.#reader ??= this.#openReader();
  }

  /** The connection that writes. Throws `FileDamage` when the file is missing or empty. */
  writer(): Connection {
    if (this.#writer && !this.#writer.database.isTransaction) this.#checkFile(0);
    return this.#writer ??= this.#openWriter();
  }

  /** The schema version in the reader's open transaction. Forgets cached statements of another version. */
  readerVersion(): number {
    const version = versionOf(this.reader());
    if (version !== this.#versionOfReader) {
      this.reader().schemaChanged();
      this.#versionOfReader = version;
    }
    return version;
  }

  /** The schema version in the writer's open transaction. Forgets cached statements of another version. */
  writerVersion(): number {
    const version = versionOf(this.writer());
    if (version !== this.#versionOfWriter) {
      this.writer().schemaChanged();
      this.#versionOfWriter = version;
    }
    return version;
  }

  /** Tables and views of the tenant with their columns. */
  tables(): NamedTable[] {
    return listTables(this.reader());
  }

  /** Copies the committed state, while nobody writes. */
  snapshot(name: string): void {
    // While a connection is open here, no other process folds the log into the file when it closes its own.
    this.writer();
    const folder = snapshotFolder(this.path);
    Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
    copyDatabase(this.path, `${folder}/${name}.db`);
  }

  dropSnapshot(name: string): void {
    removeDatabase(`${snapshotFolder(this.path)}/${name}.db`);
  }

  close(): void {
    this.#reader?.close();
    this.#writer?.close();
    this.#reader = null;
    this.#writer = null;
    this.#opened = null;
  }

  /** Closes the connections if the path leads to another file, because writes to a removed file would be lost. */
  #checkFile(everyMs: number): void {
    const nowMs = systemClock.monotonicMs();
    if (nowMs - this.#seenMs < everyMs) return;
    if (this.#opened !== null && fileAt(this.path) !== this.#opened) this.close();
    this.#seenMs = nowMs;
  }

  #openWriter(): Connection {
    const writer = this.#open(false);
    try {
      upgradeTables(writer);
      return writer;
    } catch (error) {
      writer.close();
      throw error;
    }
  }

  #openReader(): Connection {
    const reader = this.#open(true);
    try {
      if (!isCurrent(reader)) this.writer();
    } catch {
      // Where the file cannot be written, reads run on the tables as they are.
    }
    return reader;
  }

  #open(readOnly: boolean): Connection {
    // SQLite would make an empty database where the file is missing; `fileAt` throws.
    const file = fileAt(this.path);
    if (this.#opened !== null && this.#opened !== file) this.close();
    this.#opened = file;
    this.#seenMs = systemClock.monotonicMs();
    return this.#connect(readOnly);
  }

  #connect(readOnly: boolean): Connection {
    const connection = new Connection(this.path, readOnly);
    try {
      if (!readOnly) connection.database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }
}

function versionOf(connection: Connection): number {
  return Number(connection.internalRow("PRAGMA schema_version")?.[0] ?? -1);
}

/** Whether the service's tables have this version's form. */
function isCurrent(connection: Connection): boolean {
  const row = connection.internalRow(upgradedTableQuery);
  return isUpToDate(row && String(row[0]));
}

/** Brings the service's tables to this version's form, outside of a transaction. Throws what the engine throws. */
export function upgradeTables(connection: Connection): void {
  if (isCurrent(connection)) return;
  connection.internalRun("BEGIN IMMEDIATE");
  try {
    // Another child may have done it meanwhile.
    if (!isCurrent(connection)) { for (const sql of upgradeStatements) connection.internalRun(sql); }
    connection.internalRun("COMMIT");
  } finally {
    if (connection.database.isTransaction) connection.internalRun("ROLLBACK");
  }
}

/**
 * Returns a text that identifies the file at `path`; another file has another text. Throws `FileDamage` for a missing or
 * empty file: a new database has its first page before anybody can find it.
 */
function fileAt(path: string): string {
  const { size, dev, ino } = statOf(path);
  if (size === 0) throw new FileDamage("the file is empty");
  return `${dev}:${ino}`;
}

function statOf(path: string): Deno.FileInfo {
  try {
    return Deno.statSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new FileDamage("the file is missing");
    throw error;
  }
}
