// Answers look-ups by key in the process that serves requests, for a caller who waits for each answer: the way to an engine
// child and back would take longer than the read. Only what a child has run and proven to end runs here, and only while
// nothing else waits for the database.
import type { Clock } from "../../core/clock.ts";
import { roundMs } from "../../core/clock.ts";
import { StayAwake } from "../../core/stay_awake.ts";
import type { Lookup, LookupConnection } from "../../engine/lookup_connection.ts";
import { logRowOf } from "../log_columns.ts";
import type { TenantCall, TenantOutcome } from "../tenant_store.ts";
import type { DatabaseLanes } from "./database_lanes.ts";
import { LeftOut } from "./left_out.ts";
import { databasePath } from "./tenant_paths.ts";

/** Databases that are open here, and look-ups of each. A connection takes some 350 KB at most. */
const MAX_OPEN = 32;
const MAX_LOOKUPS = 32;
/** Milliseconds for which a database has none here after a failure. */
const FAILED_MS = 10_000;
/** The same after a report of damage. */
const DAMAGED_MS = 600_000;
/** Milliseconds after a look-up in which the service has something to do. */
const BUSY_MS = 250;
/** Milliseconds after which an unused connection is closed by the next sweep. */
const IDLE_CLOSE_MS = 30_000;
/** Bytes of the longest log with which a database is opened here: who opens it after a crash reads all of the log first. */
const MAX_LOG_BYTES = 16 * 1024 * 1024;

/** The lanes of a database, as far as this uses them. */
export type LookupLanes = Pick<
  DatabaseLanes,
  "databaseId" | "namespaceId" | "isFree" | "noteCompany" | "log"
>;

/** What is known of one database. */
interface Known {
  readonly schemaVersion: number;
  /** Null: not compiled here yet. */
  readonly lookups: Map<string, Lookup | null>;
  open: { readonly connection: LookupConnection; readonly walId: string } | null;
  usedMs: number;
}

/** The look-ups of a store. */
export class KeyLookups {
  /** The longest unused one first. */
  readonly #known = new Map<string, Known>();
  readonly #leftOut = new LeftOut();
  readonly #awake: StayAwake;
  #engine: typeof LookupConnection | null = null;
  #loading = false;
  #usedThisTurn = false;
  #closed = false;
  #lastMs = -Infinity;
  /** How many have been answered. */
  answered = 0;

  /** `tenants`: the folder of the databases' files. */
  constructor(private readonly tenants: string, private readonly clock: Clock) {
    this.#awake = new StayAwake(clock);
  }

  /** Whether somebody is being answered here. */
  get isBusy(): boolean {
    return this.#now() - this.#lastMs < BUSY_MS;
  }

