// The operator's key: set by the operator, or made at the first start and shown that once.
import { newToken, tokenHash } from "../../access/token_format.ts";
import { keys } from "../../store/keys.ts";
import { kvCommit, kvGet } from "../../store/kv_call.ts";

export interface OperatorKey {
  /** SHA-256 of the key, hex. */
  readonly hash: string;
  /** The key itself when this call has made it: nobody else knows it yet. */
  readonly made: string | null;
}

/** `configured` wins over a made one and is not stored. Errors: `meter_unreachable`. */
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
