// Database records, unique by slug in their namespace. A record is added after its storage and removed before it.
import type { Clock } from "../core/clock.ts";
import { newId } from "../core/ids.ts";
import { type Also, compareAndSet, FASTER, nothingElse, untilCommitted } from "../store/until_committed.ts";
import { keys } from "../store/keys.ts";
import { kvCommit, kvEntries, kvGet, kvGetEach, kvGetMany } from "../store/kv_call.ts";
import type { DatabaseRecord, DeletedDatabaseRecord } from "../store/records.ts";
import { DatabasesBySlug } from "./databases_by_slug.ts";
import { MadeToday } from "./made_today.ts";
import { listSlugPage, type Page, type SlugPageInput } from "./list_page.ts";

/** `swept`: making the storage took so long that a sweep has dropped it. */
export type AddOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: "slug_taken" | "namespace_gone" | "swept" };

/** Ids that wait for the next databases at most, and milliseconds for which one of them may wait: long before a sweep. */
const MAX_SPARE = 16;
const SPARE_MS = 120_000;

interface Spare {
  readonly id: string;
  readonly sinceMs: number;
}

/** Every method's errors: `meter_unreachable`. `also`: what is to happen with a change, or not at all. */
export class Databases {
  readonly #bySlug: DatabasesBySlug;
  /** Nobody else makes databases: lists are in the order of ids, and another instance's would be younger than a spare one. */
  readonly #isAlone: boolean;
  /** Announced with the database before them: a commit of its own would be one more sync for each new database. */
  readonly #spare: Spare[] = [];
  readonly #made: MadeToday;
  /** The largest that was given out: additions at the same time may end in another order than that of their spare ids. */
  #largest = "";

  constructor(private readonly kv: Deno.Kv, private readonly clock: Clock) {
    this.#bySlug = new DatabasesBySlug(kv, clock);
    this.#isAlone = this.#bySlug.isTold;
    this.#made = new MadeToday(clock);
  }

  /** Notes that storage with this id is being made. Without `add` a sweep drops it. */
  async announce(databaseId: string): Promise<void> {
    await kvCommit(
      this.kv.atomic().set(keys.leftover(databaseId), { kind: "database", sinceMs: this.clock.now() }),
    );
  }

  /**
   * A new id for a namespace that has been announced. Each is given out once, and a later one is larger. Errors: also
   * `too_many_requests`.
   */
  async announceNew(namespaceId: string): Promise<string> {
    this.#made.take(namespaceId);
    const nowMs = this.clock.now();
    for (let spare = this.#spare.shift(); spare !== undefined; spare = this.#spare.shift()) {
      const isFresh = nowMs >= spare.sinceMs && nowMs - spare.sinceMs < SPARE_MS;
      if (isFresh && spare.id > this.#largest) return this.#largest = spare.id;
    }
    const id = this.#largest = newId("db", nowMs);
    await this.announce(id);
    return id;
  }

  /** Makes announced storage a database. */
  async add(
    record: DatabaseRecord,
    also: Also = nothingElse,
  ): Promise<AddOutcome> {
    const pointer = keys.databaseBySlug(record.namespaceId, record.slug);
    return await untilCommitted(async () => {
      const [namespace, slug, leftover] = await kvGetMany(
        this.kv,
        keys.namespace(record.namespaceId),
        pointer,
        keys.leftover(record.id),
      );
      if (namespace.versionstamp === null) return { ok: false, reason: "namespace_gone" };
      if (slug.versionstamp !== null) return { ok: false, reason: "slug_taken" };
      if (leftover.versionstamp === null) return { ok: false, reason: "swept" };
      const addition = this.kv.atomic().check(namespace, slug, leftover)
        .delete(leftover.key).set(pointer, record.id).set(
          keys.database(record.namespaceId, record.id),
          record,
        );
      const next = this.#nextSpare();
      if (next) addition.set(keys.leftover(next.id), { kind: "database", sinceMs: next.sinceMs });
      if (!await kvCommit(also(addition))) return FASTER;
      if (next) this.#spare.push(next);
      return { ok: true };
    });
  }

  /** A record, at most `CACHE_AGE_MS` old; as it is where nobody but this process changes it. */
  bySlug(namespaceId: string, slug: string): DatabaseRecord | null | Promise<DatabaseRecord | null> {
    return this.#bySlug.read(namespaceId, slug);
  }

  async byId(namespaceId: string, databaseId: string): Promise<DatabaseRecord | null> {
    return (await kvGet(this.kv, keys.database(namespaceId, databaseId))).value;
  }

  /** Those that are there, in the order of `ids`. */
  async byIds(namespaceId: string, ids: readonly string[]): Promise<DatabaseRecord[]> {
    const found = await kvGetEach(this.kv, ids.map((id) => keys.database(namespaceId, id)));
    return found.flatMap(({ value }) => value ?? []);
  }

  list(namespaceId: string, page: SlugPageInput): Promise<Page<DatabaseRecord>> {
    const all = keys.databases(namespaceId);
    const record = (id: string) => keys.database(namespaceId, id);
    return listSlugPage(this.kv, { all, record, ids: keys.databasesBySlug(namespaceId) }, page);
  }

  /** The changed record; null when it is gone. */
  async rename(
    record: DatabaseRecord,
    name: string,
    also: Also = nothingElse,
  ): Promise<DatabaseRecord | null> {
    try {
      return await compareAndSet(this.kv, {
        key: keys.database(record.namespaceId, record.id),
        change: (current) => ({ ...current, name }),
        beside: also,
      });
    } finally {
      this.#bySlug.forget(record.namespaceId, record.slug);
    }
  }

  /** Removes the record and notes that its storage still exists. It can be repeated. */
  async remove(record: DatabaseRecord): Promise<void> {
    const leftover = { kind: "database", sinceMs: this.clock.now() } as const;
    await this.#unlink(record, (removal) => removal.set(keys.leftover(record.id), leftover));
  }

  /**
   * Removes the record; for `keepMs` the database can be restored. False when it is gone, or was deleted meanwhile and
   * brought back under another slug.
   */
  softDelete(record: DatabaseRecord, keepMs: number, also: Also = nothingElse): Promise<boolean> {
    const deletedAt = this.clock.now();
    return this.#unlink(
      record,
      (removal, database) =>
        database.slug !== record.slug
          ? null
          : also(removal).set(keys.deletedDatabase(record.namespaceId, record.id), {
            database,
            deletedAt,
            untilMs: deletedAt + keepMs,
          }),
    );
  }

