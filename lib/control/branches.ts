// Branch records, found by the trunk and the ref. A record is added after its storage and removed before it. A branch
// whose deadline has passed no longer exists for anybody, whatever is still stored.
import type { Clock } from "../core/clock.ts";
import { MAX_BRANCHES } from "../core/limits.ts";
import { keys } from "../store/keys.ts";
import { kvCommit, kvEntries, kvGet } from "../store/kv_call.ts";
import type { BranchRecord } from "../store/records.ts";
import { type Bound, roomForOne } from "../store/room_for_one.ts";
import { RecordCache } from "./record_cache.ts";
import { FASTER, untilCommitted } from "../store/until_committed.ts";

/** Names a branch: its trunk, and its ref. */
export interface BranchAddress {
  readonly namespaceId: string;
  readonly trunkId: string;
  readonly ref: string;
}

/** On what a copy becomes the branch, and what is committed with it. */
export interface PutOptions {
  /** Fails unless a living branch has the ref. */
  readonly onlyOver?: boolean;
  /** Adds further writes to the same commit. It may run several times. */
  readonly beside?: (commit: Deno.AtomicOperation, record: BranchRecord) => Promise<void>;
}

/** What became of a new copy. */
export type PutOutcome =
  | {
    readonly ok: true;
    /** The branch that had the ref before, or null. An expired one counts too: its storage still exists. */
    readonly replaced: BranchRecord | null;
  }
  | { readonly ok: false; readonly reason: "trunk_gone" | "branch_gone" | "swept" | "full" };

/** Every method's errors: `meter_unreachable`. */
export class Branches {
  readonly #cache: RecordCache<BranchRecord>;

  constructor(private readonly kv: Deno.Kv, private readonly clock: Clock) {
    this.#cache = new RecordCache(clock);
  }

  /** A branch by its ref, at most `CACHE_AGE_MS` old. Null also when its deadline has passed. */
  byRef(address: BranchAddress): BranchRecord | null | Promise<BranchRecord | null> {
    const { namespaceId, trunkId, ref } = address;
    const found = this.#cache.read(
      cacheKey(address),
      async () => (await kvGet(this.kv, keys.branch(namespaceId, trunkId, ref))).value,
    );
    return found instanceof Promise ? found.then((value) => this.#alive(value)) : this.#alive(found);
  }

  /** The same as KV has it now: another instance may have reset the branch since this one read its record. */
  async current(address: BranchAddress): Promise<BranchRecord | null> {
    this.#cache.forget(cacheKey(address));
    return await this.byRef(address);
  }

  /** The branch whose present copy has this id. */
  async byId(namespaceId: string, databaseId: string): Promise<BranchRecord | null> {
    const pointer = await kvGet(this.kv, keys.branchById(namespaceId, databaseId));
    if (pointer.versionstamp === null) return null;
    const { trunkId, ref } = pointer.value;
    const { value } = await kvGet(this.kv, keys.branch(namespaceId, trunkId, ref));
    return value?.id === databaseId ? this.#alive(value) : null;
  }

