// Approval rules of databases, cached for a moment because every write reads them.
import type { Clock } from "../core/clock.ts";
import { MAX_RULES } from "../core/limits.ts";
import { roomForOne } from "../store/room_for_one.ts";
import {
  type Also,
  compareAndDelete,
  compareAndSet,
  FASTER,
  untilCommitted,
} from "../store/until_committed.ts";
import { keys } from "../store/keys.ts";
import { kvCommit, kvEntries } from "../store/kv_call.ts";
import { removeAll } from "../store/remove_all.ts";
import type { RuleRecord } from "../store/write_records.ts";
import { databaseEntry } from "./database_entry.ts";
import { RecordCache } from "./record_cache.ts";

/** Every method's errors: `meter_unreachable`. `also`: what is to happen with a change, or not at all. */
export class Rules {
  readonly #cache: RecordCache<readonly RuleRecord[]>;

  constructor(private readonly kv: Deno.Kv, clock: Clock) {
    this.#cache = new RecordCache(clock);
  }

  /** The rules of a database in the order of their creation, at most `CACHE_AGE_MS` old. */
  of(databaseId: string): readonly RuleRecord[] | null | Promise<readonly RuleRecord[] | null> {
    return this.#cache.read(databaseId, () => this.list(databaseId));
  }

  async list(databaseId: string): Promise<readonly RuleRecord[]> {
    return await Array.fromAsync(kvEntries(this.kv, keys.rules(databaseId)), (entry) => entry.value);
  }

  /** False where the database has `MAX_RULES` already. Errors: `database_not_found`. */
  add(namespaceId: string, record: RuleRecord, also: Also): Promise<boolean> {
    const { databaseId, id } = record;
    const bound = {
      added: keys.rulesAdded(databaseId),
      most: MAX_RULES,
      count: async () => (await this.list(databaseId)).length,
    };
    const adding = untilCommitted(async () => {
      const database = await databaseEntry(this.kv, { namespaceId, databaseId });
      const addition = this.kv.atomic().check(database).set(keys.rule(databaseId, id), record);
      if (!await roomForOne(this.kv, addition, bound)) return false;
      return await kvCommit(also(addition)) ? true : FASTER;
    });
    return this.#change(databaseId, adding);
  }

  /** The changed rule; null when there is none. */
  change(
    databaseId: string,
    ruleId: string,
    change: (current: RuleRecord) => RuleRecord,
    also: Also<[RuleRecord]>,
  ): Promise<RuleRecord | null> {
    const key = keys.rule(databaseId, ruleId);
    return this.#change(databaseId, compareAndSet(this.kv, { key, change, beside: also }));
  }

  /** False when there is none. */
  async remove(databaseId: string, ruleId: string, also: Also): Promise<boolean> {
    const removed = compareAndDelete(this.kv, keys.rule(databaseId, ruleId), also);
    return await this.#change(databaseId, removed) !== null;
  }

  /** Removes all rules of a database that is gone. It can be repeated. */
  async removeAll(databaseId: string): Promise<void> {
    await this.#change(databaseId, removeAll(this.kv, keys.rules(databaseId)));
    await kvCommit(this.kv.atomic().delete(keys.rulesAdded(databaseId)));
  }

  async #change<Outcome>(databaseId: string, work: Promise<Outcome>): Promise<Outcome> {
    try {
      return await work;
    } finally {
      this.#cache.forget(databaseId);
    }
  }
}
