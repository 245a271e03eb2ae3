// Calls that must not run twice, in Deno KV: claimed before they run, their answers stored for a day. Mutations store
// their answers in the tenant's database instead (lib/tenant/), and leave at most a note here.
import type { Clock } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { REPLAY_MS } from "../core/limits.ts";
import { keys } from "../store/keys.ts";
import { kvCommit, kvGet } from "../store/kv_call.ts";
import { PIECE_BYTES, readPieces, writePieces } from "../store/pieces.ts";
import type { ReplayRecord } from "../store/records.ts";
import { KeptRoom } from "./kept_room.ts";
import { LeaseWatch } from "./lease_watch.ts";
import { FASTER, untilCommitted } from "../store/until_committed.ts";

/** Names a call: `key` is a hash of its scope, `requestHash` of its content. Both are SHA-256, hex. */
export interface ReplayScope {
  readonly key: string;
  readonly requestHash: string;
}

/** What a repetition has in common with the first call. */
type RepeatedRequest = Pick<ReplayRecord, "requestHash" | "databaseId">;

/** A call that is claimed, and whether its answer will be open. */
type ClaimedRequest = ReplayScope & RepeatedRequest & Pick<ReplayRecord, "isOpen">;

/** What is known about a call. */
export type ReplayState =
  /** Nobody runs it; with `claim` the caller may run it now. */
  | { readonly state: "free" }
  /** The call ran, and its answer is stored. `isOpen`: nobody has sealed it. */
  | { readonly state: "stored"; readonly answer: Uint8Array; readonly isOpen: boolean }
  /** The tenant's database has the answer. */
  | { readonly state: "tenant" }
  | { readonly state: "running" }
  /** Another request, or one of another database, was answered under this key. */
  | { readonly state: "mismatch" };

/** What is known, and the claim of whoever may run it. */
export type ReplayClaim = Exclude<ReplayState, { state: "free" }> | {
  readonly state: "claimed";
  readonly claim: Claim;
};

/** A call that this process may run. The first of these methods ends the claim; later calls do nothing. */
export interface Claim {
  /** Stores the answer for a day; not that of a namespace whose answers have no room, so that its call runs again. */
  store(answer: Uint8Array, namespaceId?: string): Promise<void>;
  /**
   * Adds the answer, of at most `PIECE_BYTES`, to the commit that does what the call is for, so that neither is kept without the
   * other. The claim goes on until another method ends it. Errors: `replay_running` where another process has it by now.
   */
  storeIn(commit: Deno.AtomicOperation, answer: Uint8Array): Promise<void>;
  /** Notes that the tenant's database has the answer. Of one that `storeIn` has stored it only ends the claim. */
  storedByTenant(): Promise<void>;
  /** The call failed and may run again. This never fails: a claim whose end KV does not learn ends with its lease. */
  release(): Promise<void>;
}

/**
 * Adds the answer of a plan's step to the commit that does what the step is for. It may be called again for another attempt at
 * that commit. Errors: `replay_running`, `meter_unreachable`.
 */
export type StoreStep = (commit: Deno.AtomicOperation, answer: StepAnswer) => Promise<void>;

/** The status and the `data` with which a step is answered. */
export interface StepAnswer {
  readonly status: 200 | 201;
  readonly data: object;
}

/** Milliseconds after which a silent process counts as dead, and between its signs of life. */
const LEASE_MS = 30_000;
const RENEW_MS = 10_000;
/** KV deletes the record a little after the deadline, which is checked here. */
const EXPIRY_SLACK_MS = 60_000;
/** Deletes a claim whose process died and whose call was never repeated. */
const FORGET_RUN = { expireIn: REPLAY_MS } as const;
const FORGET_ANSWER = { expireIn: REPLAY_MS + EXPIRY_SLACK_MS } as const;

/** Every method's errors: `meter_unreachable`. */
export class Replays {
  /** The ends of calls that run in this process: other calls with the same key wait for them, whatever they ask. */
  readonly #running = new Map<string, Promise<void>>();
  readonly #watch: LeaseWatch;
  readonly #room: KeptRoom;

  /** `isAlone`: as of `LeaseWatch`. */
  constructor(
    private readonly kv: Deno.Kv,
    private readonly clock: Clock,
    { isAlone = false }: { readonly isAlone?: boolean } = {},
  ) {
    this.#watch = new LeaseWatch(clock, { leaseMs: LEASE_MS, isAlone });
    this.#room = new KeptRoom(clock, REPLAY_MS);
  }

