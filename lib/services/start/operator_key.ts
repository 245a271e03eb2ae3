// The operator's key: configured, or made by the first start.
import { newToken, tokenHash } from "../../access/token_format.ts";
import { keys } from "../../store/keys.ts";
import { kvCommit, kvGet } from "../../store/kv_call.ts";

interface OperatorKey {
  /** SHA-256 of the key, hex. */
  readonly hash: string;
  /** The key itself, when this call has made it: nobody else knows it yet. */
  readonly made: string | null;
}

/**
 * The operator's key: configured, or made at the first start and shown that once. A configured key wins and is not
 * stored. Errors: `meter_unreachable`.
 */
export async function operatorKey(kv: Deno.Kv, configured: string | null): Promise<OperatorKey> {
  if (configured !== null) return { hash: tokenHash(configured), made: null };
  const key = keys.operatorKeyHash();
  const stored = await kvGet(kv, key);
  if (stored.versionstamp !== null) return { hash: stored.value, made: null };
  const made = newToken("cub_op_");
  const hash = tokenHash(made);
  if (await kvCommit(kv.atomic().check(stored).set(key, hash))) return { hash, made };
  return await operatorKey(kv, configured);
}
