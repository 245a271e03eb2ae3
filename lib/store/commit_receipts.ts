// Commits to a KV on the network: each takes effect at most once, and is answered by whether it did. Deno's client sends a
// commit again when the answer is lost: an unchecked one would run twice, and the copy of a checked one fails its own
// check and says `ok: false` of what was kept.
import { keys } from "./keys.ts";

/** Milliseconds that a receipt stays: far longer than anybody waits for the answer, or the client repeats. */
const RECEIPT_MS = 600_000;

/** The same KV, each of whose commits leaves a receipt that tells a copy from somebody else's change. */
export function withReceipts(kv: Deno.Kv): Deno.Kv {
  const atomic = kv.atomic.bind(kv);
  kv.atomic = () => receipted(kv, atomic());
  return kv;
}

function receipted(kv: Deno.Kv, operation: Deno.AtomicOperation): Deno.AtomicOperation {
  const key = keys.commitReceipt(crypto.randomUUID());
  operation.check({ key, versionstamp: null }).set(key, true, { expireIn: RECEIPT_MS });
  const commit = operation.commit.bind(operation);
  operation.commit = async () => {
    const result = await commit();
    if (result.ok) return result;
    const { versionstamp } = await kv.get(key);
    return versionstamp === null ? result : { ok: true, versionstamp };
  };
  return operation;
}
