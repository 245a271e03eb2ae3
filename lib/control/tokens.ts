// API token records: found by the hash of the token on every request, listed and revoked by id.
import type { Clock } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { keys } from "../store/keys.ts";
import { kvCommit, kvGet, kvPage } from "../store/kv_call.ts";
import type { TokenRecord } from "../store/records.ts";
import { listPage, type Page, type PageInput } from "./list_page.ts";
import type { Namespaces } from "./namespaces.ts";
import { RecordCache } from "./record_cache.ts";

/** A token and where it belongs. */
export interface KnownToken {
  readonly token: TokenRecord;
  readonly namespaceSlug: string;
}

/** Milliseconds that an expired token stays in the list. */
const KEPT_AFTER_EXPIRY_MS = 86_400_000;
/** Attempts against namespaces that change all the time. */
const MAX_ATTEMPTS = 16;
/** Tokens deleted in one commit, each with its index. */
const REMOVED_AT_ONCE = 100;

/** Every method's errors: `meter_unreachable`. */
export class Tokens {
  readonly #cache: RecordCache<KnownToken>;

  constructor(
    private readonly kv: Deno.Kv,
    private readonly clock: Clock,
    private readonly namespaces: Namespaces,
  ) {
    this.#cache = new RecordCache(clock);
  }

  /** False when the namespace is gone. */
  async add(record: TokenRecord): Promise<boolean> {
    const lifetime = record.expiresAt === null
      ? {}
      : { expireIn: record.expiresAt - this.clock.now() + KEPT_AFTER_EXPIRY_MS };
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const namespace = await kvGet(this.kv, keys.namespace(record.namespaceId));
      if (namespace.versionstamp === null) return false;
      const addition = this.kv.atomic().check(namespace)
        .set(keys.token(record.namespaceId, record.id), record, lifetime)
        .set(
          keys.tokenByHash(record.hash),
          { namespaceId: record.namespaceId, tokenId: record.id },
          lifetime,
        );
      if (await kvCommit(addition)) return true;
    }
    throw new AppError("meter_unreachable");
  }

  /** At most `CACHE_AGE_MS` old; whether it has expired is for the caller to see. */
  byHash(hash: string): KnownToken | null | Promise<KnownToken | null> {
    return this.#cache.read(hash, async () => {
      const pointer = await kvGet(this.kv, keys.tokenByHash(hash));
      if (pointer.versionstamp === null) return null;
      const { namespaceId, tokenId } = pointer.value;
      const [token, namespace] = await Promise.all([
        kvGet(this.kv, keys.token(namespaceId, tokenId)),
        this.namespaces.byId(namespaceId),
      ]);
      if (token.versionstamp === null || namespace === null) return null;
      return { token: token.value, namespaceSlug: namespace.slug };
    });
  }

  list(namespaceId: string, page: PageInput): Promise<Page<TokenRecord>> {
    return listPage(this.kv, keys.tokens(namespaceId), page);
  }

  /** False when there is no such token. From now on this process refuses it; others within `CACHE_AGE_MS`. */
  async remove(namespaceId: string, tokenId: string): Promise<boolean> {
    const { value, versionstamp } = await kvGet(this.kv, keys.token(namespaceId, tokenId));
    if (versionstamp === null) return false;
    try {
      // Token records never change, so the delete needs no check; both keys go together.
      await kvCommit(
        this.kv.atomic().delete(keys.token(namespaceId, tokenId)).delete(keys.tokenByHash(value.hash)),
      );
    } finally {
      this.#cache.forget(value.hash);
    }
    return true;
  }

  /** Forgets what is kept of every token: call it as soon as a namespace is out of reach. */
  forgetAll(): void {
    this.#cache.clear();
  }

  /** Deletes every token of a namespace that is out of reach already. */
  async removeAll(namespaceId: string): Promise<void> {
    for (;;) {
      const entries = await kvPage(this.kv, {
        prefix: keys.tokens(namespaceId),
        after: null,
        limit: REMOVED_AT_ONCE,
      });
      if (entries.length === 0) return;
      const removal = this.kv.atomic();
      for (const { key, value } of entries) removal.delete(key).delete(keys.tokenByHash(value.hash));
      await kvCommit(removal);
    }
  }
}
