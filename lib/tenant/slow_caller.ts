// A caller whose recent reads were slow, with its waiting reads, and which texts of it are slow.
import { groupLength, type WaitingCall } from "./group_length.ts";

/** Milliseconds for which a caller and a text count as slow after a slow read. */
const SLOW_MS = 10_000;
/** The most slow texts remembered for a caller, and characters remembered of each. */
const MAX_TEXTS = 64;
const TEXT_CHARACTERS = 1000;

/** A read that waits. */
export interface WaitingRead extends WaitingCall {
  /** The read has been slow before. */
  slow?: true;
  /**
   * The read was taken back from a group with a slow read. When its turn comes, it travels with reads of its caller
   * only.
   */
  again?: true;
  /** It was taken alone, because a read of its text took long a moment ago. */
  lasts?: boolean;
  /** How often it has had the turn of slow reads without a slot. */
  turns?: number;
}

/** A caller whose recent reads were slow or long, with its waiting reads. */
export class SlowCaller<J extends WaitingRead> {
  /** Reads that are not known to be slow. */
  untried: J[] = [];
  slow: J[] = [];
  busyUntilMs = -Infinity;
  #slowUntilMs = -Infinity;
  /** Texts that took long while the caller was busy, though they are not slow. */
  readonly #long = new Set<string>();
  /** Slow text → when it stops counting as slow, the oldest first. */
  readonly #texts = new Map<string, number>();

  get waiting(): number {
    return this.untried.length + this.slow.length;
  }

  /** Whether a read of the caller was slow, rather than only long enough to let others go first. */
  isSlow(nowMs: number): boolean {
    return nowMs < this.#slowUntilMs || this.slow.length > 0;
  }

  knows(job: J): boolean {
    return job.slow === true || this.#texts.has(textOf(job));
  }

  note(job: J, nowMs: number): void {
    this.#slowUntilMs = nowMs + SLOW_MS;
    job.slow = true;
    for (const [text, untilMs] of this.#texts) if (untilMs <= nowMs) this.#texts.delete(text);
    const text = textOf(job);
    const isNew = !this.#texts.delete(text);
    if (isNew && this.#texts.size >= MAX_TEXTS) return;
    this.#texts.set(text, nowMs + SLOW_MS);
    if (!isNew) return;
    this.slow.push(...this.untried.filter((other) => this.knows(other)));
    this.untried = this.untried.filter((other) => !this.knows(other));
  }

  /** Notes whether a read took long. */
  noteLength(job: J, isLong: boolean): void {
    if (!isLong) this.#long.delete(textOf(job));
    else if (this.#long.size < MAX_TEXTS) this.#long.add(textOf(job));
  }

  /**
   * Takes the first untried reads: one that lasts alone, because the others of its frame would wait for it and other
   * children could run them meanwhile.
   */
  takeQuick(): J[] {
    const first = this.untried.findIndex((job) => this.#long.has(textOf(job)));
    const [next] = this.untried;
    if (next) next.lasts = first === 0;
    const together = first < 0 ? this.untried : this.untried.slice(0, Math.max(1, first));
    return this.untried.splice(0, groupLength(together));
  }

  forget(job: J): void {
    this.#texts.delete(textOf(job));
  }

  /** Takes the slow read that has had the fewest turns. */
  takeTurn(): J[] {
    const fewest = Math.min(...this.slow.map(turnsOf));
    const [job] = this.slow.splice(this.slow.findIndex((one) => turnsOf(one) === fewest), 1);
    if (!job) return [];
    job.turns = fewest + 1;
    return [job];
  }

  /** Whether a slow read waits that has had no turn. */
  get hasNew(): boolean {
    return this.slow.some((job) => turnsOf(job) === 0);
  }

  /**
   * Takes the newest untried read, because one that has waited longer is more likely to be slow, and others of its
   * text.
   */
  takeTry(): J[] {
    const newest = this.untried.at(-1);
    if (!newest) return [];
    const text = textOf(newest);
    const same = this.untried.filter((job) => textOf(job) === text);
    const jobs = new Set(same.slice(0, groupLength(same)));
    this.untried = this.untried.filter((job) => !jobs.has(job));
    return [...jobs];
  }
}

/** Identifies a call by its first statement; a long text by its beginning and its length. */
function textOf({ call }: WaitingCall): string {
  const sql = call.statements[0]?.sql ?? "";
  return sql.length <= TEXT_CHARACTERS ? sql : `${sql.length} ${sql.slice(0, TEXT_CHARACTERS)}`;
}

function turnsOf({ turns = 0 }: WaitingRead): number {
  return turns;
}
