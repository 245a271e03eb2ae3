// Bounds the reads that a server works on for long: only so many of a caller, a database and this process run at a time. The
// others are stopped and wait, so that the server has time for what is quick.
import { AppError } from "../../../core/errors.ts";
import { ReadQueue, type SlowGates, type SlowWork, tokenOf } from "../../read_queue.ts";
import type { WaitingRead } from "../../slow_caller.ts";
import type { TurnCaller, TurnWaiter } from "../../slow_turns.ts";
import type { TenantOutcome } from "../../tenant_store.ts";
import { Stopped } from "../hrana/deadline.ts";
import type { RemoteConnection } from "../connection/remote_connection.ts";
import type { DatabaseReads, Running, SlowSlots } from "./slow_slots.ts";
import { answersOthers } from "../connection/statement_deadline.ts";
import type { AskedCall } from "./write_call.ts";

/** Milliseconds until the server is asked, beside a read, whether it answers anything, and between two such questions. */
const SLOW_MS = 100;
/** Reads that wait for one database before new ones are refused. */
const MAX_WAITING = 10_000;
/** Milliseconds that a read waits for a slot at the least. */
const MIN_WAIT_MS = 1000;

interface Turn extends WaitingRead {
  start: (running: Running) => void;
}

/** `namespaceId`: whose database it is, the unit of fairness. */
interface AskedRead extends AskedCall {
  readonly namespaceId: string;
}

/** A read that the server works on. */
interface UnderWay {
  readonly turn: Turn;
  readonly startedMs: number;
  readonly giveWay: AbortController;
  readonly running: Running;
  /** Until it is next asked whether the read is slow. */
  timer?: ReturnType<typeof setTimeout>;
  ended: boolean;
}

/** The reads of one database. */
export class SlowReads implements DatabaseReads {
  readonly #queue = new ReadQueue<Turn>();
  /** Whose database it is; null: nobody has read of it yet. */
  #namespaceId: string | null = null;
  /** What the server was asked last, to see whether it answers. */
  #question: { readonly sentMs: number; readonly answered: Promise<boolean> } | null = null;

  constructor(
    private readonly connection: RemoteConnection,
    private readonly slots: SlowSlots,
    private readonly maxWaiting: number = MAX_WAITING,
  ) {}

  /** What `read` answers; its signal tells it to stop with `Stopped`. Errors: `database_busy` after too long a wait. */
  async run(job: AskedRead, read: (giveWay: AbortSignal) => Promise<TenantOutcome>): Promise<TenantOutcome> {
    this.#namespaceId = job.namespaceId;
    const turn: Turn = { call: job.call, crashes: 0, start: () => {} };
    const tokenId = tokenOf(turn);
    const isFree = this.#queue.length === 0 && !this.#queue.hasSlow && this.slots.mayStart(this, tokenId);
    let running = isFree ? this.#begin(tokenId, null) : await this.#turn(job, turn);
    for (;;) {
      const startedMs = this.nowMs();
      const underWay: UnderWay = { turn, running, startedMs, giveWay: new AbortController(), ended: false };
      this.#watchLater(underWay);
      try {
        const outcome = await read(underWay.giveWay.signal);
        if (this.nowMs() - startedMs < SLOW_MS) this.#queue.forget(turn);
        return outcome;
      } catch (error) {
        if (!(error instanceof Stopped && error.why === "gives_way")) throw error;
      } finally {
        clearTimeout(underWay.timer);
        underWay.ended = true;
        this.#endTurn(running.slow);
        this.slots.end(running);
      }
      running = await this.#turn(job, turn);
    }
  }

  #watchLater(underWay: UnderWay): void {
    underWay.timer = setTimeout(() => void this.#watch(underWay), SLOW_MS);
  }

  /** A read is slow when it has no answer yet, although the server has answered what was sent long after it. */
  async #watch(underWay: UnderWay): Promise<void> {
    const answers = await this.#answersSince(underWay.startedMs);
    if (underWay.ended) return;
    if (!answers) return this.#watchLater(underWay);
    const { turn, running } = underWay;
    this.#queue.noteSlow(turn, this.nowMs());
    const slow = running.slow ??= { tokenId: running.tokenId, hasSlot: false, seen: true };
    slow.hasSlot ||= this.slots.mayTakeSlot(this, running.tokenId);
    if (slow.hasSlot) this.#endTurn(slow);
    else if (!this.#hasTurn(turn, slow)) return underWay.giveWay.abort();
    else this.#watchLater(underWay);
    this.slots.next();
  }

