// What all followers of one database share in this process: one reading of what is new, and one waiting for it. A follower
// has a place and nothing else, so that one who is slow holds nothing.
import type { Clock } from "../../core/clock.ts";
import type { ChangePlace } from "../../sql/service/change_rows.ts";
import { isSamePlace, type PlacedChange } from "./change.ts";
import { CHANGES_AT_ONCE } from "./read_changes.ts";

/** Changes that are kept for followers who have read nearly all. */
const KEPT = 1000;
/** Milliseconds from the end of one reading to the next: what happens meanwhile is told together. */
const PAUSE_MS = 40;

/** What it needs of its database. */
export interface ChangesSource {
  /** As `readChanges`. */
  readonly read: (after: ChangePlace | null) => Promise<PlacedChange[]>;
  readonly newest: () => Promise<ChangePlace>;
  /** Its place before the first change. */
  readonly beginning: ChangePlace;
  /** Milliseconds after which it looks without having been told. */
  readonly pollMs: number;
  readonly clock: Clock;
}

/** The followers of one database. */
export class DatabaseChanges {
  /** The newest changes; those behind `#base`. Null: it is not known where they end. */
  #kept: PlacedChange[] = [];
  #base: ChangePlace | null = null;
  #round = 0;
  isClosed = false;
  readonly #waiting = new Set<() => void>();
  #reading = false;
  #again = false;
  #pause: ReturnType<typeof setTimeout> | null = null;
  readonly #poll: ReturnType<typeof setInterval>;

  constructor(private readonly source: ChangesSource) {
    this.#poll = setInterval(() => this.changed(), source.pollMs);
  }

  /** To be called when something may have changed. */
  changed(): void {
    this.#again = true;
    if (!this.isClosed && !this.#reading && this.#pause === null && this.#waiting.size > 0) void this.#look();
  }

  /**
   * The next changes behind a place; none when the time is over, the signal has aborted or all waiting has ended. Errors:
   * those of the store.
   */
  async next(
    after: ChangePlace | null,
    { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal },
  ): Promise<readonly PlacedChange[]> {
    const { beginning, clock } = this.source;
    const untilMs = clock.monotonicMs() + waitMs;
    for (let from = after;; from ??= beginning) {
      const round = this.#round;
      const found = this.#behind(from) ?? await this.source.read(from);
      const leftMs = untilMs - clock.monotonicMs();
      if (found.length > 0 || leftMs <= 0 || signal.aborted || this.isClosed) return found;
      if (round === this.#round) await this.#change(leftMs, signal);
    }
  }

  /** Ends all waiting, for good. */
  close(): void {
    this.isClosed = true;
    clearInterval(this.#poll);
    if (this.#pause !== null) clearTimeout(this.#pause);
    this.#wake();
  }

  /** What is kept behind a place; null where the database has to be asked. */
  #behind(after: ChangePlace | null): readonly PlacedChange[] | null {
    if (after === null || this.#base === null) return null;
    if (isSamePlace(after, this.#base)) return this.#kept;
    const at = after.seq - this.#base.seq;
    const known = this.#kept[at - 1];
    return known && isSamePlace(after, known.place) ? this.#kept.slice(at) : null;
  }

  #change(waitMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => done(), waitMs);
      const done = () => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      this.#waiting.add(done);
      signal.addEventListener("abort", done, { once: true });
      // It may have been told before anybody waited.
      if (this.#again || this.#base === null) this.changed();
    });
  }

  /** Reads what is new, once for all. A failure is for those who wait: each finds it out. */
  async #look(): Promise<void> {
    this.#reading = true;
    this.#again = false;
    try {
      if (await this.#read()) this.#wake();
    } catch {
      this.#base = null;
      this.#kept = [];
      this.#wake();
    }
    this.#reading = false;
    if (this.isClosed) return;
    this.#pause = setTimeout(() => {
      this.#pause = null;
      if (this.#again) this.changed();
    }, PAUSE_MS);
  }

  /** Whether there may be something for those who wait. */
  async #read(): Promise<boolean> {
    if (this.#base === null) {
      this.#base = await this.source.newest();
      return true;
    }
    const end = this.#kept.at(-1)?.place ?? this.#base;
    const found = await this.source.read(end);
    const [first] = found;
    if (first === undefined) return false;
    // There may be more than were read, and nobody tells of them once more.
    if (found.length >= CHANGES_AT_ONCE) this.#again = true;
    if (first.change.kinds.includes("reset")) {
      this.#base = first.place;
      this.#kept = found.slice(1);
    } else this.#kept = [...this.#kept, ...found];
    const over = this.#kept.length - KEPT;
    if (over > 0) this.#base = this.#kept.splice(0, over).at(-1)?.place ?? this.#base;
    return true;
  }

  #wake(): void {
    this.#round++;
    for (const done of [...this.#waiting]) done();
  }
}
