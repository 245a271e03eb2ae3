// Answers look-ups in the process that serves requests: the way to an engine child and back would take longer than the
// read. Only what a child has run and proven to end runs here. Those that the event loop has ready at once are read together.
import type { Clock } from "../../../core/clock.ts";
import { roundMs } from "../../../core/clock.ts";
import { type LookupReads, rowsReadOf } from "../../../engine/rows_read/lookup_reads.ts";
import { logRowOf } from "../../log_columns.ts";
import type { TenantCall, TenantOutcome } from "../../tenant_store.ts";
import type { DatabaseLanes } from "../lanes/database_lanes.ts";
import { KnownLookups } from "./known_lookups.ts";
import { LeftOut, saysNothingOfOthers } from "./left_out.ts";
import { type LookupCall, lookupOf } from "./lookup_call.ts";
import { OwnTime, ownUsage, type ProcessUsage } from "./own_time.ts";

/** Milliseconds for which a database has none here after a failure. */
const FAILED_MS = 10_000;
/** The same after a report of damage. */
const DAMAGED_MS = 600_000;
/** Milliseconds after a look-up in which the service has something to do. */
const BUSY_MS = 250;
/** Turns of the event loop with one look-up each, one after the other, after which its caller is taken to be alone. */
const LONE_TURNS = 32;
/** Milliseconds that look-ups of a namespace may take in the mean: by key on connections, and lists or in copies of files. */
const MEAN_MS = 0.25;
const LONG_MEAN_MS = 1;
/** Milliseconds of look-ups after which whatever else the service has to do has its turn. */
const TURN_MS = 2;
/** The same after which lists of the turn go to children, which read them at the same time. */
const LIST_TURN_MS = 0.5;

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
  readonly read: LookupCall;
  /** Of several rows. */
  readonly isList: boolean;
  readonly resolve: (outcome: TenantOutcome | Promise<TenantOutcome>) => void;
  readonly reject: (error: unknown) => void;
}

/** What a look-up has found. */
interface FoundRows {
  readonly json: string;
  readonly rowsRead: number;
  /** Where its time is noted; null: compiling took most of it. */
  readonly times: LeftOut | null;
}

/** The look-ups of a store. */
export class KeyLookups {
  readonly #known: KnownLookups;
  readonly #ownTime: OwnTime;
  readonly #leftOut: LeftOut;
  readonly #withoutImages: LeftOut;
  readonly #withoutLists: LeftOut;
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
    this.#withoutImages = new LeftOut(LONG_MEAN_MS, this.#ownTime);
    this.#withoutLists = new LeftOut(LONG_MEAN_MS, this.#ownTime);
  }

  /** Whether somebody is being answered here. */
  get isBusy(): boolean {
    return this.#now() - this.#lastMs < BUSY_MS;
  }

  /** Notes that a child has run the call and proven that it ends. */
  learn(databaseId: string, call: TenantCall, reads: LookupReads): void {
    const read = lookupOf(call);
    const isVariant = read?.sql !== call.statements[0]?.sql;
    if (read) this.#known.learn(databaseId, read, { reads, isVariant });
  }

  /**
   * The outcome of a known look-up: read here, and then its log row waits in the lanes, or run by a child where that is not
   * possible. Null: the call is no known look-up.
   */
  run(database: LookupDatabase, call: TenantCall): Promise<TenantOutcome> | null {
    const read = lookupOf(call);
    const reads = read && this.#known.readsOf(database.databaseId, read, database.lanes);
    if (read === null || reads === null) return null;
    const isFirst = this.#asked++ === 0;
    if (isFirst) setImmediate(this.#endTurn);
    // Who is alone need not wait for others.
    if (isFirst && this.#loneTurns >= LONE_TURNS) {
      const nowMs = this.#now();
      this.#beginTurn(nowMs);
      const { outcome } = this.#outcome(database, { call, read }, nowMs);
      this.#known.endTurn();
      return outcome === null ? database.runInChild(call) : Promise.resolve(outcome);
    }
    const isList = reads[0] > 1;
    return new Promise((resolve, reject) =>
      this.#waiting.push({ database, call, read, isList, resolve, reject })
    );
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
    for (const { database, call, read, isList, resolve, reject } of waiting) {
      const tookMs = beginMs - startedMs;
      if (tookMs >= TURN_MS) break;
      try {
        if (isList && tookMs >= LIST_TURN_MS) resolve(database.runInChild(call));
        else {
          const { outcome, nowMs } = this.#outcome(database, { call, read }, beginMs);
          beginMs = nowMs;
          resolve(outcome ?? database.runInChild(call));
        }
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
    this.#ownTime.begin(
      this.#leftOut.isWatching(nowMs) || this.#withoutImages.isWatching(nowMs) ||
        this.#withoutLists.isWatching(nowMs),
    );
  }

  /** `outcome` is null where a child has to run the call. */
  #outcome(
    database: LookupDatabase,
    { call, read }: Pick<WaitingCall, "call" | "read">,
    beginMs: number,
  ): { readonly outcome: TenantOutcome | null; readonly nowMs: number } {
    const found = this.#read(database, { call, read }, beginMs);
    const nowMs = this.#now();
    found?.times?.noteTime(database.namespaceId, beginMs, nowMs);
    return { outcome: found && this.#answer(database, call, found, { beginMs, nowMs }), nowMs };
  }

  /** Null where it cannot be read here. Whatever fails is left to a child, which says why. */
  #read(
    { databaseId, namespaceId, lanes }: LookupDatabase,
    { call, read }: Pick<WaitingCall, "call" | "read">,
    nowMs: number,
  ): FoundRows | null {
    const isLeftOut = this.#leftOut.has(databaseId, nowMs) || this.#leftOut.has(namespaceId, nowMs);
    if (isLeftOut || !lanes.mayLookUp) return null;
    try {
      const images = !this.#withoutImages.has(namespaceId, nowMs);
      const ready = this.#known.ready(databaseId, read, lanes, { nowMs, images });
      if (ready === null) return null;
      const { connection, lookup, reads, from } = ready;
      const isList = reads[0] > 1;
      if (isList && this.#withoutLists.has(namespaceId, nowMs)) return null;
      const bounds = { maxRows: call.bounds.rows, maxBytes: call.bounds.bytes };
      const { json, rows } = connection.read(lookup, read.params, bounds, call.rowForm);
      const onConnection = isList ? this.#withoutLists : this.#leftOut;
      const times = from === "compiled" ? null : from === "image" ? this.#withoutImages : onConnection;
      return { json, rowsRead: rowsReadOf(reads, rows), times };
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
    { json, rowsRead }: FoundRows,
    { beginMs, nowMs }: { readonly beginMs: number; readonly nowMs: number },
  ): TenantOutcome {
    this.answered++;
    this.#lastMs = nowMs;
    this.#known.noteUse(databaseId, nowMs);
    const results = [{ json, rowsRead, rowsWritten: 0 }];
    const durationMs = roundMs(nowMs - beginMs);
    const outcome = { ok: true, results, durationMs, rowsReadBasis: "plan" } as const;
    const row = logRowOf(call, outcome);
    if (row) lanes.log.add(row);
    return outcome;
  }
}
