// Control-plane records that every request needs, cached in the process: bounded in age, number and size, and forgotten at
// once when this process changes them. A missing record is never cached.
import type { Clock } from "../core/clock.ts";
import { CACHE_AGE_MS } from "../core/limits.ts";

/** Entries of one cache: more than are hot in a few seconds, and a bound on memory. */
const MAX_ENTRIES = 20_000;
/** Characters of all records of one cache as JSON: some are as long as their tenant makes them. A longer one is not cached. */
const MAX_CHARACTERS = 20_000_000;

interface Entry<Value> {
  readonly value: Value;
  /** The monotonic time at which its read began. */
  readonly readMs: number;
  readonly characters: number;
}

/** Bounds of a cache; its `MAX_CHARACTERS` hold in any case. */
interface CacheBounds {
  readonly maxAgeMs: number;
  readonly maxEntries: number;
}

interface Loading<Value> {
  readonly promise: Promise<Value | null>;
}

/** When records were read: by the monotonic clock, and how many changes had been told. */
interface CacheMoment {
  readonly readMs: number;
  readonly changes: number;
}

/** Bounds where every change is told (`listenToChanges`): the age is a second line only. */
export const TOLD_BOUNDS = { maxAgeMs: 60_000, maxEntries: MAX_ENTRIES } as const;

/** A cache of one kind of records. */
export class RecordCache<Value extends object> {
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #loading = new Map<string, Loading<Value>>();
  #changes = 0;
  #characters = 0;

  constructor(
    private readonly clock: Clock,
    private readonly bounds: CacheBounds = { maxAgeMs: CACHE_AGE_MS, maxEntries: MAX_ENTRIES },
  ) {}

  /**
   * The cached value at once, otherwise what `load` reads, which is told the one that has become too old. Callers that come
   * meanwhile share that read.
   */
  read(key: string, load: (old: Value | undefined) => Promise<Value | null>): Value | Promise<Value | null> {
    const entry = this.#entries.get(key);
    if (entry !== undefined && this.clock.monotonicMs() - entry.readMs < this.bounds.maxAgeMs) {
      return entry.value;
    }
    const running = this.#loading.get(key);
    if (running !== undefined) return running.promise;
    const loading: Loading<Value> = { promise: this.#load(key, () => load(entry?.value), () => loading) };
    this.#loading.set(key, loading);
    return loading.promise;
  }

  /** To be asked before records are read that are then offered. */
  moment(): CacheMoment {
    return { readMs: this.clock.monotonicMs(), changes: this.#changes };
  }

  /** Caches records that were read beside the one that was asked for, unless any has changed since, or there is no room. */
  offer(records: readonly (readonly [key: string, value: Value])[], { readMs, changes }: CacheMoment): void {
    if (changes !== this.#changes) return;
    for (const [key, value] of records) {
      if (this.#entries.size >= this.bounds.maxEntries || this.#characters >= MAX_CHARACTERS) return;
      if (!this.#entries.has(key)) this.#keep(key, value, readMs);
    }
  }

  /** To be called after every change: a read under way is not cached either. */
  forget(key: string): void {
    this.#changes++;
    this.#drop(key);
    this.#loading.delete(key);
  }

  /** The same for all records of which something is true. */
  forgetWhere(isSo: (value: Value) => boolean): void {
    this.#changes++;
    for (const [key, { value }] of this.#entries) if (isSo(value)) this.#drop(key);
    this.#loading.clear();
  }

  /** For changes of unknown keys. */
  clear(): void {
    this.#changes++;
    this.#entries.clear();
    this.#characters = 0;
    this.#loading.clear();
  }

  /** The newest entry; the oldest go where there are too many, or where they are too much together. */
  #keep(key: string, value: Value, readMs: number): void {
    this.#drop(key);
    const characters = JSON.stringify(value).length;
    if (characters > MAX_CHARACTERS) return;
    this.#entries.set(key, { value, readMs, characters });
    this.#characters += characters;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.bounds.maxEntries && this.#characters <= MAX_CHARACTERS) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#characters -= this.#entries.get(key)?.characters ?? 0;
    this.#entries.delete(key);
  }

  async #load(
    key: string,
    load: () => Promise<Value | null>,
    self: () => Loading<Value>,
  ): Promise<Value | null> {
    const readMs = this.clock.monotonicMs();
    // Starts after the caller has put this read into `#loading`.
    await null;
    let value: Value | null = null;
    try {
      value = await load();
      return value;
    } finally {
      if (this.#loading.get(key) === self()) {
        this.#loading.delete(key);
        if (value === null) this.#drop(key);
        else this.#keep(key, value, readMs);
      }
    }
  }
}
