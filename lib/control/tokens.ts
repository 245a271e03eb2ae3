// API token records: found by the hash of the token on every request, listed and removed by id.
import type { Clock } from "../core/clock.ts";
import { keys } from "../store/keys.ts";
import { kvCommit, kvEntries, kvGet, kvPage } from "../store/kv_call.ts";
import type { TokenRecord } from "../store/records.ts";
import { listPage, type Page, type PageInput } from "./list_page.ts";
import { MadeToday } from "./made_today.ts";
import type { Namespaces } from "./namespaces.ts";
import { RecordCache } from "./record_cache.ts";
import { audienceOf, giverOf, lineageOf, MAX_LINEAGE, tokenKeys, tokenLineage } from "./token_records.ts";
import {
  type Also,
  compareAndDelete,
  FASTER,
  nothingElse,
  untilCommitted,
} from "../store/until_committed.ts";

/** What became of a token in a commit with others. */
export type AddedToken =
  | { readonly ok: true; readonly expiresAt: number | null }
  | { readonly ok: false; readonly reason: "namespace_gone" | "parent_gone" | "too_deep" };

/** A token and its namespace. */
export interface KnownToken {
  readonly token: TokenRecord;
  readonly namespaceSlug: string;
  /** When the secret ends by which it was found; absent: with the token. */
  readonly secretUntilMs?: number;
}

/** Tokens deleted in one commit, each with its index. */
const REMOVED_AT_ONCE = 100;
/** Givers of cached tokens, remembered while their children may be cached. */
const MAX_ANCESTORS = 10_000;

/** Every method's errors: `meter_unreachable`. `also`: what is to happen with a change, or not at all. */
export class Tokens {
  readonly #cache: RecordCache<KnownToken>;
  /** Ids of tokens and members on which cached tokens depend. More than needed does no harm. */
  readonly #ancestors = new Set<string>();
  readonly #made: MadeToday;

  constructor(
    private readonly kv: Deno.Kv,
    private readonly clock: Clock,
    private readonly namespaces: Namespaces,
  ) {
    this.#cache = new RecordCache(clock);
    this.#made = new MadeToday(clock);
  }

  /** False when the namespace is gone. Errors: also `too_many_requests`. */
  async add(record: TokenRecord, also: Also = nothingElse): Promise<boolean> {
    this.#made.take(record.namespaceId);
    return await untilCommitted(async () => {
      const namespace = await kvGet(this.kv, keys.namespace(record.namespaceId));
      if (namespace.versionstamp === null) return false;
      const addition = also(this.kv.atomic().check(namespace));
      return await kvCommit(tokenKeys.set(addition, record, this.clock.now())) ? true : FASTER;
    });
  }

  /**
   * Adds a token to a commit, which holds only while the namespace and whoever gives the token are there. One with a parent
   * ends with it and expires no later; `expiresAt` in the answer says when.
   */
  async addTo(commit: Deno.AtomicOperation, record: TokenRecord): Promise<AddedToken> {
    const { namespaceId, parentId } = record;
    const nowMs = this.clock.now();
    const namespace = await kvGet(this.kv, keys.namespace(namespaceId));
    if (namespace.versionstamp === null) return { ok: false, reason: "namespace_gone" };
    commit.check(namespace);
    if (parentId === undefined) {
      tokenKeys.set(commit, record, nowMs);
      return { ok: true, expiresAt: record.expiresAt };
    }
    const line = await tokenLineage(this.kv, { namespaceId, tokenId: parentId, nowMs });
    const parent = line?.tokens[0]?.value;
    if (line === null || parent === undefined) return { ok: false, reason: "parent_gone" };
    if (line.tokens.length === MAX_LINEAGE) return { ok: false, reason: "too_deep" };
    const expiresAt = earlier(record.expiresAt, parent.expiresAt);
    const child = { ...record, expiresAt, ...audienceOf(parent) };
    tokenKeys.set(commit.check(...line.checks), child, nowMs);
    return { ok: true, expiresAt };
  }

