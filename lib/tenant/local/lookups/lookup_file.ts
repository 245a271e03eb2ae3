// A tenant's file that the process which serves requests has open for look-ups by key.
import type { Lookup, LookupConnection } from "../../../engine/lookup_connection.ts";
import { logReaches } from "../../log_length.ts";
import type { DatabaseLanes } from "../lanes/database_lanes.ts";
import type { SlotReader, WriteLane } from "../lanes/write_lane.ts";

/**
 * Memory of an open connection with a full cache (measured), the parts of it that are the index of the log and a usual
 * schema, memory of a compiled look-up, and file descriptors.
 */
export const CONNECTION_BYTES = 120 * 1024;
const INDEX_BYTES = 32 * 1024;
const SCHEMA_BYTES = 45 * 1024;
export const LOOKUP_BYTES = 9 * 1024;
export const CONNECTION_DESCRIPTORS = 3;
/** Bytes of the longest log with which a file is opened here: who opens it after a crash reads all of the log first. */
const MAX_LOG_BYTES = 16 * 1024 * 1024;
/** Milliseconds that a transaction lasts at most. Only then do look-ups see what another program has written into the file. */
const READING_MS = 5_000;

/** A database's lanes, as far as its open file looks at them. */
export type LookupLanes = Pick<DatabaseLanes, "writeTurn"> & {
  readonly writes: Pick<WriteLane, "reader" | "givesWay">;
};

/** One open file. */
export class LookupFile implements SlotReader {
  /** The connection and its look-ups. */
  bytes = CONNECTION_BYTES;
  readonly connection: LookupConnection;
  /** The look-ups that are compiled, by their texts. */
  readonly lookups = new Map<string, Lookup>();
  /** Null: the file is at rest and has none (`child/log_form.ts`). */
  readonly #walId: string | null;
  /** Whether its reads are one transaction at present, and whose slot ends it where it lasts longer than a turn. */
  #isReading = false;
  #untilMs = Infinity;
  #slot: LookupLanes["writes"] | null = null;
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
      // The first read opens the log beside the file, or makes it where the file is not at rest.
      this.bytes += Math.max(0, this.connection.schemaBytes() - SCHEMA_BYTES);
      this.#walId = walIdOf(path);
      if (this.#walId === null) this.bytes -= INDEX_BYTES;
    } catch (error) {
      this.connection.close();
      throw error;
    }
  }

  /**
   * Whether the log beside the file is still the one that this connection has open. Who deletes the file, or closes it as the
   * last one, removes the log, and after the next write this connection would read old data. So it is compared once after
   * each write: that takes a tenth of a read that comes alone. `nowMs`: by the monotonic clock.
   */
  isCurrent({ writeTurn }: LookupLanes, nowMs: number): boolean {
    if (this.#isReading && nowMs >= this.#untilMs) this.letGo();
    if (this.#isReading || (writeTurn !== null && writeTurn === this.#lookedAt)) return true;
    this.#lookedAt = writeTurn;
    return this.#walId === walIdOf(this.path);
  }

  /** Null: the file has another schema. Throws what the engine throws, or where the read cannot be proven. */
  compile(sql: string): Lookup | null {
    const lookup = this.connection.compile(sql, this.schemaVersion);
    if (lookup === null) return null;
    this.lookups.set(sql, lookup);
    this.bytes += LOOKUP_BYTES;
    return lookup;
  }

  /**
   * Makes its next reads one transaction, so that they share one look at the file and its log. Where nobody has the write slot,
   * it lasts until somebody gets it, because nothing changes before. Otherwise the answer is `turn`, and it has to end with this
   * turn of the event loop: as long as it lasts, the log beside the file only grows. `later`: it has to end some time,
   * because a file at rest gets no log before. `nowMs`: by the monotonic clock. Throws what the engine throws.
   */
  begin({ writeTurn, writes }: LookupLanes, nowMs: number): "turn" | "later" | null {
    if (this.#isReading) return null;
    this.connection.begin();
    this.#isReading = true;
    this.#untilMs = nowMs + READING_MS;
    if (writeTurn === null || (this.#walId === null && writes.givesWay)) return "turn";
    writes.reader = this;
    this.#slot = writes;
    return this.#walId === null ? "later" : null;
  }

  letGo(): void {
    this.#forgetSlot();
    this.#isReading = false;
    try {
      this.connection.end();
    } catch {
      // The next read fails, and forgets the database.
      this.close();
    }
  }

  #forgetSlot(): void {
    if (this.#slot?.reader === this) this.#slot.reader = null;
    this.#slot = null;
  }

  close(): void {
    this.#forgetSlot();
    try {
      this.connection.close();
    } catch {
      // Nobody uses it any more.
    }
  }
}

/** Tells one log beside a file from a later one; null: there is none. */
function walIdOf(path: string): string | null {
  try {
    const { dev, ino, birthtime } = Deno.statSync(`${path}-wal`);
    return `${dev} ${ino} ${birthtime?.getTime()}`;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
