// Published endpoints and their revisions. Every change is one commit of the record and its revision. What `/p` needs
// is cached for a moment.
import type { DatabaseIds } from "../core/database_ids.ts";
import type { Clock } from "../core/clock.ts";
import type { EndpointSpec, EndpointStatus } from "../core/endpoint_spec.ts";
import { CACHE_AGE_MS } from "../core/limits.ts";
import { keys } from "../store/keys.ts";
import { kvCommit, kvEntries, kvGet } from "../store/kv_call.ts";
import type { EndpointRecord, EndpointRevision } from "../store/records.ts";
import { removeAll } from "../store/remove_all.ts";
import { databaseEntry } from "./database_entry.ts";
import { countSpecs, removeOldRevisions, revisionAt } from "./endpoint_room.ts";
import { RecordCache } from "./record_cache.ts";
import { type Also, FASTER, untilCommitted } from "../store/until_committed.ts";

/** Which endpoint is changed, and by whom. `actor` is the id of the API token, or `operator`. */
export interface EndpointChange extends DatabaseIds {
  readonly slug: string;
  readonly actor: string;
  /** What is to happen with the change, or not at all. */
  readonly also?: Also;
}

/** What became of a change of status. */
export type StatusOutcome =
  | { readonly ok: true; readonly record: EndpointRecord }
  | { readonly ok: false; readonly reason: "not_found" }
  | { readonly ok: false; readonly reason: "wrong_status"; readonly status: EndpointStatus };

/** The changed record; null changes nothing. */
type Next = Pick<EndpointRecord, "spec" | "status"> & { readonly change: EndpointRevision["change"] };

/** Endpoints in the cache: above 5,000 hot ones a read of KV is cheaper than the memory. */
const CACHE = { maxAgeMs: CACHE_AGE_MS, maxEntries: 5_000 } as const;
/** Databases whose list of published endpoints is in the cache. */
const LIST_CACHE = { maxAgeMs: CACHE_AGE_MS, maxEntries: 100 } as const;

/** Every method's errors: `meter_unreachable`. */
export class Endpoints {
  readonly #cache: RecordCache<EndpointRecord>;
  readonly #published: RecordCache<readonly EndpointRecord[]>;
  readonly #usersTables: RecordCache<readonly string[]>;

  constructor(private readonly kv: Deno.Kv, private readonly clock: Clock) {
    this.#cache = new RecordCache(clock, CACHE);
    this.#published = new RecordCache(clock, LIST_CACHE);
    this.#usersTables = new RecordCache(clock);
  }

  /** An endpoint of any status, at most `CACHE_AGE_MS` old, and never older than a change by this process. */
  bySlug(
    databaseId: string,
    slug: string,
  ): EndpointRecord | null | Promise<EndpointRecord | null> {
    return this.#cache.read(cacheKey(databaseId, slug), () => this.read(databaseId, slug));
  }

  /** The published endpoints, sorted by slug, as old as `bySlug`. For strangers' questions. */
  async published(databaseId: string): Promise<readonly EndpointRecord[]> {
    const read = async () => (await this.list(databaseId)).filter(({ status }) => status === "published");
    return await this.#published.read(databaseId, read) ?? [];
  }

  /** The users tables that sign-ups and log-ins of any status name, as old as `bySlug`. */
  async usersTables(databaseId: string): Promise<readonly string[]> {
    const read = async () => [
      ...new Set((await this.list(databaseId)).flatMap(({ spec }) => spec.authConfig?.usersTable ?? [])),
    ];
    return await this.#usersTables.read(databaseId, read) ?? [];
  }

  /** An endpoint as it is now. */
  async read(databaseId: string, slug: string): Promise<EndpointRecord | null> {
    return (await kvGet(this.kv, keys.endpoint(databaseId, slug))).value;
  }

  /** All endpoints as they are now, sorted by slug. */
  async list(databaseId: string): Promise<EndpointRecord[]> {
    return await Array.fromAsync(kvEntries(this.kv, keys.endpoints(databaseId)), (entry) => entry.value);
  }

