// Streams that calls leave open for the calls behind them: to open one costs the server more than most statements do.
// All databases of a process share a few, because the server counts those of everybody.
import type { Clock } from "../../../core/clock.ts";

/** Milliseconds after which an idle stream is not used any more; the server closes it after ten seconds. */
const IDLE_MS = 5000;
/** Milliseconds until the server has certainly closed an idle stream. */
const CLOSED_MS = 11_000;
/** Milliseconds that a call waits for a stream in use, before it goes without. */
const PATIENCE_MS = 10;

/** Whom a stream is for. One location's must never be used for another: it would reach that one's data. */
export interface StreamTarget {
  readonly location: string;
  readonly mode: "read" | "write";
}

/** Leave to use a stream. `baton` names it; null: it is to be opened, or not left open. */
export interface PooledStream extends StreamTarget {
  baton: string | null;
}

interface IdleStream extends StreamTarget {
  readonly baton: string;
  readonly sinceMs: number;
}

interface Waiting extends StreamTarget {
  readonly resolve: (stream: PooledStream | null) => void;
  timer: ReturnType<typeof setTimeout> | null;
}

/** The idle streams of one database. */
export class StreamPool {
  #idle: IdleStream[] = [];
  readonly #busy = new Set<PooledStream>();
  readonly #waiting: Waiting[] = [];

  constructor(private readonly most: number, private readonly clock: Clock) {}

  /** Null: there is none to be had. Whatever is taken is given back. */
  async take(target: StreamTarget): Promise<PooledStream | null> {
    const nowMs = this.clock.monotonicMs();
    this.#idle = this.#idle.filter(({ sinceMs }) => nowMs - sinceMs < CLOSED_MS);
    const at = this.#idle.findLastIndex((one) => isFor(one, target) && nowMs - one.sinceMs < IDLE_MS);
    const [found] = at < 0 ? [] : this.#idle.splice(at, 1);
    if (found || this.#idle.length + this.#busy.size < this.most) {
      return this.#begin(target, found?.baton ?? null);
    }
    if (![...this.#busy].some((one) => isFor(one, target))) return null;
    return await new Promise((resolve) => {
      const waiting: Waiting = { ...target, resolve, timer: null };
      waiting.timer = setTimeout(() => this.#giveUp(waiting), PATIENCE_MS);
      this.#waiting.push(waiting);
    });
  }

  give(stream: PooledStream): void {
    this.#busy.delete(stream);
    const next = this.#waiting.findIndex((one) => isFor(one, stream));
    const [waiting] = next < 0 ? [] : this.#waiting.splice(next, 1);
    if (waiting) {
      if (waiting.timer !== null) clearTimeout(waiting.timer);
      return waiting.resolve(this.#begin(stream, stream.baton));
    }
    const { location, mode, baton } = stream;
    if (baton !== null) this.#idle.push({ location, mode, baton, sinceMs: this.clock.monotonicMs() });
  }

  /** Those that are idle, to be closed. */
  takeIdle(): readonly PooledStream[] {
    return this.#idle.splice(0);
  }

  #begin({ location, mode }: StreamTarget, baton: string | null): PooledStream {
    const stream = { location, mode, baton };
    this.#busy.add(stream);
    return stream;
  }

  #giveUp(waiting: Waiting): void {
    const at = this.#waiting.indexOf(waiting);
    if (at < 0) return;
    this.#waiting.splice(at, 1);
    waiting.resolve(null);
  }
}

function isFor(one: StreamTarget, other: StreamTarget): boolean {
  return one.location === other.location && one.mode === other.mode;
}
