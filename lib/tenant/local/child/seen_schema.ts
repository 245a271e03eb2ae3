// Which schema a connection has seen last, so that nothing is compiled for another one.
import type { Connection } from "../../../engine/connection.ts";

/** What a connection has seen of its file's schema. */
export class SeenSchema {
  #version = -1;

  /**
   * The version in the connection's open transaction. Where it is another one than before, `look` is called first, which runs a
   * statement on the connection.
   */
  versionIn(connection: Connection, look: () => void): number {
    const version = Number(connection.internalRow("PRAGMA schema_version")?.[0] ?? -1);
    if (version === this.#version) return version;
    connection.schemaChanged();
    // Compiling trusts the schema that the connection holds in memory, and another process may have changed the file's.
    // Running a statement brings it up to date; asking for the version does not.
    look();
    return this.#version = version;
  }

  /** The next look finds another version. */
  forget(): void {
    this.#version = -1;
  }
}
