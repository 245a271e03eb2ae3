// The connections on which this process repeats look-ups by key, and how much of its memory and time they take.
import type { Clock } from "../../../core/clock.ts";
import type { Lookup, LookupConnection } from "../../../engine/lookup_connection.ts";
import { HeldReads } from "./held_reads.ts";
import { CONNECTION_BYTES, LOOKUP_BYTES, LookupFile, type LookupLanes } from "./lookup_file.ts";
import { databasePath } from "../files/tenant_paths.ts";

/** Milliseconds after which an unused connection is closed by the next sweep. */
const IDLE_CLOSE_MS = 30_000;
/**
 * Opening and compiling, which takes as long as a hundred look-ups, has one part in so many of the time. A child that does
 * not have the file open takes longer for a single one.
 */
const COMPILE_PART = 3;
/** The same where it takes more than these milliseconds, as on a disk that is slow or busy. */
const SLOW_COMPILE_MS = 2;
const SLOW_COMPILE_PART = 10;
/** Unused connections that are closed in one turn of the event loop: some 0.1 ms each. */
const CLOSED_A_TURN = 8;

/** A database whose file is open here, or not. */
export interface OpenDatabase {
  readonly schemaVersion: number;
  open: LookupFile | null;
  /** When it was used last, by the monotonic clock. */
  readonly usedMs: number;
}

/** The connections of a store. */
export class OpenLookups {
  /** The longest unused one first. */
  readonly #databases = new Map<string, OpenDatabase>();
  /** Files in a transaction that ends with this turn. `clear` of a `Set` would make a new table among V8's old objects. */
  #ending: LookupFile[] = [];
  readonly #held: HeldReads;
  /** Of all connections. */
  #bytes = 0;
  /** Nothing is opened or compiled before, by the monotonic clock. */
  #compilesFromMs = -Infinity;

  /** `tenants`: the folder of the databases' files. `maxBytes`: of all connections together. */
  constructor(
    private readonly tenants: string,
    private readonly clock: Clock,
    private readonly maxBytes: number,
  ) {
    this.#held = new HeldReads(clock);
  }

  /**
   * Whether one more look-up may be compiled. Nobody's connection is closed for another one: with more databases than room,
   * each would be opened for a few reads.
   */
  mayCompile({ open }: OpenDatabase): boolean {
    const bytes = LOOKUP_BYTES + (open === null ? CONNECTION_BYTES : 0);
    return this.#bytes + bytes <= this.maxBytes && this.clock.monotonicMs() >= this.#compilesFromMs;
  }

  /**
   * A look-up, compiled on the connection of its database, which is opened where it is not, in a transaction (`begin`); null:
   * the file or its schema is another one. Throws what the engine or the file system throws.
   */
  compile(
    Engine: typeof LookupConnection,
    { databaseId, database, sql }: {
      readonly databaseId: string;
      readonly database: OpenDatabase;
      readonly sql: string;
    },
    lanes: LookupLanes,
  ): Lookup | null {
    const beginMs = this.clock.monotonicMs();
    try {
      const file = database.open ?? this.#open(Engine, databaseId, database);
      if (!this.begin(file, lanes, beginMs)) return null;
      const before = file.bytes;
      const lookup = file.compile(sql);
      this.#bytes += file.bytes - before;
      return lookup;
    } finally {
      const nowMs = this.clock.monotonicMs();
      const tookMs = nowMs - beginMs;
      const part = tookMs > SLOW_COMPILE_MS ? SLOW_COMPILE_PART : COMPILE_PART;
      this.#compilesFromMs = nowMs + tookMs * (part - 1);
    }
  }

  /** Makes the next reads of a file one transaction; false: it is another one. `endTurn` has to be called after it. */
  begin(file: LookupFile, lanes: LookupLanes, nowMs: number): boolean {
    if (!file.isCurrent(lanes, nowMs)) return false;
    const ends = file.begin(lanes, nowMs);
    if (ends === "turn") this.#ending.push(file);
    else if (ends === "later") this.#held.add(file, nowMs);
    return true;
  }

  /** Ends the transactions of databases whose write slot is taken. */
  endTurn(): void {
    if (this.#ending.length === 0) return;
    for (const file of this.#ending) file.letGo();
    this.#ending = [];
  }

  /** Notes that a database is in use. */
  use(databaseId: string, database: OpenDatabase): void {
    if (database.open === null) return;
    this.#databases.delete(databaseId);
    this.#databases.set(databaseId, database);
  }

  close(databaseId: string, database: OpenDatabase): void {
    const { open } = database;
    if (open === null) return;
    database.open = null;
    this.#databases.delete(databaseId);
    this.#bytes -= open.bytes;
    if (this.#ending.length > 0) this.#ending = this.#ending.filter((file) => file !== open);
    open.close();
  }

  /** Closes what has not been used for a while, and lets other work have its turn between. */
  sweep(): void {
    const limitMs = this.clock.monotonicMs() - IDLE_CLOSE_MS;
    let count = 0;
    for (const [databaseId, database] of this.#databases) {
      if (database.usedMs >= limitMs) return;
      if (count++ === CLOSED_A_TURN) return void setImmediate(() => this.sweep());
      this.close(databaseId, database);
    }
  }

  closeAll(): void {
    this.#held.stop();
    for (const [databaseId, database] of this.#databases) this.close(databaseId, database);
  }

  #open(Engine: typeof LookupConnection, databaseId: string, database: OpenDatabase): LookupFile {
    const file = new LookupFile(Engine, databasePath(this.tenants, databaseId), database.schemaVersion);
    database.open = file;
    this.#bytes += file.bytes;
    this.#databases.set(databaseId, database);
    return file;
  }
}
