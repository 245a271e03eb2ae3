// One tenant's database file in this child: a connection that reads, one that writes (opened when first needed), and
// the schema version both were last seen at.
import { systemClock } from "../../../core/clock.ts";
import { serviceTableStatements } from "../../../sql/service_tables.ts";
import { Connection } from "../../../engine/connection.ts";
import { fileAt } from "../../../engine/damaged_file.ts";
import { copyDatabase, removeDatabase, snapshotFolder } from "./file_copy.ts";
import { listTables, type NamedTable } from "../../../engine/list_tables.ts";
import { isCurrent, upgradeTables } from "./upgrade_tables.ts";

/** A reader checks at most once in this many milliseconds that its file is still the one at the path; a writer each time. */
const LOOK_MS = 100;

/** The open file of one database. */
export class TenantFile {
  lastUsedMs = 0;
  /** The open file, and when it was last seen at the path. */
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

  /** Throws `FileDamage` when the file is missing or empty. */
  reader(): Connection {
    if (this.#reader && !this.#reader.database.isTransaction) this.#look(LOOK_MS);
    return this.#reader ??= this.#openReader();
  }

  /** As above. */
  writer(): Connection {
    if (this.#writer && !this.#writer.database.isTransaction) this.#look(0);
    return this.#writer ??= this.#openWriter();
  }

  /** The schema version inside the reader's open transaction; cached statements of an older one are forgotten. */
  readerVersion(): number {
    const version = versionOf(this.reader());
    if (version !== this.#versionOfReader) {
      this.reader().schemaChanged();
      this.#versionOfReader = version;
    }
    return version;
  }

  /** The same for the writer. */
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
    // An own open connection prevents others from folding the log into the file meanwhile.
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

  /** Opens the file anew if another one is at the path, because writes to a removed file would be lost. */
  #look(everyMs: number): void {
    const nowMs = systemClock.monotonicMs();
    if (nowMs - this.#seenMs < everyMs) return;
    if (this.#opened !== null && fileAt(this.path) !== this.#opened) this.close();
    this.#seenMs = nowMs;
  }

  #openWriter(): Connection {
    const writer = this.#open(false);
    try {
      // A file under construction has no tables yet.
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
      // Reads go on where nothing can be written; whoever reads the log then meets the tables as they are.
    }
    return reader;
  }

  #open(readOnly: boolean): Connection {
    // A missing file must be an error, never an empty new database.
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
