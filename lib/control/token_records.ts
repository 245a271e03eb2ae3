// The KV keys of a token, which are written and deleted together, and the line of its ancestors.
import { DAY_MS } from "../core/clock.ts";
import { keys } from "../store/keys.ts";
import { kvGet } from "../store/kv_call.ts";
import type { TokenRecord } from "../store/records.ts";

/** Milliseconds that an expired token stays in the list. */
const KEPT_AFTER_EXPIRY_MS = DAY_MS;

/** The keys of one token in a commit. */
export const tokenKeys = {
  /** Adds the token's keys to a commit. */
  set(atomic: Deno.AtomicOperation, record: TokenRecord, nowMs: number): Deno.AtomicOperation {
    const { namespaceId, id, hash, expiresAt, secretUntilMs } = record;
    const lifetime = lifetimeUntil(expiresAt, nowMs);
    const pointer = {
      namespaceId,
      tokenId: id,
      ...(secretUntilMs === undefined ? {} : { untilMs: secretUntilMs }),
    };
    atomic.set(keys.token(namespaceId, id), record, lifetime)
      .set(keys.tokenByHash(hash), pointer, lifetimeUntil(secretUntilMs ?? expiresAt, nowMs));
    const giver = giverOf(record);
    return giver === undefined ? atomic : atomic.set(keys.childToken(namespaceId, giver, id), id, lifetime);
  },

  /** Adds the deletion of the keys by which the token is found: from then on nobody can use it. */
  delete(atomic: Deno.AtomicOperation, record: TokenRecord): Deno.AtomicOperation {
    const { namespaceId, id, hash } = record;
    return atomic.delete(keys.token(namespaceId, id)).delete(keys.tokenByHash(hash))
      .delete(keys.tokenUse(namespaceId, id));
  },

  /**
   * Adds the deletion of the giver's pointer to it. It comes last, because the token's children are found through it.
   */
  unlink(atomic: Deno.AtomicOperation, record: TokenRecord): Deno.AtomicOperation {
    const giver = giverOf(record);
    return giver === undefined
      ? atomic
      : atomic.delete(keys.childToken(record.namespaceId, giver, record.id));
  },
};

/** The id of the token or member that gave it; undefined where nobody did. */
export function giverOf({ parentId, member }: TokenOrigin): string | undefined {
  return parentId ?? member?.id;
}

/** Whatever comes from a token that counts in one place counts in no other. */
export function audienceOf({ audience }: TokenRecord): Pick<TokenRecord, "audience"> {
  return audience === undefined ? {} : { audience };
}

/** How long KV keeps what it has of a token, or of a secret of it. */
export function lifetimeUntil(expiresAt: number | null, nowMs: number): { readonly expireIn?: number } {
  return expiresAt === null ? {} : { expireIn: Math.max(1, expiresAt - nowMs + KEPT_AFTER_EXPIRY_MS) };
}

/** The longest line of tokens: bounds the reads of a look-up. */
export const MAX_LINEAGE = 16;

/** Who gave a token. */
export type TokenOrigin = Pick<TokenRecord, "parentId" | "member">;

/** A line of tokens that all count. */
export interface Lineage {
  /** The youngest first. */
  readonly tokens: readonly Deno.KvEntry<TokenRecord>[];
  /** For a commit that holds only while the whole line counts. */
  readonly checks: readonly Deno.AtomicCheck[];
}

/** Where a line is read. */
export interface LineageOptions {
  readonly namespaceId: string;
  readonly nowMs: number;
  /** Called with the id of each token and member before it is read. */
  readonly reading?: (id: string) => void;
}

/**
 * The ancestors of a token to be, the youngest first. A token from a handoff, a claim or a consent lives no longer than
 * who gave it: the answer is null when one of the line is removed or has expired at `nowMs`, when the member at its
 * beginning is gone or has changed, or when the line is too long. Errors: `meter_unreachable`.
 */
export async function lineageOf(
  kv: Deno.Kv,
  origin: TokenOrigin,
  { namespaceId, nowMs, reading }: LineageOptions,
): Promise<Lineage | null> {
  const tokens: Deno.KvEntry<TokenRecord>[] = [];
  let { parentId, member } = origin;
  while (parentId !== undefined) {
    if (tokens.length === MAX_LINEAGE) return null;
    reading?.(parentId);
    const entry: Deno.KvEntryMaybe<TokenRecord> = await kvGet(kv, keys.token(namespaceId, parentId));
    if (entry.versionstamp === null) return null;
    const { expiresAt }: TokenRecord = entry.value;
    if (expiresAt !== null && expiresAt <= nowMs) return null;
    tokens.push(entry);
    ({ parentId, member } = entry.value);
  }
  if (member === undefined) return { tokens, checks: tokens };
  reading?.(member.id);
  const stand = await kvGet(kv, keys.member(namespaceId, member.id));
  return stand.value?.epoch === member.epoch ? { tokens, checks: [...tokens, stand] } : null;
}

/** The token itself and its ancestors. Null and errors as `lineageOf`. */
export function tokenLineage(
  kv: Deno.Kv,
  { tokenId, ...options }: LineageOptions & { readonly tokenId: string },
): Promise<Lineage | null> {
  return lineageOf(kv, { parentId: tokenId }, options);
}