  /**
   * A token by its hash, at most `CACHE_AGE_MS` old. The caller checks whether it has expired. A token with an
   * ancestor that is gone or has expired is unknown.
   */
  byHash(hash: string): KnownToken | null | Promise<KnownToken | null> {
    return this.#cache.read(hash, async () => {
      const pointer = await kvGet(this.kv, keys.tokenByHash(hash));
      if (pointer.versionstamp === null) return null;
      const { namespaceId, tokenId, untilMs } = pointer.value;
      // It has had other secrets, which may be cached too.
      if (untilMs !== undefined) this.#noteAncestor(tokenId);
      const [token, namespace] = await Promise.all([
        kvGet(this.kv, keys.token(namespaceId, tokenId)),
        this.namespaces.byId(namespaceId),
      ]);
      if (token.versionstamp === null || namespace === null) return null;
      if (!await this.#hasAncestors(token.value)) return null;
      return {
        token: token.value,
        namespaceSlug: namespace.slug,
        ...(untilMs === undefined ? {} : { secretUntilMs: untilMs }),
      };
    });
  }

  /** Null for a token that has been revoked, or is forgotten because it has expired. */
  async byId(namespaceId: string, tokenId: string): Promise<TokenRecord | null> {
    return (await kvGet(this.kv, keys.token(namespaceId, tokenId))).value;
  }

  list(namespaceId: string, page: PageInput): Promise<Page<TokenRecord>> {
    return listPage(this.kv, keys.tokens(namespaceId), page);
  }

  /**
   * Removes a token; false when there is none. This process refuses it and its descendants at once, others within
   * `CACHE_AGE_MS`. It can be repeated, and then removes what a crash has left of the descendants.
   */
  async remove(
    namespaceId: string,
    tokenId: string,
    also: Also<[TokenRecord]> = nothingElse,
  ): Promise<boolean> {
    const removed = await this.#removeRecord(namespaceId, tokenId, also);
    for await (const child of kvEntries(this.kv, keys.childTokens(namespaceId, tokenId))) {
      if (!await this.remove(namespaceId, child.value)) await kvCommit(this.kv.atomic().delete(child.key));
    }
    if (removed !== null && giverOf(removed) !== undefined) {
      await kvCommit(tokenKeys.unlink(this.kv.atomic(), removed));
    }
    return removed !== null;
  }

  /**
   * Removes the tokens that a member gave out and that have ended with its change; `epoch` is the member's now, null of
   * one that is gone.
   */
  async endFormer(namespaceId: string, memberId: string, epoch: number | null): Promise<void> {
    if (this.#ancestors.has(memberId)) this.forgetAll();
    for await (const { key, value: tokenId } of kvEntries(this.kv, keys.childTokens(namespaceId, memberId))) {
      const token = await this.byId(namespaceId, tokenId);
      if (token?.member !== undefined && token.member.epoch === epoch) continue;
      if (!await this.remove(namespaceId, tokenId)) await kvCommit(this.kv.atomic().delete(key));
    }
  }

  /** Empties the cache: to be called when a namespace is removed. */
  forgetAll(): void {
    this.#cache.clear();
    this.#ancestors.clear();
  }

  /** Deletes every token of a removed namespace. */
  async removeAll(namespaceId: string): Promise<void> {
    for (;;) {
      const entries = await kvPage(this.kv, {
        prefix: keys.tokens(namespaceId),
        after: null,
        limit: REMOVED_AT_ONCE,
      });
      if (entries.length === 0) return;
      const removal = this.kv.atomic();
      for (const { value } of entries) tokenKeys.unlink(tokenKeys.delete(removal, value), value);
      await kvCommit(removal);
    }
  }

  /** Null when there is none, or no more. */
  async #removeRecord(
    namespaceId: string,
    tokenId: string,
    also: Also<[TokenRecord]>,
  ): Promise<TokenRecord | null> {
    const hashes = new Set<string>();
    try {
      return await compareAndDelete(this.kv, keys.token(namespaceId, tokenId), (removal, record) => {
        hashes.add(record.hash);
        return also(tokenKeys.delete(removal, record), record);
      });
    } finally {
      if (this.#ancestors.has(tokenId)) this.forgetAll();
      for (const hash of hashes) this.#cache.forget(hash);
    }
  }

  /** Each ancestor is noted before it is read: so its removal finds the note, or this read finds it gone. */
  async #hasAncestors(token: TokenRecord): Promise<boolean> {
    if (giverOf(token) === undefined) return true;
    const line = await lineageOf(this.kv, token, {
      namespaceId: token.namespaceId,
      nowMs: this.clock.now(),
      reading: (id) => this.#noteAncestor(id),
    });
    return line !== null;
  }

  #noteAncestor(id: string): void {
    if (this.#ancestors.size >= MAX_ANCESTORS) this.forgetAll();
    this.#ancestors.add(id);
  }
}

/** Null: never. */
function earlier(one: number | null, other: number | null): number | null {
  return one === null || other === null ? one ?? other : Math.min(one, other);
}
