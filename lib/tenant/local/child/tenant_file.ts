// One tenant's database file in this child: a connection that reads, one that writes (opened when first needed), and
// the schema version both were last seen at.
import { serviceTableStatements } from "../../../sql/service_tables.ts";
import { Connection } from "./connection.ts";
import { copyDatabase, removeDatabase, snapshotFolder } from "./file_copy.ts";
import { listTables } from "./list_tables.ts";
import type { WireTable } from "./protocol.ts";

export class TenantFile {
  lastUsedMs = 0;
  #reader: Connection | null = null;
  #writer: Connection | null = null;
  #versionOfReader = -1;
  #versionOfWriter = -1;

  constructor(readonly path: string) {}

  /** Makes the file and the service's tables. Fails when the file exists already. */
  create(): void {
    Deno.openSync(this.path, { createNew: true, write: true, mode: 0o600 }).close();
    const writer = this.writer();
    for (const sql of serviceTableStatements) writer.internalRun(sql);
  }

  reader(): Connection {
    return this.#reader ??= this.#open(true);
  }

  writer(): Connection {
    if (!this.#writer) {
      this.#writer = this.#open(false);
      this.#writer.database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
    }
    return this.#writer;
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
  tables(): WireTable[] {
    return listTables(this.reader());
  }

  /** Copies what is committed, while nobody writes. */
  snapshot(name: string): void {
    // An open connection of ours keeps others from folding the log into the file meanwhile.
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
  }

  #open(readOnly: boolean): Connection {
    // A missing file must be an error, never an empty new database.
    Deno.statSync(this.path);
    return new Connection(this.path, readOnly);
  }
}

function versionOf(connection: Connection): number {
  return Number(connection.internalRow("PRAGMA schema_version")?.[0] ?? -1);
}
