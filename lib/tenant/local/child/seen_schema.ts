// Which schema a connection has seen last, so that nothing is compiled for another one.
import type { Connection } from "../../../engine/connection.ts";

/** What a connection has seen of its file's schema. */
export class SeenSchema {
  #version = -1;

  /** The version in the connection's open transaction; `onChange` is called first where it is another one than before. */
  versionIn(connection: Connection, onChange: () => void): number {
    const version = Number(connection.internalRow("PRAGMA schema_version")?.[0] ?? -1);
    if (version === this.#version) return version;
    connection.schemaChanged();
    // Compiling trusts the schema that the connection holds in memory, and another process may have changed the file's.
    // Running a statement brings it up to date; asking for the version does not.
    connection.internalRow("SELECT 1 FROM sqlite_schema LIMIT 1");
    onChange();
    return this.#version = version;
  }

  /** The next look finds another version. */
  forget(): void {
    this.#version = -1;
  }
}
