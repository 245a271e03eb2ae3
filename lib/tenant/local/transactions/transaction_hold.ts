// What an open transaction holds while it lasts: its place in an engine child, the write slot, and its time. It is taken away
// when its time is up, and what was taken away never goes on.
import type { Clock } from "../../../core/clock.ts";
import { takenAway, type TransactionOptions } from "../../transaction_control.ts";
import type { AppError } from "../../../core/errors.ts";
import type { TransactionWork } from "../child/protocol.ts";
import type { LaneHost } from "../lanes/lane_host.ts";
import type { OpenTransactions } from "./open_transactions.ts";
import type { DatabaseLanes } from "../lanes/database_lanes.ts";
import type { ReplyFrame } from "../frames/reply_frames.ts";
import { taskError } from "../pool/settle_group.ts";
import type { Seat } from "./transaction_children.ts";
import { ChildEnded } from "./transaction_place.ts";
import { nextEnd, type Times } from "./transaction_times.ts";
import { WriteLease } from "../lanes/write_lease.ts";

/** What this needs of the store. */
export interface HoldHost extends Pick<LaneHost, "statementMs" | "wake"> {
  readonly transactions: Pick<OpenTransactions, "admit" | "leave" | "limits"> & {
    readonly children: Pick<OpenTransactions["children"], "take">;
  };
}

/** What a transaction is made of. */
export interface HoldParts {
  readonly host: HoldHost;
  readonly lanes: DatabaseLanes;
  readonly clock: Clock;
  /** Called once, when nothing is held any more. */
  readonly onGone: () => void;
}

/** How a piece of work in the engine ended. */
export type Worked = { readonly frame: ReplyFrame } | { readonly ended: ChildEnded };

/** What work needs: the write slot; and a signal that says that nobody waits for the answer any more. */
export interface WorkNeeds {
  readonly writes: boolean;
  readonly signal: AbortSignal | null;
}

/** What one transaction holds. */
export class TransactionHold {
  /** Why it was taken away; null: it was not. */
  lost: string | null = null;
  #phase: "new" | "open" | "over" = "new";
  #seat: Seat | null = null;
  #lease: WriteLease | null = null;
  #working: TransactionWork["do"] | null = null;
  /** Settles when the commit under way has ended. */
  #committed: Promise<unknown> = Promise.resolve();
  #times: Times;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Settles when nothing of it is left; set when it begins to end. */
  #gone: Promise<void> | null = null;
  readonly #host: HoldHost;
  readonly #lanes: DatabaseLanes;

  constructor(private readonly parts: HoldParts, private readonly options: TransactionOptions) {
    this.#host = parts.host;
    this.#lanes = parts.lanes;
    this.#host.transactions.admit(this.#lanes, options.tokenId);
    this.#lanes.transactions.add(this);
    this.#times = { lastMs: this.#nowMs, begunMs: null, leasedMs: null };
    this.#arm();
  }

  get begun(): boolean {
    return this.#phase !== "new";
  }

  get isOver(): boolean {
    return this.#phase === "over";
  }

