// The look-ups by key that children have run and proven to end, and the connections on which this process repeats them.
import type { Clock } from "../../core/clock.ts";
import type { Lookup, LookupConnection } from "../../engine/lookup_connection.ts";
import type { TenantCall } from "../tenant_store.ts";
import { HeldReads } from "./held_reads.ts";
import { CONNECTION_BYTES, LOOKUP_BYTES, LookupFile, type LookupLanes } from "./lookup_file.ts";
import { databasePath } from "./tenant_paths.ts";

/** Look-ups of one database, databases of which any are known, and characters of all their texts. */
const MAX_LOOKUPS = 32;
const MAX_KNOWN = 8192;
const MAX_CHARACTERS = 4_000_000;
/** Milliseconds after which an unused connection is closed by the next sweep. */
const IDLE_CLOSE_MS = 30_000;
/** Milliseconds in which a use is noted once: to note one moves an entry to the end of the map, which leaves garbage there. */
const USED_MS = 1_000;
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

/** What is known of one database. */
interface Known {
  readonly schemaVersion: number;
  /** Null: not compiled here yet. */
  readonly lookups: Map<string, Lookup | null>;
  open: LookupFile | null;
  /** Characters of their texts. */
  characters: number;
  usedMs: number;
}

/** A look-up that may be read here. */
export interface ReadyLookup {
  readonly connection: LookupConnection;
  readonly lookup: Lookup;
  /** It has been compiled now. */
  readonly isNew: boolean;
}

/** The look-ups of a store. */
export class KnownLookups {
  /** The longest unused one first. */
  readonly #known = new Map<string, Known>();
  /** Files in a transaction that ends with this turn. `clear` of a `Set` would make a new table among V8's old objects. */
  #ending: LookupFile[] = [];
  readonly #held: HeldReads;
  /** Of all connections. */
  #bytes = 0;
  /** Of all texts. */
  #characters = 0;
  /** Nothing is opened or compiled before, by the monotonic clock. */
  #compilesFromMs = -Infinity;
  #engine: typeof LookupConnection | null = null;
  #loading = false;
  #closed = false;

  /** `tenants`: the folder of the databases' files. `maxBytes`: of all connections together. */
  constructor(
    private readonly tenants: string,
    private readonly clock: Clock,
    private readonly maxBytes: number,
  ) {
    this.#held = new HeldReads(clock);
  }

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
    known ??= {
      schemaVersion: call.schemaVersion,
      lookups: new Map(),
      open: null,
      characters: 0,
      usedMs: -Infinity,
    };
    this.#use(databaseId, known, this.clock.monotonicMs());
    if (!known.lookups.has(sql)) this.#add(known, sql);
    if (this.#engine === null && !this.#loading) void this.#load();
  }

  /** Whether a database is open here. */
  isOpen(databaseId: string): boolean {
    return (this.#known.get(databaseId)?.open ?? null) !== null;
  }

  /** Whether the call is a look-up that may be read here. */
  has(databaseId: string, call: TenantCall): boolean {
    return this.#find(databaseId, call) !== null;
  }

  /**
   * The look-up of a call, compiled, in a transaction; null where a child has to run it. `endTurn` has to be called after it.
   * `nowMs`: by the monotonic clock. Throws what the engine or the file system throws.
   */
  ready(databaseId: string, call: TenantCall, lanes: LookupLanes, nowMs: number): ReadyLookup | null {
    const known = this.#find(databaseId, call);
    const sql = call.statements[0]?.sql;
    if (known === null || sql === undefined) return null;
    const compiled = known.lookups.get(sql) ?? null;
    const beginMs = compiled === null ? this.clock.monotonicMs() : 0;
    try {
      const file = known.open ??= this.#open(databaseId, known.schemaVersion);
      if (!file.isCurrent(lanes, nowMs)) {
        this.close(databaseId);
        return null;
      }
      const ends = file.begin(lanes, nowMs);
      if (ends === "turn") this.#ending.push(file);
      else if (ends === "later") this.#held.add(file, nowMs);
      const lookup = compiled ?? this.#compile(file, known, sql);
      if (lookup === null) this.close(databaseId);
      return lookup && { connection: file.connection, lookup, isNew: compiled === null };
    } finally {
      if (compiled === null) {
        const nowMs = this.clock.monotonicMs();
        const tookMs = nowMs - beginMs;
        const part = tookMs > SLOW_COMPILE_MS ? SLOW_COMPILE_PART : COMPILE_PART;
        this.#compilesFromMs = nowMs + tookMs * (part - 1);
      }
    }
  }

  /** Ends the transactions of databases whose write slot is taken. */
  endTurn(): void {
    if (this.#ending.length === 0) return;
    for (const file of this.#ending) file.letGo();
    this.#ending = [];
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
    this.#characters -= known.characters;
    if (known.open === null) return;
    this.#bytes -= known.open.bytes;
    if (this.#ending.length > 0) this.#ending = this.#ending.filter((file) => file !== known.open);
    known.open.close();
  }

  /** Closes what has not been used for a while, and lets other work have its turn between. */
  sweep(): void {
    const limitMs = this.clock.monotonicMs() - IDLE_CLOSE_MS;
    let count = 0;
    for (const [databaseId, { usedMs }] of this.#known) {
      if (usedMs >= limitMs) return;
      if (count++ === CLOSED_A_TURN) return void setImmediate(() => this.sweep());
      this.close(databaseId);
    }
  }

  closeAll(): void {
    this.#closed = true;
    this.#held.stop();
    for (const databaseId of this.#known.keys()) this.close(databaseId);
  }

  #find(databaseId: string, call: TenantCall): Known | null {
    const known = this.#known.get(databaseId);
    if (known === undefined || this.#engine === null) return null;
    const sql = call.statements[0]?.sql ?? "";
    const lookup = known.lookups.get(sql);
    if (known.schemaVersion !== call.schemaVersion || lookup === undefined) return null;
    return lookup !== null || this.#mayCompile(known) ? known : null;
  }

  /** Nobody's connection is closed for another one: with more databases than room, each would be opened for a few reads. */
  #mayCompile({ open }: Known): boolean {
    const bytes = LOOKUP_BYTES + (open === null ? CONNECTION_BYTES : 0);
    return this.#bytes + bytes <= this.maxBytes && this.clock.monotonicMs() >= this.#compilesFromMs;
  }

  /** The texts that are known longest unused give way. */
  #add(known: Known, sql: string): void {
    known.lookups.set(sql, null);
    known.characters += sql.length;
    this.#characters += sql.length;
    for (const databaseId of this.#known.keys()) {
      if (this.#known.size <= MAX_KNOWN && this.#characters <= MAX_CHARACTERS) return;
      this.close(databaseId);
    }
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

  /** Null: the file has another schema. */
  #compile(file: LookupFile, { lookups }: Known, sql: string): Lookup | null {
    const before = file.bytes;
    const lookup = file.compile(sql);
    this.#bytes += file.bytes - before;
    if (lookup !== null) lookups.set(sql, lookup);
    return lookup;
  }

  #open(databaseId: string, schemaVersion: number): LookupFile {
    if (this.#engine === null) throw new TypeError("the engine has been loaded before");
    const file = new LookupFile(this.#engine, databasePath(this.tenants, databaseId), schemaVersion);
    this.#bytes += file.bytes;
    return file;
  }

  #use(databaseId: string, known: Known, nowMs: number): void {
    if (nowMs - known.usedMs < USED_MS) return;
    known.usedMs = nowMs;
    this.#known.delete(databaseId);
    this.#known.set(databaseId, known);
  }
}
