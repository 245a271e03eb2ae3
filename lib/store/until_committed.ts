// Changes that other processes may make at the same time: repeated while another commit comes first, a bounded number of
// times.
import { AppError } from "../core/errors.ts";
import type { Key } from "./keys.ts";
import { kvCommit, kvGet } from "./kv_call.ts";
import { pause } from "../core/pause.ts";

/** Attempts before the keys count as too busy. */
const MAX_ATTEMPTS = 64;
/** Milliseconds, at most, before the second attempt; later ones wait longer. */
const PAUSE_MS = 4;
const MAX_PAUSE_MS = 100;

/**
 * Adds to a commit what is to happen with it, or not at all; `about`: what it writes or deletes. May run several times, for
 * one of which the commit is made.
 */
export type Also<About extends unknown[] = []> = (
  commit: Deno.AtomicOperation,
  ...about: About
) => Deno.AtomicOperation;

/** Adds nothing. */
export function nothingElse(commit: Deno.AtomicOperation): Deno.AtomicOperation {
  return commit;
}

/** What an attempt answers when its commit was refused, because another one came first. */
export const FASTER: unique symbol = Symbol("somebody was faster");

/**
 * Repeats the attempt until it answers something else than `FASTER`. Each attempt reads anew what it depends on, and checks
 * it in its commit. Errors: those of the attempt, and `meter_unreachable` when others came first every time.
 */
export async function untilCommitted<Outcome>(
  attempt: () => Promise<Outcome | typeof FASTER>,
): Promise<Outcome> {
  for (let count = 1; count <= MAX_ATTEMPTS; count++) {
    const outcome = await attempt();
    if (outcome !== FASTER) return outcome;
    // At random, so that those who have met do not meet again.
    const pauseMs = Math.min(MAX_PAUSE_MS, PAUSE_MS * count) * Math.random();
    await pause(pauseMs);
  }
  throw new AppError("meter_unreachable");
}

/**
 * Deletes the record. What it was, once: null when there is none, also for all but one of those who delete it at the same
 * time. `beside` adds further writes to the same commit. Errors: `meter_unreachable`, also when others changed the record
 * every time.
 */
export async function compareAndDelete<Value>(
  kv: Deno.Kv,
  key: Key<Value>,
  beside: Also<[record: Value]>,
): Promise<Value | null> {
  return await untilCommitted(async () => {
    const entry = await kvGet(kv, key);
    if (entry.versionstamp === null) return null;
    const commit = kv.atomic().check(entry).delete(key);
    return await kvCommit(beside(commit, entry.value)) ? entry.value : FASTER;
  });
}

/**
 * Replaces the record with what `change` returns; null when there is no record. `change` may run several times. When
 * it returns the same object nothing is written, so callers that come too late do not get in each other's way.
 * Errors: `meter_unreachable`, also when others were faster every time.
 */
export async function compareAndSet<Value>(
  kv: Deno.Kv,
  options: {
    readonly key: Key<Value>;
    readonly change: (current: Value) => Value;
    /** Milliseconds after which KV forgets the record. A record with a lifetime needs it at every change. */
    readonly expireIn?: number;
    /** Adds further writes to the same commit. */
    readonly beside?: Also<[next: Value]>;
  },
): Promise<Value | null> {
  const lifetime = options.expireIn === undefined ? {} : { expireIn: options.expireIn };
  return await untilCommitted(async () => {
    const entry = await kvGet(kv, options.key);
    if (entry.versionstamp === null) return null;
    const next = options.change(entry.value);
    if (next === entry.value) return next;
    const commit = kv.atomic().check(entry).set(options.key, next, lifetime);
    return await kvCommit(options.beside?.(commit, next) ?? commit) ? next : FASTER;
  });
}
