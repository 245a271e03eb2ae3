// Namespace records, unique by slug and found by it on every request that addresses one.
import type { Clock } from "../core/clock.ts";
import { type Also, compareAndSet, FASTER, nothingElse, untilCommitted } from "../store/until_committed.ts";
import { keys } from "../store/keys.ts";
import { kvCommit, kvGet } from "../store/kv_call.ts";
import type { NamespaceRecord } from "../store/records.ts";
import { openAccount } from "./balance/change_account.ts";
import { listSlugPage, type Page, type SlugPageInput } from "./list_page.ts";
import { RecordCache } from "./record_cache.ts";

/** Every method's errors: `meter_unreachable`. `also`: what is to happen with a change, or not at all. */
export class Namespaces {
  readonly #cache: RecordCache<NamespaceRecord>;

  constructor(private readonly kv: Deno.Kv, private readonly clock: Clock) {
    this.#cache = new RecordCache(clock);
  }

  /** Creates the namespace with its account. False when the slug is taken. */
  add(record: NamespaceRecord, creditNanoUsd: number, also: Also = nothingElse): Promise<boolean> {
    const pointer = keys.namespaceBySlug(record.slug);
    const addition = this.kv.atomic().check({ key: pointer, versionstamp: null })
      .set(pointer, record.id).set(keys.namespace(record.id), record);
    const account = { namespaceId: record.id, creditNanoUsd, nowMs: record.createdAt };
    return kvCommit(also(openAccount(addition, account)));
  }

  /** A record, at most `CACHE_AGE_MS` old. */
  bySlug(slug: string): NamespaceRecord | null | Promise<NamespaceRecord | null> {
    return this.#cache.read(slug, async () => {
      const pointer = await kvGet(this.kv, keys.namespaceBySlug(slug));
      return pointer.versionstamp === null ? null : await this.byId(pointer.value);
    });
  }

  async byId(namespaceId: string): Promise<NamespaceRecord | null> {
    return (await kvGet(this.kv, keys.namespace(namespaceId))).value;
  }

  list(page: SlugPageInput): Promise<Page<NamespaceRecord>> {
    const all = keys.namespaces();
    return listSlugPage(this.kv, { all, record: keys.namespace, ids: keys.namespacesBySlug() }, page);
  }

  /** The changed record; null when it is gone. */
  async rename(
    record: NamespaceRecord,
    name: string,
    also: Also = nothingElse,
  ): Promise<NamespaceRecord | null> {
    try {
      return await compareAndSet(this.kv, {
        key: keys.namespace(record.id),
        change: (current) => ({ ...current, name }),
        beside: also,
      });
    } finally {
      this.#cache.forget(record.slug);
    }
  }

  /**
   * Removes the record, which frees the slug, and notes that the tokens and databases still exist. It can be
   * repeated.
   */
  async remove(record: NamespaceRecord): Promise<void> {
    const key = keys.namespace(record.id);
    const pointer = keys.namespaceBySlug(record.slug);
    try {
      // A repeated removal must not free a slug that somebody else has taken meanwhile.
      await untilCommitted(async () => {
        const [entry, slug] = await Promise.all([kvGet(this.kv, key), kvGet(this.kv, pointer)]);
        if (entry.versionstamp === null) return;
        const removal = this.kv.atomic().check(entry, slug).delete(key)
          .set(keys.leftover(record.id), { kind: "namespace", sinceMs: this.clock.now() });
        if (slug.value === record.id) removal.delete(pointer);
        return await kvCommit(removal) ? undefined : FASTER;
      });
    } finally {
      this.#cache.forget(record.slug);
    }
  }
}
