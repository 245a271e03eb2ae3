// One tenant's database file in this child: a connection that reads, one that writes (opened when first needed), and
// the schema version both were last seen at.
import { isReservedName, serviceTableStatements } from "../../../sql/service_tables.ts";
import { Connection } from "./connection.ts";
import type { WireTable } from "./protocol.ts";

export class TenantFile {
  lastUsedMs = 0;
  #reader: Connection | null = null;
  #writer: Connection | null = null;
  #versionOfReader = -1;
  #versionOfWriter = -1;

  constructor(private readonly path: string) {}

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
    const reader = this.reader();
    const tables = new Map<string, { kind: WireTable["kind"]; columns: string[] }>();
    const rows = reader.internalRows(
      "SELECT l.name, l.type, c.name FROM pragma_table_list AS l LEFT JOIN pragma_table_xinfo(l.name) AS c " +
        "ON c.hidden <> 1 WHERE l.schema = 'main' ORDER BY l.name, c.cid",
    );
    for (const [name, type, column] of rows) {
      if (typeof name !== "string" || isReservedName(name)) continue;
      const kind = type === "view" || type === "virtual" || type === "shadow" ? type : "table";
      const entry = tables.get(name) ?? { kind, columns: [] };
      if (typeof column === "string") entry.columns.push(column);
      tables.set(name, entry);
    }
    return [...tables].map(([name, entry]) => ({ name, ...entry }));
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
