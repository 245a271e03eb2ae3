// All records under a prefix, page by page.
import type { Key } from "./keys.ts";
import { kvCall } from "./kv_call.ts";

const PAGE_SIZE = 200;

/** From the key `from` to before the key `to`, where given. Errors: `meter_unreachable`. */
export async function* kvEntries<Value>(
  kv: Deno.Kv,
  prefix: Key<Value>,
  range: { readonly from: Key<Value>; readonly to: Key<Value> } | null = null,
): AsyncGenerator<Deno.KvEntry<Value>> {
  let start: Deno.KvKey | null = range?.from ?? null;
  for (;;) {
    const selector: Deno.KvListSelector = range !== null
      ? { start: start ?? range.from, end: range.to }
      : start === null
      ? { prefix }
      : { prefix, start };
    const page = await kvCall(() => Array.fromAsync(kv.list<Value>(selector, { limit: PAGE_SIZE })));
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_SIZE) return;
    // Sorts directly behind the last key: a key comes before all keys that it begins.
    start = [...last.key, ""];
  }
}
