// Answers look-ups by key in the process that serves requests: the way to an engine child and back would take longer than the
// read. Only what a child has run and proven to end runs here. Those that the event loop has ready at once are read together.
import type { Clock } from "../../../core/clock.ts";
import { roundMs } from "../../../core/clock.ts";
import { logRowOf } from "../../log_columns.ts";
import type { TenantCall, TenantOutcome } from "../../tenant_store.ts";
import type { DatabaseLanes } from "../lanes/database_lanes.ts";
import { KnownLookups, type ReadyLookup } from "./known_lookups.ts";
import { LeftOut } from "./left_out.ts";
import { OwnTime, ownUsage, type ProcessUsage } from "./own_time.ts";

/** Milliseconds for which a database has none here after a failure. */
const FAILED_MS = 10_000;
/** The same after a report of damage. */
const DAMAGED_MS = 600_000;
/** Milliseconds after a look-up in which the service has something to do. */
const BUSY_MS = 250;
/** Turns of the event loop with one look-up each, one after the other, after which its caller is taken to be alone. */
const LONE_TURNS = 32;
/** Milliseconds that look-ups of a namespace may take in the mean, on connections and in copies of files. */
const MEAN_MS = 0.25;
const IMAGE_MEAN_MS = 1;
/** Milliseconds of look-ups after which whatever else the service has to do has its turn. */
const TURN_MS = 2;

/** A database, as far as this uses it. */
export interface LookupDatabase {
  readonly databaseId: string;
  readonly namespaceId: string;
  /** Its lanes of now. */
  readonly lanes: Pick<DatabaseLanes, "mayLookUp" | "writeTurn" | "writes" | "log">;
  /** Runs what cannot be read here after all. */
  runInChild(call: TenantCall): Promise<TenantOutcome>;
}

/** A call that waits for the end of the turn. */
interface WaitingCall {
  readonly database: LookupDatabase;
  readonly call: TenantCall;
  readonly resolve: (outcome: TenantOutcome | Promise<TenantOutcome>) => void;
  readonly reject: (error: unknown) => void;
}

/** The look-ups of a store. */
export class KeyLookups {
  readonly #known: KnownLookups;
  readonly #ownTime: OwnTime;
  readonly #leftOut: LeftOut;
  readonly #withoutImages: LeftOut;
  #waiting: WaitingCall[] = [];
  /** Look-ups in this turn of the event loop, and how many turns had one. */
  #asked = 0;
  #loneTurns = 0;
  #lastMs = -Infinity;
  /** How many have been answered. */
  answered = 0;

  /** `tenants`: the folder of the databases' files. `maxBytes`: of the connections to them. */
  constructor(
    tenants: string,
    private readonly clock: Clock,
    maxBytes: number,
    usage: () => ProcessUsage | null = ownUsage,
  ) {
    this.#known = new KnownLookups(tenants, clock, maxBytes);
    this.#ownTime = new OwnTime(usage);
    this.#leftOut = new LeftOut(MEAN_MS, this.#ownTime);
    this.#withoutImages = new LeftOut(IMAGE_MEAN_MS, this.#ownTime);
  }

  /** Whether somebody is being answered here. */
  get isBusy(): boolean {
    return this.#now() - this.#lastMs < BUSY_MS;
  }

  /** Notes that a child has run the call and proven that it ends. */
  learn(databaseId: string, call: TenantCall): void {
    this.#known.learn(databaseId, call);
  }

