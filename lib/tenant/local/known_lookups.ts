// The look-ups by key that children have run and proven to end, and the connections on which this process repeats them.
import type { Clock } from "../../core/clock.ts";
import type { Lookup, LookupConnection } from "../../engine/lookup_connection.ts";
import type { TenantCall } from "../tenant_store.ts";
import { databasePath } from "./tenant_paths.ts";

/** Databases that are open here, and look-ups of each. A connection takes some 350 KB at most. */
const MAX_OPEN = 32;
const MAX_LOOKUPS = 32;
/** Look-ups of a database that children run before it is opened here, which takes as long as a hundred look-ups. */
const RUNS_BEFORE = 32;
/** Milliseconds after which an unused connection is closed by the next sweep. */
const IDLE_CLOSE_MS = 30_000;
/** Bytes of the longest log with which a database is opened here: who opens it after a crash reads all of the log first. */
const MAX_LOG_BYTES = 16 * 1024 * 1024;

/** What is known of one database. */
interface Known {
  readonly schemaVersion: number;
  /** Null: not compiled here yet. */
  readonly lookups: Map<string, Lookup | null>;
  open: OpenFile | null;
  /** How many look-ups children have run. */
  runs: number;
  usedMs: number;
}

interface OpenFile {
  readonly connection: LookupConnection;
  readonly walId: string;
}

/** A look-up that may be read here. */
export interface ReadyLookup {
  readonly connection: LookupConnection;
  readonly lookup: Lookup;
}

/** The look-ups of a store. */
export class KnownLookups {
  /** The longest unused one first. */
  readonly #known = new Map<string, Known>();
  /** Connections in a transaction that the reads of a turn share. */
  readonly #shared = new Set<LookupConnection>();
  #engine: typeof LookupConnection | null = null;
  #loading = false;
  #closed = false;

  /** `tenants`: the folder of the databases' files. */
  constructor(private readonly tenants: string, private readonly clock: Clock) {}

  /** Notes that a child has run the call and proven that it ends. */
  learn(databaseId: string, call: TenantCall): void {
    const sql = call.statements[0]?.sql;
    if (sql === undefined || this.#closed) return;
    let known = this.#known.get(databaseId);
    // A connection with many statements is closed, which frees all of them.
    const isFull = known && known.lookups.size >= MAX_LOOKUPS && !known.lookups.has(sql);
    if (known && (known.schemaVersion !== call.schemaVersion || isFull)) {
      this.close(databaseId);
      known = undefined;
    }
    known ??= { schemaVersion: call.schemaVersion, lookups: new Map(), open: null, runs: 0, usedMs: 0 };
    known.runs++;
    if (!known.lookups.has(sql)) known.lookups.set(sql, null);
    this.#use(databaseId, known, this.clock.monotonicMs());
    this.#closeBeyond(MAX_OPEN);
    if (this.#engine === null && !this.#loading) void this.#load();
  }

  /** Whether the call is a look-up that may be read here. */
  has(databaseId: string, call: TenantCall): boolean {
    return this.#find(databaseId, call) !== null;
  }

  /**
   * The look-up of a call, compiled; null where a child has to run it. Throws what the engine or the file system throws.
   * `share`: its reads up to `endShared` are one transaction.
   */
  ready(databaseId: string, call: TenantCall, share: boolean): ReadyLookup | null {
    const known = this.#find(databaseId, call);
    const sql = call.statements[0]?.sql;
    if (known === null || sql === undefined) return null;
    const { connection, walId } = known.open ??= this.#open(databaseId, known.schemaVersion);
    if (!this.#shared.has(connection)) {
      // The log beside the file is removed with the file, and when others close it: then this connection sees old data.
      if (walId !== walIdOf(this.#pathOf(databaseId))) {
        this.close(databaseId);
        return null;
      }
      if (share) {
        connection.begin();
        this.#shared.add(connection);
      }
    }
    const lookup = known.lookups.get(sql) ?? connection.compile(sql, known.schemaVersion);
    if (lookup === null) {
      this.close(databaseId);
      return null;
    }
    known.lookups.set(sql, lookup);
    return { connection, lookup };
  }

  /** Ends the transactions that reads share. */
  endShared(): void {
    for (const connection of this.#shared) connection.end();
    this.#shared.clear();
  }

  /** Notes that a database was read at `nowMs`, by the monotonic clock. */
  noteUse(databaseId: string, nowMs: number): void {
    const known = this.#known.get(databaseId);
    if (known) this.#use(databaseId, known, nowMs);
  }

  /** Closes a database and forgets it, because its file or its schema changes. */
  close(databaseId: string): void {
    const known = this.#known.get(databaseId);
    if (known === undefined) return;
    this.#known.delete(databaseId);
    if (known.open === null) return;
    this.#shared.delete(known.open.connection);
    try {
      known.open.connection.close();
    } catch {
      // Nobody uses it any more.
    }
  }

  /** Closes what has not been used for a while. */
  sweep(): void {
    const limitMs = this.clock.monotonicMs() - IDLE_CLOSE_MS;
    for (const [databaseId, { usedMs }] of this.#known) if (usedMs < limitMs) this.close(databaseId);
  }

  closeAll(): void {
    this.#closed = true;
    this.#closeBeyond(0);
  }

  #find(databaseId: string, call: TenantCall): Known | null {
    const known = this.#known.get(databaseId);
    if (known === undefined || known.runs < RUNS_BEFORE || this.#engine === null) return null;
    const sql = call.statements[0]?.sql ?? "";
    return known.schemaVersion === call.schemaVersion && known.lookups.has(sql) ? known : null;
  }

  /** Loaded when it is first needed: a start has no use for the engine. */
  async #load(): Promise<void> {
    this.#loading = true;
    try {
      this.#engine = (await import("../../engine/lookup_connection.ts")).LookupConnection;
    } finally {
      this.#loading = false;
    }
  }

  #open(databaseId: string, schemaVersion: number): OpenFile {
    if (this.#engine === null) throw new TypeError("the engine has been loaded before");
    const path = this.#pathOf(databaseId);
    if (logBytes(path) > MAX_LOG_BYTES) throw new RangeError("the log beside the file is long");
    const connection = new this.#engine(path);
    try {
      // The first read opens the log beside the file, or makes it.
      connection.compile("SELECT 1", schemaVersion);
      return { connection, walId: walIdOf(path) };
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  #pathOf(databaseId: string): string {
    return databasePath(this.tenants, databaseId);
  }

  #use(databaseId: string, known: Known, nowMs: number): void {
    known.usedMs = nowMs;
    if (this.#known.size === 1 && this.#known.has(databaseId)) return;
    this.#known.delete(databaseId);
    this.#known.set(databaseId, known);
  }

  #closeBeyond(most: number): void {
    for (const databaseId of this.#known.keys()) {
      if (this.#known.size <= most) return;
      this.close(databaseId);
    }
  }
}

/** 0 where there is none. */
function logBytes(path: string): number {
  try {
    return Deno.statSync(`${path}-wal`).size;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return 0;
    throw error;
  }
}

/** Tells one log beside a file from a later one. Throws where there is none. */
function walIdOf(path: string): string {
  const { dev, ino, birthtime } = Deno.statSync(`${path}-wal`);
  return `${dev} ${ino} ${birthtime?.getTime()}`;
}
