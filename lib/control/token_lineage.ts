// Whom a token descends from. A token that came out of a handoff or of a claim lives no longer than the token that
// handed off or claimed.
import { keys } from "../store/keys.ts";
import { kvGet } from "../store/kv_call.ts";
import type { TokenRecord } from "../store/records.ts";

/** Tokens of one line at most, the oldest included: bounds the reads of a look-up. */
export const MAX_LINEAGE = 16;

/**
 * The token and its ancestors, the youngest first; null when one of them is revoked or has expired at `nowMs`, or the
 * line is too long. `reading` gets each id before it is read. Errors: `meter_unreachable`.
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
