// Changes one record that others may change at the same time, with a bounded number of attempts.
import { AppError } from "../core/errors.ts";
import type { Key } from "./keys.ts";
import { kvCommit, kvGet } from "./kv_call.ts";

/** Attempts before the key counts as too busy. */
const MAX_ATTEMPTS = 32;
/** Milliseconds, at most, before the second attempt; later ones wait longer. */
const PAUSE_MS = 4;
const MAX_PAUSE_MS = 100;

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
    readonly beside?: (commit: Deno.AtomicOperation, next: Value) => Deno.AtomicOperation;
  },
): Promise<Value | null> {
  const lifetime = options.expireIn === undefined ? {} : { expireIn: options.expireIn };
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const entry = await kvGet(kv, options.key);
    if (entry.versionstamp === null) return null;
    const next = options.change(entry.value);
    if (next === entry.value) return next;
    const commit = kv.atomic().check(entry).set(options.key, next, lifetime);
    if (await kvCommit(options.beside?.(commit, next) ?? commit)) return next;
    const pauseMs = Math.min(MAX_PAUSE_MS, PAUSE_MS * attempt) * Math.random();
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  throw new AppError("meter_unreachable");
}
