// The operator's key: configured, or made by the first start.
import { newToken, tokenHash } from "../../access/token_format.ts";
import { keys } from "../../store/keys.ts";
import { kvCommit, kvGet } from "../../store/kv_call.ts";

/**
 * The hash (SHA-256, hex) of the operator's key: configured, or made at the first start and shown that once. A configured key
 * wins and is not stored. One that `show` fails to show is forgotten, because nobody could be the operator by it. Errors:
 * `meter_unreachable`, those of `show`.
 */
export async function operatorKey(
  kv: Deno.Kv,
  configured: string | null,
  show: (made: string) => void,
): Promise<string> {
  if (configured !== null) return tokenHash(configured);
  const key = keys.operatorKeyHash();
  const stored = await kvGet(kv, key);
  if (stored.versionstamp !== null) return stored.value;
  const made = newToken("cub_op_");
  const hash = tokenHash(made);
  if (!await kvCommit(kv.atomic().check(stored).set(key, hash))) {
    return await operatorKey(kv, configured, show);
  }
  try {
    show(made);
  } catch (error) {
    await kvCommit(kv.atomic().delete(key));
    throw error;
  }
  return hash;
}
