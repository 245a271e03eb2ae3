// The KV keys of a token, which are written and deleted together, and the line of its ancestors.
import { keys } from "../store/keys.ts";
import { kvGet } from "../store/kv_call.ts";
import type { TokenRecord } from "../store/records.ts";

/** Milliseconds that an expired token stays in the list. */
const KEPT_AFTER_EXPIRY_MS = 86_400_000;

/** Adds the keys of one token to a commit, or their deletion. */
export const tokenKeys = {
  /** Adds the token's keys to a commit. */
  set(atomic: Deno.AtomicOperation, record: TokenRecord, nowMs: number): Deno.AtomicOperation {
    const { namespaceId, id, hash, expiresAt, parentId } = record;
    const lifetime = expiresAt === null ? {} : { expireIn: expiresAt - nowMs + KEPT_AFTER_EXPIRY_MS };
    atomic.set(keys.token(namespaceId, id), record, lifetime)
      .set(keys.tokenByHash(hash), { namespaceId, tokenId: id }, lifetime);
    return parentId === undefined
      ? atomic
      : atomic.set(keys.childToken(namespaceId, parentId, id), id, lifetime);
  },

  /** Adds the deletion of the keys by which the token is found: from then on nobody can use it. */
  delete(atomic: Deno.AtomicOperation, record: TokenRecord): Deno.AtomicOperation {
    const { namespaceId, id, hash } = record;
    return atomic.delete(keys.token(namespaceId, id)).delete(keys.tokenByHash(hash));
  },

  /**
   * Adds the deletion of the parent's pointer to it. It comes last, because the token's children are found through
   * it.
   */
  unlink(atomic: Deno.AtomicOperation, { namespaceId, id, parentId }: TokenRecord): Deno.AtomicOperation {
    return parentId === undefined ? atomic : atomic.delete(keys.childToken(namespaceId, parentId, id));
  },
};

/** The longest line of tokens: bounds the reads of a look-up. */
export const MAX_LINEAGE = 16;

/**
 * The token and its ancestors, the youngest first. A token from a handoff or a claim lives no longer than the token
 * that handed off or claimed: the answer is null when one of the line is removed or has expired at `nowMs`, or the
 * line is too long. `reading` is called with each id before it is read. Errors: `meter_unreachable`.
 */
export async function tokenLineage(
  kv: Deno.Kv,
  options: {
    readonly namespaceId: string;
    readonly tokenId: string;
    readonly nowMs: number;
    readonly reading?: (tokenId: string) => void;
  },
): Promise<Deno.KvEntry<TokenRecord>[] | null> {
  const { namespaceId, nowMs, reading } = options;
  const line: Deno.KvEntry<TokenRecord>[] = [];
  for (let tokenId: string | undefined = options.tokenId; tokenId !== undefined;) {
    if (line.length === MAX_LINEAGE) return null;
    reading?.(tokenId);
    const entry: Deno.KvEntryMaybe<TokenRecord> = await kvGet(kv, keys.token(namespaceId, tokenId));
    if (entry.versionstamp === null) return null;
    const { expiresAt, parentId }: TokenRecord = entry.value;
    if (expiresAt !== null && expiresAt <= nowMs) return null;
    line.push(entry);
    tokenId = parentId;
  }
  return line;
}