  /** A new draft; null when the slug is taken. */
  async create(spec: EndpointSpec, by: EndpointChange): Promise<EndpointRecord | null> {
    return await this.#put(
      by,
      (current) => current === null ? { spec, status: "draft", change: "created" } : null,
    );
  }

  /** Replaces the specification and keeps the status; null when there is no such endpoint, or not of that revision. */
  async replace(spec: EndpointSpec, by: EndpointChange, revision?: number): Promise<EndpointRecord | null> {
    return await this.#put(
      by,
      (current) =>
        current === null || (revision ?? current.revision) !== current.revision
          ? null
          : { spec, status: current.status, change: "updated" },
    );
  }

  /** Makes the specification of an older revision the newest one. A deleted endpoint comes back as a draft. */
  async restoreRevision(revision: EndpointRevision, by: EndpointChange): Promise<EndpointRecord | null> {
    const { spec } = revision;
    return await this.#put(
      by,
      (current) => ({ spec, status: current?.status ?? "draft", change: "restored" }),
    );
  }

  /** Changes the status from one of `from`. A change to the present status changes nothing and leaves no revision. */
  async setStatus(
    { status, from }: { readonly status: EndpointStatus; readonly from: readonly EndpointStatus[] },
    by: EndpointChange,
  ): Promise<StatusOutcome> {
    const seen: { current: EndpointRecord | null } = { current: null };
    const changed = await this.#put(by, (current) => {
      seen.current = current;
      return current && from.includes(current.status)
        ? { spec: current.spec, status, change: "status" }
        : null;
    });
    const record = changed ?? seen.current;
    if (record === null) return { ok: false, reason: "not_found" };
    if (record.status === status) return { ok: true, record };
    return { ok: false, reason: "wrong_status", status: record.status };
  }

  /** Removes an endpoint and answers what it was; null when there is none. */
  async remove(by: EndpointChange): Promise<EndpointRecord | null> {
    const { databaseId, slug, actor } = by;
    const key = keys.endpoint(databaseId, slug);
    try {
      return await untilCommitted(async () => {
        const entry = await kvGet(this.kv, key);
        if (entry.versionstamp === null) return null;
        const { spec, status, revision } = entry.value;
        const [next, at] = [revision + 1, this.clock.now()];
        const last = { revision: next, at, actor, change: "deleted", spec, status } as const;
        const removal = this.kv.atomic().check(entry).delete(key);
        return await this.#commit(removal, by, { before: spec, revision: last }) ? entry.value : FASTER;
      });
    } finally {
      this.#forget(databaseId, slug);
    }
  }

  /** The revisions, newest first, also of a deleted endpoint. */
  async revisions(databaseId: string, slug: string): Promise<EndpointRevision[]> {
    const entries = kvEntries(this.kv, keys.endpointRevisions(databaseId, slug));
    return (await Array.fromAsync(entries, (entry) => entry.value)).reverse();
  }

  async revision(databaseId: string, slug: string, number: number): Promise<EndpointRevision | null> {
    return (await kvGet(this.kv, keys.endpointRevision(databaseId, slug, number))).value;
  }

  /** Removes all endpoints of a database with their revisions. It can be repeated. */
  async removeAll(databaseId: string): Promise<void> {
    await removeAll(this.kv, keys.endpoints(databaseId));
    await removeAll(this.kv, keys.endpointRevisionsOf(databaseId));
    await kvCommit(this.kv.atomic().delete(keys.endpointCharacters(databaseId)));
    this.#cache.clear();
    this.#forgetLists(databaseId);
  }

  /**
   * Commits what `next` makes of the record; `next` may run several times. Null when it changes nothing. Errors:
   * `database_not_found`, `too_many_endpoints`.
   */
  async #put(
    by: EndpointChange,
    next: (current: EndpointRecord | null) => Next | null,
  ): Promise<EndpointRecord | null> {
    const { databaseId, slug, actor } = by;
    const key = keys.endpoint(databaseId, slug);
    try {
      return await untilCommitted(async () => {
        const entry = await kvGet(this.kv, key);
        const chosen = next(entry.value);
        if (chosen === null) return null;
        const { spec, status, change } = chosen;
        const database = await databaseEntry(this.kv, by);
        const now = this.clock.now();
        const revision = (entry.value?.revision ?? await revisionAt(this.kv, by, "end")) + 1;
        const record = {
          databaseId,
          spec,
          status,
          revision,
          createdAt: entry.value?.createdAt ?? now,
          updatedAt: now,
        };
        const commit = this.kv.atomic().check(database, entry).set(key, record);
        const written = { revision, at: now, actor, change, spec, status };
        const before = entry.value?.spec ?? null;
        return await this.#commit(commit, by, { before, revision: written }) ? record : FASTER;
      });
    } finally {
      this.#forget(databaseId, slug);
    }
  }

  #forget(databaseId: string, slug: string): void {
    this.#cache.forget(cacheKey(databaseId, slug));
    this.#forgetLists(databaseId);
  }

  #forgetLists(databaseId: string): void {
    this.#published.forget(databaseId);
    this.#usersTables.forget(databaseId);
  }

  /** Commits with the next revision, with which the oldest of too many go. False when a check failed. Errors: `too_many_endpoints`. */
  async #commit(
    commit: Deno.AtomicOperation,
    by: EndpointChange,
    { before, revision }: { readonly before: EndpointSpec | null; readonly revision: EndpointRevision },
  ): Promise<boolean> {
    const { databaseId } = by;
    await countSpecs(this.kv, commit, { databaseId, before, revision, list: () => this.list(databaseId) });
    const key = keys.endpointRevision(databaseId, by.slug, revision.revision);
    commit.check({ key, versionstamp: null }).set(key, revision);
    await removeOldRevisions(this.kv, commit, by, revision);
    return await kvCommit(by.also?.(commit) ?? commit);
  }
}

function cacheKey(databaseId: string, slug: string): string {
  return `${databaseId}/${slug}`;
}
