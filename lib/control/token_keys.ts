// The KV keys of one token, which are made together and go together.
import { keys } from "../store/keys.ts";
import type { TokenRecord } from "../store/records.ts";

/** Milliseconds that an expired token stays in the list. */
const KEPT_AFTER_EXPIRY_MS = 86_400_000;

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

  /** Adds to a commit the removal of those by which the token is found: from then on nobody can use it. */
  delete(atomic: Deno.AtomicOperation, record: TokenRecord): Deno.AtomicOperation {
    const { namespaceId, id, hash } = record;
    return atomic.delete(keys.token(namespaceId, id)).delete(keys.tokenByHash(hash));
  },

  /** Adds the removal of the parent's pointer to it: last, since the token's own children are found through it. */
  unlink(atomic: Deno.AtomicOperation, { namespaceId, id, parentId }: TokenRecord): Deno.AtomicOperation {
    return parentId === undefined ? atomic : atomic.delete(keys.childToken(namespaceId, parentId, id));
  },
};