  /** Reads what is known about a call, without claiming it. */
  async find({ key, ...request }: ReplayScope): Promise<ReplayState> {
    const found = await kvGet(this.kv, keys.replay(key));
    if (found.value === null || this.#isOver(key, found)) return { state: "free" };
    return await this.#stateOf(key, request, found.value);
  }

  /**
   * Claims the call unless it ran or runs. It waits for a run in this process. `databaseId`: where it runs, for a key
   * that does not say so.
   */
  async claim(scope: ReplayScope, databaseId?: string): Promise<ReplayClaim> {
    const { key } = scope;
    for (let run = this.#running.get(key); run !== undefined; run = this.#running.get(key)) await run;
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    this.#running.set(key, ended);
    const finish = () => {
      this.#running.delete(key);
      end();
    };
    try {
      const claim = await this.#claimInKv(
        { ...scope, ...(databaseId === undefined ? {} : { databaseId }) },
        finish,
      );
      if (claim.state !== "claimed") finish();
      return claim;
    } catch (error) {
      finish();
      throw error;
    }
  }

  /** Stores the answer of a call that ran by another one, unless its key has an answer or a call runs under it. */
  async keep(scope: ReplayScope, databaseId: string, answer: Uint8Array): Promise<void> {
    // To wait for a run here would let two calls that keep answers for each other wait for ever.
    const claim = await this.#claimInKv({ ...scope, databaseId, isOpen: true }, () => {});
    if (claim.state === "claimed") await claim.claim.store(answer);
  }

  async #claimInKv({ key, ...request }: ClaimedRequest, finish: () => void): Promise<ReplayClaim> {
    const found = await kvGet(this.kv, keys.replay(key));
    if (found.value !== null && !this.#isOver(key, found)) {
      const state = await this.#stateOf(key, request, found.value);
      if (state.state !== "free") return state;
    }
    const now = this.clock.now();
    const record: ReplayRecord = {
      ...request,
      state: "running",
      pieces: 0,
      run: newId("run", now),
      untilMs: now + LEASE_MS,
    };
    const taken = await kvCommit(this.kv.atomic().check(found).set(keys.replay(key), record, FORGET_RUN));
    return taken ? { state: "claimed", claim: this.#open(key, record, finish) } : { state: "running" };
  }

  /** Whether a stored answer is too old, or whoever has claimed the call is gone. */
  #isOver(key: string, { value: { state, untilMs }, versionstamp }: Deno.KvEntry<ReplayRecord>): boolean {
    if (state !== "running") return untilMs <= this.clock.now();
    return this.#watch.isOver(key, { versionstamp, untilMs });
  }

  async #stateOf(key: string, request: RepeatedRequest, record: ReplayRecord): Promise<ReplayState> {
    // Another request under the key may fail, and then the key is free.
    if (record.state === "running") return { state: "running" };
    if (!isSame(request, record)) return { state: "mismatch" };
    if (record.state === "tenant") return { state: "tenant" };
    const answer = await readPieces(
      this.kv,
      record.pieces,
      (piece) => keys.replayPiece(key, record.run, piece),
    );
    // Pieces can expire a moment before their record.
    const { isOpen = false } = record;
    return answer === null ? { state: "free" } : { state: "stored", answer, isOpen };
  }

  #open(key: string, record: ReplayRecord, finish: () => void): Claim {
    const kvKey = keys.replay(key);
    const renewal = setInterval(() => {
      const untilMs = this.clock.now() + LEASE_MS;
      const renew = (atomic: Deno.AtomicOperation) => atomic.set(kvKey, { ...record, untilMs }, FORGET_RUN);
      this.#replace(key, record.run, renew).catch(() => {});
    }, RENEW_MS);
    let ended = false;
    const close = async (change: (atomic: Deno.AtomicOperation) => Deno.AtomicOperation) => {
      if (ended) return;
      ended = true;
      clearInterval(renewal);
      try {
        await this.#replace(key, record.run, change);
      } finally {
        finish();
      }
    };
    const forget = () => close((atomic) => atomic.delete(kvKey));
    const noted = (state: "kept" | "tenant", pieces: number) => (atomic: Deno.AtomicOperation) => {
      const untilMs = this.clock.now() + REPLAY_MS;
      return atomic.set(kvKey, { ...record, state, pieces, untilMs }, FORGET_ANSWER);
    };
    return {
      store: async (answer, namespaceId) => {
        if (ended) return;
        if (namespaceId !== undefined && !this.#room.take(namespaceId, answer.length)) return await forget();
        const pieces = await writePieces(this.kv, answer, {
          key: (piece) => keys.replayPiece(key, record.run, piece),
          ...FORGET_ANSWER,
        }).catch(async (error) => {
          await forget().catch(() => {});
          throw error;
        });
        await close(noted("kept", pieces));
      },
      storeIn: async (commit, answer) => {
        if (answer.length > PIECE_BYTES) throw new RangeError("an answer in another commit is one piece");
        const found = await kvGet(this.kv, kvKey);
        if (found.value?.run !== record.run || found.value.state !== "running") {
          throw new AppError("replay_running");
        }
        commit.check(found).set(keys.replayPiece(key, record.run, 0), answer, FORGET_ANSWER);
        noted("kept", 1)(commit);
      },
      storedByTenant: () => close(noted("tenant", 0)),
      release: () => forget().catch(() => {}),
    };
  }

  /** Changes the record while this run has not ended, and again when a sign of life came in between. */
  async #replace(
    key: string,
    run: string,
    change: (atomic: Deno.AtomicOperation) => Deno.AtomicOperation,
  ): Promise<void> {
    await untilCommitted(async () => {
      const found = await kvGet(this.kv, keys.replay(key));
      if (found.value?.run !== run || found.value.state !== "running") return;
      return await kvCommit(change(this.kv.atomic().check(found))) ? undefined : FASTER;
    });
  }
}

function isSame(request: RepeatedRequest, first: RepeatedRequest): boolean {
  return request.requestHash === first.requestHash &&
    (first.databaseId === undefined || request.databaseId === first.databaseId);
}
