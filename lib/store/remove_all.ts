// Deletes everything under a prefix, some records in each commit.
import type { Key } from "./key.ts";
import { kvCommit, kvEntries } from "./kv_call.ts";

/** Records that one commit deletes; Deno KV takes 1,000 changes. */
const DELETES_AT_ONCE = 200;

/** How many were there. After a crash it can be repeated. Errors: `meter_unreachable`. */
export async function removeAll(kv: Deno.Kv, prefix: Key<unknown>): Promise<number> {
  let removal = kv.atomic();
  let count = 0;
  for await (const { key } of kvEntries(kv, prefix)) {
    removal.delete(key);
    if (++count % DELETES_AT_ONCE > 0) continue;
    await kvCommit(removal);
    removal = kv.atomic();
  }
  if (count % DELETES_AT_ONCE > 0) await kvCommit(removal);
  return count;
}