  /**
   * The outcome of a known look-up: read here, and then its log row waits in the lanes, or run by a child where that is not
   * possible. Null: the call is no known look-up.
   */
  run(database: LookupDatabase, call: TenantCall): Promise<TenantOutcome> | null {
    if (!isOneRead(call) || !this.#known.has(database.databaseId, call, database.lanes)) return null;
    const isFirst = this.#asked++ === 0;
    if (isFirst) setImmediate(this.#endTurn);
    // Who is alone need not wait for others.
    if (isFirst && this.#loneTurns >= LONE_TURNS) {
      const nowMs = this.#now();
      this.#beginTurn(nowMs);
      const { outcome } = this.#outcome(database, call, nowMs);
      this.#known.endTurn();
      return outcome === null ? database.runInChild(call) : Promise.resolve(outcome);
    }
    return new Promise((resolve, reject) => this.#waiting.push({ database, call, resolve, reject }));
  }

  /** Whether a database is open here. */
  isOpen(databaseId: string): boolean {
    return this.#known.isOpen(databaseId);
  }

  /** Closes a database and forgets it, because its file or its schema changes. */
  close(databaseId: string): void {
    this.#known.close(databaseId);
  }

  /** Leaves a database to children, one of which has found its file damaged. */
  leaveDamaged(databaseId: string): void {
    this.close(databaseId);
    this.#leftOut.add(databaseId, this.#now() + DAMAGED_MS);
  }

  /** Closes what has not been used for a while. */
  sweep(): void {
    this.#known.sweep();
  }

  closeAll(): void {
    this.#known.closeAll();
  }

  #now(): number {
    return this.clock.monotonicMs();
  }

  /** Reads in one go, so that no answer to a write comes between two of them: all may see what the first sees. */
  readonly #endTurn = (): void => {
    this.#loneTurns = this.#asked === 1 ? this.#loneTurns + 1 : 0;
    const waiting = this.#waiting;
    const startedMs = this.#now();
    this.#beginTurn(startedMs);
    let beginMs = startedMs;
    let count = 0;
    for (const { database, call, resolve, reject } of waiting) {
      if (beginMs - startedMs >= TURN_MS) break;
      try {
        const { outcome, nowMs } = this.#outcome(database, call, beginMs);
        beginMs = nowMs;
        resolve(outcome ?? database.runInChild(call));
      } catch (error) {
        reject(error);
      }
      count++;
    }
    this.#known.endTurn();
    this.#waiting = waiting.slice(count);
    this.#asked = this.#waiting.length;
    if (this.#asked > 0) setImmediate(this.#endTurn);
  };

  #beginTurn(nowMs: number): void {
    this.#ownTime.begin(this.#leftOut.isWatching(nowMs) || this.#withoutImages.isWatching(nowMs));
  }

  /** `outcome` is null where a child has to run the call. */
  #outcome(
    database: LookupDatabase,
    call: TenantCall,
    beginMs: number,
  ): { readonly outcome: TenantOutcome | null; readonly nowMs: number } {
    const found = this.#read(database, call, beginMs);
    const nowMs = this.#now();
    if (found?.from === "open") this.#leftOut.noteTime(database.namespaceId, beginMs, nowMs);
    else if (found?.from === "image") this.#withoutImages.noteTime(database.namespaceId, beginMs, nowMs);
    return { outcome: found && this.#answer(database, call, { json: found.json, beginMs, nowMs }), nowMs };
  }

  /** The result's text; null where it cannot be read here. Whatever fails is left to a child, which says why. */
  #read(
    { databaseId, namespaceId, lanes }: LookupDatabase,
    call: TenantCall,
    nowMs: number,
  ): { readonly json: string; readonly from: ReadyLookup["from"] } | null {
    const isLeftOut = this.#leftOut.has(databaseId, nowMs) || this.#leftOut.has(namespaceId, nowMs);
    if (isLeftOut || !lanes.mayLookUp) return null;
    try {
      const images = !this.#withoutImages.has(namespaceId, nowMs);
      const ready = this.#known.ready(databaseId, call, lanes, { nowMs, images });
      if (ready === null) return null;
      const { connection, lookup, from } = ready;
      const bounds = { maxRows: call.bounds.rows, maxBytes: call.bounds.bytes };
      const json = connection.read(lookup, call.statements[0]?.params ?? [], bounds, call.rowForm);
      return { json, from };
    } catch (error) {
      if (saysNothingOfOthers(error)) return null;
      this.close(databaseId);
      this.#leftOut.add(databaseId, this.#now() + FAILED_MS);
      return null;
    }
  }

  #answer(
    { databaseId, lanes }: LookupDatabase,
    call: TenantCall,
    { json, beginMs, nowMs }: { readonly json: string; readonly beginMs: number; readonly nowMs: number },
  ): TenantOutcome {
    this.answered++;
    this.#lastMs = nowMs;
    this.#known.noteUse(databaseId, nowMs);
    const results = [{ json, rowsRead: 1, rowsWritten: 0 }];
    const durationMs = roundMs(nowMs - beginMs);
    const outcome = { ok: true, results, durationMs, rowsReadBasis: "plan" } as const;
    const row = logRowOf(call, outcome);
    if (row) lanes.log.add(row);
    return outcome;
  }
}

/** Whether the call is one statement that reads, and nothing beside it. */
function isOneRead(call: TenantCall): boolean {
  return call.level === "read" && call.statements.length === 1 && !call.readsLog && !call.paramSets &&
    !call.dryRun && !call.footprint && !call.foreignKeysOff && call.replay === null &&
    call.failsWith === null &&
    !call.statements[0]?.takes;
}

/** SQLITE_TOOBIG: a value is beyond its limit; SQLITE_BUSY: the file gets its log just now (sqlite.org/rescode.html). */
const TOO_BIG = 18;
const BUSY = 5;
const OF_ONE_CALL: readonly unknown[] = [TOO_BIG, BUSY];

/** A value or a row that is too long, or a moment in which the file could not be read, says nothing of other look-ups. */
function saysNothingOfOthers(error: unknown): boolean {
  return error instanceof Error &&
    (error.name === "ResultTooLarge" || OF_ONE_CALL.includes(Reflect.get(error, "errcode")));
}