  /** The last deleted database with that slug that can be restored, or null. */
  async findDeleted(namespaceId: string, slug: string): Promise<DeletedDatabaseRecord | null> {
    let latest: DeletedDatabaseRecord | null = null;
    for await (const { value } of kvEntries(this.kv, keys.deletedDatabasesOf(namespaceId))) {
      if (value.database.slug !== slug || value.untilMs <= this.clock.now()) continue;
      if (latest === null || value.deletedAt > latest.deletedAt) latest = value;
    }
    return latest;
  }

  /** Restores a deleted database under a slug. */
  async undelete(
    deleted: DeletedDatabaseRecord,
    slug: string,
    also: Also = nothingElse,
  ): Promise<AddOutcome> {
    const { namespaceId, id } = deleted.database;
    const record = { ...deleted.database, slug };
    const key = keys.deletedDatabase(namespaceId, id);
    const pointer = keys.databaseBySlug(namespaceId, slug);
    return await untilCommitted(async () => {
      const [namespace, taken, entry] = await Promise.all([
        kvGet(this.kv, keys.namespace(namespaceId)),
        kvGet(this.kv, pointer),
        kvGet(this.kv, key),
      ]);
      if (namespace.versionstamp === null) return { ok: false, reason: "namespace_gone" };
      if (taken.versionstamp !== null) return { ok: false, reason: "slug_taken" };
      if (entry.versionstamp === null) return { ok: false, reason: "swept" };
      const change = this.kv.atomic().check(namespace, taken, entry).delete(key)
        .set(pointer, id).set(keys.database(namespaceId, id), record);
      return await kvCommit(also(change)) ? { ok: true } : FASTER;
    });
  }

  /** Notes the storage of deleted databases as leftovers: of those whose time is over, or of all in one namespace. */
  async expireDeleted(namespaceId: string | null): Promise<string[]> {
    const prefix = namespaceId === null ? keys.deletedDatabases() : keys.deletedDatabasesOf(namespaceId);
    const now = this.clock.now();
    const forgotten: string[] = [];
    for await (const entry of kvEntries(this.kv, prefix)) {
      if (namespaceId === null && entry.value.untilMs > now) continue;
      const { id } = entry.value.database;
      const change = this.kv.atomic().check(entry).delete(entry.key)
        .set(keys.leftover(id), { kind: "database", sinceMs: now });
      if (await kvCommit(change)) forgotten.push(id);
    }
    return forgotten;
  }

  #nextSpare(): Spare | null {
    if (!this.#isAlone || this.#spare.length >= MAX_SPARE) return null;
    const sinceMs = this.clock.now();
    return { id: newId("db", sinceMs), sinceMs };
  }

  async #unlink(
    record: DatabaseRecord,
    note: (removal: Deno.AtomicOperation, database: DatabaseRecord) => Deno.AtomicOperation | null,
  ): Promise<boolean> {
    const key = keys.database(record.namespaceId, record.id);
    // It may have been brought back under another slug since it was read.
    const slugs = new Set([record.slug]);
    try {
      return await untilCommitted(async () => {
        const entry = await kvGet(this.kv, key);
        if (entry.versionstamp === null) return false;
        slugs.add(entry.value.slug);
        const removal = this.kv.atomic().check(entry).delete(key)
          .delete(keys.databaseBySlug(record.namespaceId, entry.value.slug));
        const noted = note(removal, entry.value);
        if (noted === null) return false;
        return await kvCommit(noted) ? true : FASTER;
      });
    } finally {
      for (const slug of slugs) this.#bySlug.forget(record.namespaceId, slug);
    }
  }
}