  /** Notes that a child has run the call and proven that it ends. */
  learn({ databaseId }: LookupLanes, call: TenantCall): void {
    const sql = call.statements[0]?.sql;
    if (sql === undefined || this.#closed) return;
    let known = this.#known.get(databaseId);
    // A connection with many statements is closed, which frees all of them.
    if (known && (known.schemaVersion !== call.schemaVersion || known.lookups.size >= MAX_LOOKUPS)) {
      this.close(databaseId);
      known = undefined;
    }
    if (known?.lookups.has(sql)) return;
    known ??= { schemaVersion: call.schemaVersion, lookups: new Map(), open: null, usedMs: this.#now() };
    known.lookups.set(sql, null);
    this.#known.set(databaseId, known);
    this.#closeBeyond(MAX_OPEN);
    if (this.#engine === null && !this.#loading) void this.#load();
  }

  /** The outcome of a call; null where a child has to run it. The log row of an outcome waits in the lanes. */
  run(lanes: LookupLanes, call: TenantCall): TenantOutcome | null {
    const known = this.#known.get(lanes.databaseId);
    if (known === undefined || this.#engine === null || !isOneRead(call)) return null;
    if (known.schemaVersion !== call.schemaVersion || !lanes.isFree) return null;
    // Calls that the event loop has ready at once travel together to a child, where they share a transaction.
    if (this.#usedThisTurn) return lanes.noteCompany();
    const startedMs = this.#now();
    if (this.#leftOut.has(lanes.databaseId, startedMs) || this.#leftOut.has(lanes.namespaceId, startedMs)) {
      return null;
    }
    const json = this.#read(lanes.databaseId, known, call);
    const nowMs = this.#now();
    this.#leftOut.noteTime(lanes.namespaceId, startedMs, nowMs);
    if (json === null) return null;
    this.#noteUse(lanes.databaseId, known, nowMs);
    this.#awake.noteAnswer(startedMs, nowMs);
    const outcome = {
      ok: true,
      results: [{ json, rowsRead: 1, rowsWritten: 0 }],
      durationMs: roundMs(nowMs - startedMs),
      rowsReadBasis: "plan",
    } as const;
    const row = logRowOf(call, outcome);
    if (row) lanes.log.add(row);
    return outcome;
  }

  /** Closes a database and forgets it, because its file or its schema changes. */
  close(databaseId: string): void {
    const known = this.#known.get(databaseId);
    if (known === undefined) return;
    this.#known.delete(databaseId);
    try {
      known.open?.connection.close();
    } catch {
      // Nobody uses it any more.
    }
  }

  /** Leaves a database to children, one of which has found its file damaged. */
  leaveDamaged(databaseId: string): void {
    this.close(databaseId);
    this.#leftOut.add(databaseId, this.#now() + DAMAGED_MS);
  }

  /** Closes what has not been used for a while. */
  sweep(): void {
    const limitMs = this.#now() - IDLE_CLOSE_MS;
    for (const [databaseId, { usedMs }] of this.#known) if (usedMs < limitMs) this.close(databaseId);
  }

  closeAll(): void {
    this.#closed = true;
    this.#awake.end();
    this.#closeBeyond(0);
  }

  #now(): number {
    return this.clock.monotonicMs();
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

  /** The result's text; null where it cannot be read here. Whatever fails is left to a child, which says why. */
  #read(databaseId: string, known: Known, call: TenantCall): string | null {
    const [statement] = call.statements;
    const lookup = statement && known.lookups.get(statement.sql);
    if (statement === undefined || lookup === undefined) return null;
    try {
      const open = known.open ??= this.#open(databaseId, known);
      // The log beside the file is removed with the file, and when others close it: then this connection sees old data.
      const isCurrent = open.walId === walIdOf(this.#pathOf(databaseId));
      const compiled = isCurrent && (lookup ?? open.connection.compile(statement.sql, call.schemaVersion));
      if (!compiled) {
        this.close(databaseId);
        return null;
      }
      known.lookups.set(statement.sql, compiled);
      const bounds = { maxRows: call.bounds.rows, maxBytes: call.bounds.bytes };
      return open.connection.read(compiled, statement.params, bounds, call.rowForm);
    } catch (error) {
      // A value or a row that is too long says nothing of others.
      if (isTooLong(error)) return null;
      this.close(databaseId);
      this.#leftOut.add(databaseId, this.#now() + FAILED_MS);
      return null;
    }
  }

  #open(databaseId: string, known: Known): NonNullable<Known["open"]> {
    if (this.#engine === null) throw new TypeError("the engine has been loaded before");
    const path = this.#pathOf(databaseId);
    if (logBytes(path) > MAX_LOG_BYTES) throw new RangeError("the log beside the file is long");
    const connection = new this.#engine(path);
    try {
      // The first read opens the log beside the file, or makes it.
      connection.compile("SELECT 1", known.schemaVersion);
      return { connection, walId: walIdOf(path) };
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  #pathOf(databaseId: string): string {
    return databasePath(this.tenants, databaseId);
  }

  #noteUse(databaseId: string, known: Known, nowMs: number): void {
    this.answered++;
    this.#lastMs = known.usedMs = nowMs;
    this.#usedThisTurn = true;
    setImmediate(() => this.#usedThisTurn = false);
    if (this.#known.size < 2) return;
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

/** Whether the call is one statement that reads, and nothing beside it. */
function isOneRead(call: TenantCall): boolean {
  return call.level === "read" && call.statements.length === 1 && !call.readsLog && !call.paramSets &&
    !call.dryRun && !call.footprint && !call.foreignKeysOff && call.replay === null &&
    call.failsWith === null &&
    !call.statements[0]?.takes;
}

/** The engine's code for a value beyond its limit (sqlite.org/rescode.html). */
const TOO_BIG = 18;

function isTooLong(error: unknown): boolean {
  return error instanceof Error &&
    (error.name === "ResultTooLarge" || Reflect.get(error, "errcode") === TOO_BIG);
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
