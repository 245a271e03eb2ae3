// Lifetimes of records in KV's own file. Deno's own expiry (`expireIn`) ends the whole process when the disk has no
// room for a deletion. So each such record gets a second one with its end, and a regular sweep deletes both.
import type { Clock } from "../core/clock.ts";
import { keys } from "./keys.ts";
import { kvCall, kvCommit } from "./kv_call.ts";

/** Milliseconds to which an end is rounded up, so that a record that is written often leaves one note a minute. */
const STEP_MS = 60_000;
/** Records deleted in one commit, and in one round. */
const AT_ONCE = 10;
const PER_ROUND = 20_000;

/** The same KV, with `expireIn` carried out by `sweepLifetimes`. */
export function withLifetimes(kv: Deno.Kv, clock: Clock): Deno.Kv {
  const atomic = kv.atomic.bind(kv);
  kv.atomic = () => noting(atomic(), clock);
  const set = kv.set.bind(kv);
  kv.set = async (key, value, options) => {
    if (options?.expireIn === undefined) return await set(key, value);
    const result = await kv.atomic().set(key, value, options).commit();
    if (!result.ok) throw new TypeError("a commit without checks was refused");
    return result;
  };
  return kv;
}

function noting(operation: Deno.AtomicOperation, clock: Clock): Deno.AtomicOperation {
  const set = operation.set.bind(operation);
  operation.set = (key, value, options) => {
    set(key, value);
    if (options?.expireIn !== undefined) {
      set(keys.lifetime(Math.ceil((clock.now() + options.expireIn) / STEP_MS) * STEP_MS, key), null);
    }
    return operation;
  };
  return operation;
}

/**
 * Deletes records that have ended at `nowMs`, up to a bound. Errors: `storage_full`, `meter_unreachable`; the next
 * round goes on.
 */
export async function sweepLifetimes(kv: Deno.Kv, nowMs: number): Promise<void> {
  const prefix = keys.lifetimes();
  for (let swept = 0; swept < PER_ROUND; swept += AT_ONCE) {
    const selector = { prefix, end: keys.lifetime(nowMs, []) };
    const over = await kvCall(() => Array.fromAsync(kv.list(selector, { limit: AT_ONCE })));
    if (over.length === 0) return;
    await remove(kv, over);
  }
}

/** All writes of a commit have the same versionstamp. A record with another one was written again, and stays. */
async function remove(kv: Deno.Kv, over: readonly Deno.KvEntry<unknown>[]): Promise<void> {
  const records = await kvCall(() => kv.getMany(over.map(({ key }) => keys.lived(key))));
  const removal = kv.atomic();
  for (const [index, { key, versionstamp }] of over.entries()) {
    const record = records[index];
    if (record?.versionstamp === versionstamp) removal.check(record).delete(record.key);
    removal.delete(key);
  }
  await kvCommit(removal);
}