  /** Ends it and what runs in it: nobody is there any more. */
  abandon(): void {
    // A statement ends only with its child, unless others have transactions there.
    if (this.#working !== null && this.#working !== "commit" && this.#seat?.alone) this.#seat.kill();
    void this.end(GONE);
  }

  /** Does what commits it: until that has ended, nobody takes it away. */
  committing<T>(commit: () => Promise<T>): Promise<T> {
    const committed = commit();
    this.#committed = committed.catch(() => {});
    return committed;
  }

  /** Takes it away, unless it is committed first. Resolves when nothing of it is left. */
  async end(why: string): Promise<void> {
    await this.#committed;
    if (!this.isOver) this.lost ??= why;
    await this.rollBack();
  }

  /** Rolls it back, once. Resolves when nothing of it is left. */
  rollBack(): Promise<void> {
    return this.#gone ??= this.#rollBack();
  }

  /** The engine has failed outside of a statement, and has rolled back. Returns the error to throw. */
  async failed({ reply }: ReplyFrame): Promise<AppError> {
    const why = this.lost ??= "its engine failed";
    await this.rollBack();
    return reply.t === "failed" ? taskError(reply.f.kind) : takenAway(why);
  }

  /** Errors: `transaction_timeout`. */
  mustGoOn(): void {
    if (this.lost !== null) throw takenAway(this.lost);
    if (this.isOver) throw takenAway("it has ended");
  }

  /** Has the engine do something. Errors: `transaction_timeout`, `transaction_limit`, `database_busy`. */
  async work(work: TransactionWork, { writes, signal }: WorkNeeds = NEEDS_NOTHING): Promise<Worked> {
    this.mustGoOn();
    clearTimeout(this.#timer);
    const next = this.#nextEnd();
    if (next.atMs <= this.#nowMs) this.lost = next.why;
    // Nobody would be told of it any more.
    else if (signal?.aborted) this.lost = GONE;
    if (this.lost !== null) await this.rollBack();
    const gone = () => this.abandon();
    signal?.addEventListener("abort", gone);
    this.#working = work.do;
    try {
      return await this.#send(work, writes);
    } finally {
      signal?.removeEventListener("abort", gone);
      this.#working = null;
      this.#times = { ...this.#times, lastMs: this.#nowMs };
      this.#arm();
    }
  }

  /** Gives the write slot back before the end. */
  giveSlotBack(): void {
    this.#lease?.release();
    this.#lease = null;
    this.#times = { ...this.#times, leasedMs: null };
  }

  /** Gives everything back: the engine has nothing of it any more. */
  leave(): void {
    this.#phase = "over";
    clearTimeout(this.#timer);
    if (!this.#lanes.transactions.delete(this)) return;
    this.#seat?.leave();
    this.#host.transactions.leave(this.options.tokenId);
    this.giveSlotBack();
    this.parts.onGone();
  }

  async #send(work: TransactionWork, writes: boolean): Promise<Worked> {
    this.mustGoOn();
    const seat = this.#seat ??= this.#host.transactions.children.take(this.#lanes.namespaceId);
    const needsSlot = writes || (!this.begun && this.options.mode === "immediate");
    if (needsSlot && this.#lease === null) await this.#takeSlot();
    while (this.#lanes.held) await this.#lanes.released;
    this.mustGoOn();
    const begin = this.begun ? null : this.#beginning();
    this.#phase = "open";
    this.#times = { ...this.#times, begunMs: this.#times.begunMs ?? this.#nowMs };
    try {
      const frame = await seat.send({ db: this.#lanes.databaseId, begin, work });
      // What it has done is being undone.
      if (this.lost !== null) throw takenAway(this.lost);
      return { frame };
    } catch (error) {
      if (!(error instanceof ChildEnded)) throw error;
      if (work.do !== "commit") {
        this.lost ??= whyEnded(error);
        this.leave();
      }
      return { ended: error };
    }
  }

  #beginning(): "read" | "snapshot" | "write" {
    if (this.#lease !== null) return "write";
    return this.options.mode === "readonly" ? "read" : "snapshot";
  }

  async #takeSlot(): Promise<void> {
    const lanes = this.#lanes;
    const lease = new WriteLease(lanes, () => this.#host.wake(lanes), {
      waitMs: this.#host.statementMs,
      writerWaits: () => this.#arm(),
    });
    this.#lease = lease;
    try {
      await lease.taken;
      this.#times = { ...this.#times, leasedMs: this.#nowMs };
    } catch (error) {
      this.#lease = null;
      throw this.lost === null ? error : takenAway(this.lost);
    }
  }

  async #rollBack(): Promise<void> {
    if (this.isOver) return;
    this.#phase = "over";
    clearTimeout(this.#timer);
    this.#lease?.cancel(takenAway(this.lost ?? "it has ended"));
    try {
      // Behind the statement that runs, which goes on to its end.
      await this.#seat?.send({ db: this.#lanes.databaseId, begin: null, work: { do: "end" } });
    } catch (error) {
      if (!(error instanceof ChildEnded)) throw error;
    } finally {
      this.leave();
    }
  }

  #nextEnd() {
    return nextEnd(this.#times, this.#host.transactions.limits, this.#lanes.writes.length > 0);
  }

  /** Ends it when its time is up; while a statement runs, that has the time of a statement. */
  #arm(): void {
    clearTimeout(this.#timer);
    if (this.isOver || this.#working !== null) return;
    const { atMs, why } = this.#nextEnd();
    this.#timer = setTimeout(() => void this.end(why), Math.max(0, atMs - this.#nowMs));
  }

  get #nowMs(): number {
    return this.parts.clock.monotonicMs();
  }
}

const GONE = "whoever began it has gone";
const NEEDS_NOTHING: WorkNeeds = { writes: false, signal: null };

/** Why a transaction is lost whose child has ended. */
export function whyEnded({ ending }: ChildEnded): string {
  return ending === "timeout" ? "its statement ran longer than the time limit" : "its engine ended";
}