  /** The branches of one database, by ref. */
  async list(namespaceId: string, trunkId: string): Promise<BranchRecord[]> {
    const found: BranchRecord[] = [];
    for await (const { value } of kvEntries(this.kv, keys.branchesOf(namespaceId, trunkId))) {
      if (this.#alive(value)) found.push(value);
    }
    return found;
  }

  /** Whether a database has as many branches as it may, and none of them has this ref. */
  async isFull({ namespaceId, trunkId, ref }: BranchAddress): Promise<boolean> {
    const living = await this.list(namespaceId, trunkId);
    return living.length >= MAX_BRANCHES && !living.some((branch) => branch.ref === ref);
  }

  /**
   * Makes announced storage the branch with this ref. The caller removes what was replaced: its storage and its token.
   * Errors also those of `beside`.
   */
  async put(
    make: (current: BranchRecord | null) => BranchRecord,
    address: BranchAddress & { readonly databaseId: string },
    options: PutOptions = {},
  ): Promise<PutOutcome> {
    const { namespaceId, trunkId, ref, databaseId } = address;
    const key = keys.branch(namespaceId, trunkId, ref);
    try {
      return await untilCommitted(async () => {
        const [trunk, current, leftover] = await Promise.all([
          kvGet(this.kv, keys.database(namespaceId, trunkId)),
          kvGet(this.kv, key),
          kvGet(this.kv, keys.leftover(databaseId)),
        ]);
        if (trunk.versionstamp === null) return { ok: false, reason: "trunk_gone" };
        if (leftover.versionstamp === null) return { ok: false, reason: "swept" };
        const alive = this.#alive(current.value);
        if (alive === null && options.onlyOver === true) return { ok: false, reason: "branch_gone" };
        const change = this.kv.atomic().check(trunk, current, leftover).delete(leftover.key);
        if (alive === null && !await roomForOne(this.kv, change, this.#bound(address))) {
          return { ok: false, reason: "full" };
        }
        const record = make(alive);
        change.set(key, record).set(keys.branchById(namespaceId, databaseId), { trunkId, ref });
        if (current.value !== null) this.#leave(change, current.value);
        await options.beside?.(change, record);
        return await kvCommit(change) ? { ok: true, replaced: current.value } : FASTER;
      });
    } finally {
      this.#cache.forget(cacheKey(address));
    }
  }

  /**
   * Removes the record and notes that its storage still exists. False when the branch has been replaced meanwhile.
   */
  async remove(record: BranchRecord): Promise<boolean> {
    const key = keys.branch(record.namespaceId, record.trunkId, record.ref);
    try {
      return await untilCommitted(async () => {
        const entry = await kvGet(this.kv, key);
        if (entry.value?.id !== record.id) return false;
        const removal = this.kv.atomic().check(entry).delete(key);
        this.#leave(removal, entry.value);
        return await kvCommit(removal) ? true : FASTER;
      });
    } finally {
      this.#cache.forget(cacheKey(record));
    }
  }

  /** Notes that rows of the branch were merged, unless it has been replaced meanwhile. */
  async noteMerged(record: BranchRecord): Promise<void> {
    const key = keys.branch(record.namespaceId, record.trunkId, record.ref);
    await untilCommitted(async () => {
      const entry = await kvGet(this.kv, key);
      if (entry.value?.id !== record.id) return true;
      const noted = { ...entry.value, mergedAt: this.clock.now() };
      return await kvCommit(this.kv.atomic().check(entry).set(key, noted)) ? true : FASTER;
    });
    this.#cache.forget(cacheKey(record));
  }

  /** All stored branches of one database, of one namespace, or of everybody, also expired ones. */
  async *stored(
    of: { readonly namespaceId?: string; readonly trunkId?: string },
  ): AsyncGenerator<BranchRecord> {
    const { namespaceId, trunkId } = of;
    const prefix = namespaceId === undefined
      ? keys.branches()
      : trunkId === undefined
      ? keys.branchesIn(namespaceId)
      : keys.branchesOf(namespaceId, trunkId);
    for await (const { value } of kvEntries(this.kv, prefix)) yield value;
  }

  /** Forgets how many were ever made of a trunk that is gone. It can be repeated. */
  async forgetCount(trunkId: string): Promise<void> {
    await kvCommit(this.kv.atomic().delete(keys.branchesAdded(trunkId)));
  }

  /** Whether its deadline has passed or its trunk is gone. */
  async isOver(record: BranchRecord): Promise<boolean> {
    if (record.expiresAt <= this.clock.now()) return true;
    return (await kvGet(this.kv, keys.database(record.namespaceId, record.trunkId))).versionstamp === null;
  }

  #bound({ namespaceId, trunkId }: BranchAddress): Bound {
    const count = async () => (await this.list(namespaceId, trunkId)).length;
    return { added: keys.branchesAdded(trunkId), most: MAX_BRANCHES, count };
  }

  #alive(record: BranchRecord | null): BranchRecord | null {
    return record !== null && record.expiresAt > this.clock.now() ? record : null;
  }

  #leave(change: Deno.AtomicOperation, { namespaceId, id }: BranchRecord): void {
    change.delete(keys.branchById(namespaceId, id))
      .set(keys.leftover(id), { kind: "database", sinceMs: this.clock.now() });
  }
}

function cacheKey({ namespaceId, trunkId, ref }: BranchAddress): string {
  return `${namespaceId}/${trunkId}/${ref}`;
}
