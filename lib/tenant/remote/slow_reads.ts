// Bounds the reads that a server works on for long: only so many of a caller, a database and this process run at a time. The
// others are stopped and wait, so that the server has time for what is quick.
import { AppError } from "../../core/errors.ts";
import { ReadQueue, type SlowWork, tokenOf, type WaitingRead } from "../read_queue.ts";
import type { TenantOutcome } from "../tenant_store.ts";
import { Stopped } from "./hrana/deadline.ts";
import type { RemoteConnection } from "./remote_connection.ts";
import { answersOthers } from "./statement_deadline.ts";
import type { AskedCall } from "./write_call.ts";

/** Milliseconds until the server is asked, beside a read, whether it answers anything, and between two such questions. */
const SLOW_MS = 100;
/** Slow reads at a time of one token, of one database, and of all together; of tries, one database's and all. */
const MAX_SLOTS = { token: 2, database: 3, all: 6 } as const;
const MAX_TRIES = { database: 2, all: 4 } as const;
/** Reads at a time that are not known to be slow, unless the store says otherwise; of one token half of them. */
const MAX_QUICK = 64;
/** Reads that wait for one database before new ones are refused. */
const MAX_WAITING = 10_000;
/** Milliseconds that a read waits for a slot at the least. */
const MIN_WAIT_MS = 1000;

interface Running {
  readonly reads: SlowReads;
  /** Null: an anonymous caller's. */
  readonly tokenId: string | null;
  /** Null: it is not known to be slow work. */
  slow: SlowWork | null;
}

/** The slots of all databases of a process. */
export class SlowSlots {
  readonly running = new Set<Running>();
  /** Whose reads wait. */
  readonly waiting = new Set<SlowReads>();

  constructor(private readonly mostQuick: number = MAX_QUICK) {}

  mayStart(reads: SlowReads, tokenId: string | null): boolean {
    if (this.running.size < this.mostQuick / 2) return true;
    const quick = [...this.running].filter(({ slow }) => slow === null);
    const own = quick.filter((one) => one.tokenId === tokenId && (tokenId !== null || one.reads === reads));
    return quick.length < this.mostQuick && own.length < this.mostQuick / 2;
  }

  mayTry(reads: SlowReads): boolean {
    const tries = [...this.running].filter(({ slow }) => slow?.hasSlot === false);
    return tries.length < MAX_TRIES.all &&
      tries.filter((one) => one.reads === reads).length < MAX_TRIES.database;
  }

  /** Anonymous callers count for their database only. */
  mayTakeSlot(reads: SlowReads, tokenId: string | null): boolean {
    const held = { token: 0, database: 0, all: 0 };
    for (const other of this.running) {
      if (!other.slow?.hasSlot) continue;
      held.all++;
      if (other.reads === reads) held.database++;
      if (tokenId !== null && other.tokenId === tokenId) held.token++;
    }
    return held.token < MAX_SLOTS.token && held.database < MAX_SLOTS.database && held.all < MAX_SLOTS.all;
  }

  end(running: Running): void {
    this.running.delete(running);
    if (this.waiting.size > 0) this.next();
  }

  /** Something has changed; each database gets one turn. */
  next(): void {
    for (const reads of [...this.waiting]) {
      this.waiting.delete(reads);
      reads.startWaiting();
    }
  }
}

interface Turn extends WaitingRead {
  readonly start: (running: Running) => void;
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
export class SlowReads {
  readonly #queue = new ReadQueue<Turn>();
  /** What the server was asked last, to see whether it answers. */
  #question: { readonly sentMs: number; readonly answered: Promise<boolean> } | null = null;

  constructor(
    private readonly connection: RemoteConnection,
    private readonly slots: SlowSlots,
    private readonly maxWaiting: number = MAX_WAITING,
  ) {}

  /** What `read` answers; its signal tells it to stop with `Stopped`. Errors: `database_busy` after too long a wait. */
  async run(job: AskedCall, read: (giveWay: AbortSignal) => Promise<TenantOutcome>): Promise<TenantOutcome> {
    const turn: Turn = { call: job.call, crashes: 0, start: () => {} };
    const tokenId = tokenOf(turn);
    const isFree = this.#queue.length === 0 && !this.#queue.hasSlow && this.slots.mayStart(this, tokenId);
    let running = isFree ? this.#begin(tokenId, null) : await this.#turn(job, turn);
    for (;;) {
      const startedMs = this.#now();
      const underWay: UnderWay = { turn, running, startedMs, giveWay: new AbortController(), ended: false };
      this.#watchLater(underWay);
      try {
        const outcome = await read(underWay.giveWay.signal);
        if (this.#now() - startedMs < SLOW_MS) this.#queue.forget(turn);
        return outcome;
      } catch (error) {
        if (!(error instanceof Stopped && error.why === "gives_way")) throw error;
      } finally {
        clearTimeout(underWay.timer);
        underWay.ended = true;
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
    this.#queue.noteSlow(turn, this.#now());
    const slow = running.slow ??= { tokenId: running.tokenId, hasSlot: false, seen: true };
    slow.hasSlot ||= this.slots.mayTakeSlot(this, running.tokenId);
    if (slow.hasSlot) this.slots.next();
    else underWay.giveWay.abort();
  }

  /** Whether the server has answered a question that was sent after that moment: reads share one. */
  async #answersSince(startedMs: number): Promise<boolean> {
    if (this.#question === null || this.#question.sentMs < startedMs) {
      this.#question = { sentMs: this.#now(), answered: answersOthers(this.connection) };
    }
    const question = this.#question;
    const answered = await question.answered;
    if (this.#question === question) this.#question = null;
    return answered;
  }

  /** Starts what may start of those that wait. */
  startWaiting(): void {
    const nowMs = this.#now();
    const gates = {
      mayTry: () => this.slots.mayTry(this),
      mayTakeSlot: (tokenId: string | null) => this.slots.mayTakeSlot(this, tokenId),
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
  #turn({ signal }: AskedCall, { call, crashes, slow }: Turn): Promise<Running> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", leave);
      };
      const start = (running: Running) => {
        end();
        resolve(running);
      };
      const refuse = (code: "database_busy" | "store_unavailable") => {
        end();
        this.#queue.filter((other) => other !== one);
        reject(new AppError(code));
      };
      const leave = () => refuse("store_unavailable");
      const one: Turn = { call, crashes, start, ...(slow ? { slow } : null) };
      const waitMs = Math.max(MIN_WAIT_MS, this.connection.context.queryTimeoutMs);
      const timer = setTimeout(() => refuse("database_busy"), waitMs);
      signal?.addEventListener("abort", leave);
      if (signal?.aborted) return leave();
      if (this.#queue.length >= this.maxWaiting || !this.#queue.add(one)) return refuse("database_busy");
      this.startWaiting();
    });
  }

  #begin(tokenId: string | null, slow: SlowWork | null): Running {
    const running = { reads: this, tokenId, slow };
    this.slots.running.add(running);
    return running;
  }

  #now(): number {
    return this.connection.context.clock.monotonicMs();
  }
}
