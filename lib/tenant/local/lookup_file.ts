// A tenant's file that the process which serves requests has open for look-ups by key.
import type { Lookup, LookupConnection } from "../../engine/lookup_connection.ts";
import { logReaches } from "../log_length.ts";

/**
 * Memory of an open connection with a full cache (measured), of each character of its schema beyond so many, of a compiled
 * look-up, and file descriptors.
 */
export const CONNECTION_BYTES = 88 * 1024;
const CHARACTER_BYTES = 7;
const FREE_CHARACTERS = 2500;
export const LOOKUP_BYTES = 9 * 1024;
export const CONNECTION_DESCRIPTORS = 3;
/** Bytes of the longest log with which a file is opened here: who opens it after a crash reads all of the log first. */
const MAX_LOG_BYTES = 16 * 1024 * 1024;

/** One open file. */
export class LookupFile {
  /** The connection and its look-ups. */
  bytes = CONNECTION_BYTES;
  readonly connection: LookupConnection;
  readonly #walId: string;
  /** Whether its reads are one transaction at present. */
  isShared = false;
  /** The lanes' `writeTurn` when the log was compared last. */
  #lookedAt: number | null = null;

  /** Opens it. Throws what the engine or the file system throws, or where the log is long. */
  constructor(
    Engine: typeof LookupConnection,
    private readonly path: string,
    readonly schemaVersion: number,
  ) {
    if (logReaches(`${path}-wal`, MAX_LOG_BYTES)) throw new RangeError("the log beside the file is long");
    this.connection = new Engine(path);
    try {
      // The first read opens the log beside the file, or makes it.
      const characters = this.connection.schemaCharacters();
      this.bytes += CHARACTER_BYTES * Math.max(0, characters - FREE_CHARACTERS);
      this.#walId = walIdOf(path);
    } catch (error) {
      this.connection.close();
      throw error;
    }
  }

  /**
   * Whether the log beside the file is still the one that this connection has open. Who deletes the file, or closes it as the
   * last one, removes the log, and after the next write this connection would read old data. So it is compared once after
   * each write: that takes a tenth of a read that comes alone. `writeTurn`: of the database's lanes.
   */
  isCurrent(writeTurn: number | null): boolean {
    if (writeTurn !== null && writeTurn === this.#lookedAt) return true;
    this.#lookedAt = writeTurn;
    return this.#walId === walIdOf(this.path);
  }

  /** Null: the file has another schema. Throws what the engine throws, or where the read cannot be proven. */
  compile(sql: string): Lookup | null {
    const lookup = this.connection.compile(sql, this.schemaVersion);
    if (lookup !== null) this.bytes += LOOKUP_BYTES;
    return lookup;
  }

  /** Its reads up to `endShared` are one transaction. Throws what the engine throws. */
  share(): void {
    this.connection.begin();
    this.isShared = true;
  }

  /** Ends that transaction. Throws what the engine throws. */
  endShared(): void {
    this.isShared = false;
    this.connection.end();
  }

  close(): void {
    try {
      this.connection.close();
    } catch {
      // Nobody uses it any more.
    }
  }
}

/** Tells one log beside a file from a later one. Throws where there is none. */
function walIdOf(path: string): string {
  const { dev, ino, birthtime } = Deno.statSync(`${path}-wal`);
  return `${dev} ${ino} ${birthtime?.getTime()}`;
}
