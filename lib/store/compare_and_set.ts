// Changes one record that others may change at the same time, with a bounded number of attempts.
import type { Key } from "./keys.ts";
import { kvCommit, kvGet } from "./kv_call.ts";
import { FASTER, untilCommitted } from "./until_committed.ts";

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
  return await untilCommitted(async () => {
    const entry = await kvGet(kv, options.key);
    if (entry.versionstamp === null) return null;
    const next = options.change(entry.value);
    if (next === entry.value) return next;
    const commit = kv.atomic().check(entry).set(options.key, next, lifetime);
    if (await kvCommit(options.beside?.(commit, next) ?? commit)) return next;
    return FASTER;
  });
}