  /** Whether the read has the turn, or may have it, and others may not yet. */
  #hasTurn(turn: Turn, slow: SlowWork): boolean {
    const { slots } = this;
    if (slow.turn === undefined) {
      const caller = this.callerOf(slow.tokenId);
      if (!slots.mayTakeTurn(this, slow.tokenId)) {
        slots.turns.add(caller, SLOW_MS, this.nowMs());
        return false;
      }
      turn.turns = (turn.turns ?? 0) + 1;
      slow.turn = slots.turns.begin(caller, this.nowMs(), turn.turns);
    }
    return !slots.turns.isOver(slow.turn, slots.waitForTurn(), this.nowMs());
  }

  #endTurn(slow: SlowWork | null): void {
    if (slow?.turn === undefined) return;
    this.slots.turns.count(slow.turn, this.nowMs());
    delete slow.turn;
  }

  callerOf(tokenId: string | null): TurnCaller {
    const { databaseId } = this.connection;
    return { namespaceId: this.#namespaceId ?? databaseId, key: tokenId ?? databaseId };
  }

  *turnWaiters(): Iterable<TurnWaiter> {
    for (const { tokenId, slow } of this.#queue.slowWaiters(this.nowMs())) {
      if (slow !== "none") yield { ...this.callerOf(tokenId), isNew: slow === "new" };
    }
  }

  /** Whether the server has answered a question that was sent after that moment: reads share one. */
  async #answersSince(startedMs: number): Promise<boolean> {
    if (this.#question === null || this.#question.sentMs < startedMs) {
      this.#question = { sentMs: this.nowMs(), answered: answersOthers(this.connection) };
    }
    const question = this.#question;
    const answered = await question.answered;
    if (this.#question === question) this.#question = null;
    return answered;
  }

  /** Starts what may start of those that wait. */
  startWaiting(first: TurnCaller | null = this.slots.firstForTurn()): void {
    const nowMs = this.nowMs();
    const { slots } = this;
    const gates: SlowGates = {
      mayTry: () => slots.mayTry(this),
      mayTakeSlot: (tokenId) => slots.mayTakeSlot(this, tokenId),
      hadTurnMs: (tokenId) =>
        slots.mayTakeTurn(this, tokenId, first) ? slots.turns.hadMs(this.callerOf(tokenId).key) : null,
      beginTurn: (tokenId, turns) => slots.turns.begin(this.callerOf(tokenId), nowMs, turns),
    };
    const refused = new Set<string | null>();
    // However many of one caller wait, those of others behind them are asked for as well.
    this.#queue.startQuick(nowMs, (one) => {
      const tokenId = tokenOf(one);
      const starts = !refused.has(tokenId) && this.slots.mayStart(this, tokenId);
      if (starts) one.start(this.#begin(tokenId, null));
      else refused.add(tokenId);
      return starts;
    });
    for (let next = this.#queue.takeSlow(nowMs, gates); next; next = this.#queue.takeSlow(nowMs, gates)) {
      const [first, ...others] = next.jobs;
      this.#queue.putBack(others);
      first?.start(this.#begin(next.slow.tokenId, next.slow));
    }
    if (this.#queue.length > 0) this.slots.waiting.add(this);
  }

  /** Waits until it may start. */
  #turn({ signal }: AskedCall, turn: Turn): Promise<Running> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", leave);
      };
      turn.start = (running) => {
        end();
        resolve(running);
      };
      const refuse = (code: "database_busy" | "store_unavailable") => {
        end();
        this.#queue.filter((other) => other !== turn);
        reject(new AppError(code));
      };
      const leave = () => refuse("store_unavailable");
      const waitMs = Math.max(MIN_WAIT_MS, this.connection.context.queryTimeoutMs);
      const timer = setTimeout(() => refuse("database_busy"), waitMs);
      signal?.addEventListener("abort", leave);
      if (signal?.aborted) return leave();
      if (this.#queue.length >= this.maxWaiting || !this.#queue.add(turn)) return refuse("database_busy");
      this.startWaiting();
    });
  }

  #begin(tokenId: string | null, slow: SlowWork | null): Running {
    const running = { reads: this, tokenId, slow };
    this.slots.running.add(running);
    return running;
  }

  nowMs(): number {
    return this.connection.context.clock.monotonicMs();
  }
}
