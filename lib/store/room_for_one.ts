// Additions to what may be so many and no more, of which none goes beyond that bound by coming at the same moment as another.
import type { Key } from "./key.ts";
import { kvGet } from "./kv_call.ts";

/** What is counted, and how many there may be. */
export interface Bound {
  /** Written anew by each addition. */
  readonly added: Key<number>;
  /** Milliseconds after which KV forgets it: no shorter than anything that is counted lives. Default: never. */
  readonly expireIn?: number;
  readonly most: number;
  /** How many there are now. */
  readonly count: () => Promise<number>;
}

/**
 * Makes the commit of an addition one that fails where another addition comes first: whoever makes it counts again then. False
 * where there are so many already; nothing may be committed then. Errors: `meter_unreachable`, those of `count`.
 */
export async function roomForOne(
  kv: Deno.Kv,
  addition: Deno.AtomicOperation,
  { added, expireIn, most, count }: Bound,
): Promise<boolean> {
  // Read before the count, so that whatever is not in the count has changed it.
  const entry = await kvGet(kv, added);
  if (await count() >= most) return false;
  addition.check(entry).set(entry.key, (entry.value ?? 0) + 1, expireIn === undefined ? {} : { expireIn });
  return true;
}
