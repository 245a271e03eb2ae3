// The record of a database by its slug, which every call asks for.
import type { Clock } from "../core/clock.ts";
import { keys } from "../store/keys.ts";
import { kvGet, kvGetMany, kvPage } from "../store/kv_call.ts";
import { listenToChanges } from "../store/kv_changes.ts";
import type { DatabaseRecord } from "../store/records.ts";
import { RecordCache, TOLD_BOUNDS } from "./record_cache.ts";

/**
 * Records that are read with one that is asked for, those that were made next: each takes 8 µs, one that is asked for by
 * itself 150.
 */
const READ_AHEAD = 32;

/** Errors of its reads: `meter_unreachable`. */
export class DatabasesBySlug {
  readonly #cache: RecordCache<DatabaseRecord>;
  /** Whether every change is told, because nobody but this process makes any. */
  readonly isTold: boolean;

  constructor(private readonly kv: Deno.Kv, clock: Clock) {
    this.isTold = listenToChanges(kv, ([kind, namespaceId, name], value) => {
      if (kind === "database_by_slug") this.forget(String(namespaceId), String(name));
      if (kind === "database") this.#changed(String(namespaceId), String(name), value);
    });
    this.#cache = new RecordCache(clock, this.isTold ? TOLD_BOUNDS : undefined);
  }

  read(namespaceId: string, slug: string): DatabaseRecord | null | Promise<DatabaseRecord | null> {
    return this.#cache.read(cacheKey(namespaceId, slug), async (old) => {
      const key = keys.databaseBySlug(namespaceId, slug);
      if (old !== undefined) {
        // It nearly always is the same database still: one question instead of one after the other.
        const [id, record] = await kvGetMany(this.kv, key, keys.database(namespaceId, old.id));
        if (id.value === old.id) return record.value;
      }
      const pointer = await kvGet(this.kv, key);
      if (pointer.versionstamp === null) return null;
      // Where others change records, they would be too old by the time that anybody asks for them.
      const isAhead = this.isTold && old === undefined;
      return await (isAhead
        ? this.#readAhead(namespaceId, pointer.value)
        : this.#byId(namespaceId, pointer.value));
    });
  }

  /** A record that is asked for, and those behind it for the cache: who asks for one of many soon asks for others. */
  async #readAhead(namespaceId: string, id: string): Promise<DatabaseRecord | null> {
    const moment = this.#cache.moment();
    const page = { prefix: keys.databases(namespaceId), from: id, limit: READ_AHEAD };
    const [first, ...others] = (await kvPage(this.kv, page)).map(({ value }) => value);
    this.#cache.offer(others.map((one) => [cacheKey(namespaceId, one.slug), one]), moment);
    return first?.id === id ? first : null;
  }

  async #byId(namespaceId: string, id: string): Promise<DatabaseRecord | null> {
    return (await kvGet(this.kv, keys.database(namespaceId, id))).value;
  }

  /** To be called after every change. */
  forget(namespaceId: string, slug: string): void {
    this.#cache.forget(cacheKey(namespaceId, slug));
  }

  /** Forgets the record, whatever its slug is or was. */
  #changed(namespaceId: string, databaseId: string, value: unknown): void {
    const slug = typeof value === "object" && value !== null && "slug" in value ? value.slug : undefined;
    if (typeof slug === "string") this.#cache.forget(cacheKey(namespaceId, slug));
    else this.#cache.forgetWhere(({ id }) => id === databaseId);
  }
}

function cacheKey(namespaceId: string, slug: string): string {
  return `${namespaceId}/${slug}`;
}
