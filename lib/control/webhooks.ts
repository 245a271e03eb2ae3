// Webhooks of databases: what their owners decided, how far their messages have come, and who delivers them.
import { DAY_MS } from "../core/clock.ts";
import { newId } from "../core/ids.ts";
import { MAX_WEBHOOKS } from "../core/limits_of_changes.ts";
import type {
  WebhookEventRecord,
  WebhookLease,
  WebhookRecord,
  WebhookState,
} from "../store/changes_records.ts";
import { keys } from "../store/keys.ts";
import { kvCommit, kvEntries, kvGet, kvGetMany, kvPage } from "../store/kv_call.ts";
import { roomForOne } from "../store/room_for_one.ts";
import {
  type Also,
  compareAndDelete,
  compareAndSet,
  FASTER,
  nothingElse,
  untilCommitted,
} from "../store/until_committed.ts";
import { databaseEntry } from "./database_entry.ts";

/** Milliseconds that an event waits for its delivery: longer than a message is tried. */
const EVENT_MS = 8 * DAY_MS;
/** Milliseconds that a process may deliver without saying again that it does: longer than one attempt takes. */
export const LEASE_MS = 15_000;
/** Events read at once. */
const EVENTS_AT_ONCE = 100;

/** Adds an event to a commit that makes it true. */
export function withEvent(
  commit: Deno.AtomicOperation,
  databaseId: string,
  event: WebhookEventRecord,
): Deno.AtomicOperation {
  return commit.set(keys.webhookEvent(databaseId, newId("wev", event.at)), event, { expireIn: EVENT_MS });
}

/** A state as it was read, and the lease under which it may be changed. */
export interface HeldState {
  readonly entry: Deno.KvEntryMaybe<WebhookState>;
  readonly lease: Deno.KvEntryMaybe<WebhookLease>;
}

/** Every method's errors: `meter_unreachable`. `also`: what is to happen with a change, or not at all. */
export class Webhooks {
  constructor(private readonly kv: Deno.Kv) {}

  async list(databaseId: string): Promise<WebhookRecord[]> {
    return await Array.fromAsync(kvEntries(this.kv, keys.webhooks(databaseId)), ({ value }) => value);
  }

  async all(): Promise<WebhookRecord[]> {
    return await Array.fromAsync(kvEntries(this.kv, keys.allWebhooks()), ({ value }) => value);
  }

  async find(databaseId: string, webhookId: string): Promise<WebhookRecord | null> {
    return (await kvGet(this.kv, keys.webhook(databaseId, webhookId))).value;
  }

  /** False where the database has `MAX_WEBHOOKS` already. Errors: `database_not_found`. */
  add(record: WebhookRecord, state: WebhookState, also: Also = nothingElse): Promise<boolean> {
    const { databaseId, id } = record;
    const bound = {
      added: keys.webhooksAdded(databaseId),
      most: MAX_WEBHOOKS,
      count: async () => (await this.list(databaseId)).length,
    };
    return untilCommitted(async () => {
      const database = await databaseEntry(this.kv, record);
      const addition = this.kv.atomic().check(database)
        .set(keys.webhook(databaseId, id), record)
        .set(keys.webhookState(id), state);
      if (!await roomForOne(this.kv, addition, bound)) return false;
      return await kvCommit(also(addition)) ? true : FASTER;
    });
  }

  /** Null when there is none. `givesUp`: the message that is being sent is given up in the same commit. */
  change(
    databaseId: string,
    webhookId: string,
    change: (current: WebhookRecord) => WebhookRecord,
    { givesUp, also = nothingElse }: { readonly givesUp: boolean; readonly also?: Also },
  ): Promise<WebhookRecord | null> {
    return untilCommitted(async () => {
      const found = [keys.webhook(databaseId, webhookId), keys.webhookState(webhookId)] as const;
      const [record, state] = await kvGetMany(this.kv, ...found);
      if (record.versionstamp === null) return null;
      const next = change(record.value);
      const commit = this.kv.atomic().check(record).set(record.key, next);
      if (givesUp && state.value) commit.check(state).set(state.key, { ...state.value, pending: null });
      return await kvCommit(also(commit)) ? next : FASTER;
    });
  }

  /** False when there is none. */
  async remove(databaseId: string, webhookId: string, also: Also = nothingElse): Promise<boolean> {
    const removed = await compareAndDelete(
      this.kv,
      keys.webhook(databaseId, webhookId),
      (commit) => also(commit.delete(keys.webhookState(webhookId)).delete(keys.webhookLease(webhookId))),
    );
    return removed !== null;
  }

  async removeAll(databaseId: string): Promise<void> {
    for (const { id } of await this.list(databaseId)) await this.remove(databaseId, id);
    await kvCommit(this.kv.atomic().delete(keys.webhooksAdded(databaseId)));
  }

  async state(webhookId: string): Promise<WebhookState | null> {
    return (await this.stateEntry(webhookId)).value;
  }

  /** To be looked at without a lease. */
  stateEntry(webhookId: string): Promise<Deno.KvEntryMaybe<WebhookState>> {
    return kvGet(this.kv, keys.webhookState(webhookId));
  }

  /** The owner's change of a state. Null when there is none. */
  changeState(
    webhookId: string,
    change: (current: WebhookState) => WebhookState,
    also: Also = nothingElse,
  ): Promise<WebhookState | null> {
    return compareAndSet(this.kv, { key: keys.webhookState(webhookId), change, beside: also });
  }

  /** Takes the lease, or goes on with it. Null while another process has it; `alone`: there is no other process. */
  async hold(
    webhookId: string,
    { holder, nowMs, alone }: { readonly holder: string; readonly nowMs: number; readonly alone: boolean },
  ): Promise<HeldState | null> {
    const former = await kvGet(this.kv, keys.webhookLease(webhookId));
    const others = former.value !== null && former.value.holder !== holder && former.value.untilMs > nowMs;
    if (others && !alone) return null;
    const lease = { holder, untilMs: nowMs + LEASE_MS };
    const taken = await kvCommit(
      this.kv.atomic().check(former).set(former.key, lease, { expireIn: 4 * LEASE_MS }),
    );
    if (!taken) return null;
    return {
      entry: await this.stateEntry(webhookId),
      lease: await kvGet(this.kv, keys.webhookLease(webhookId)),
    };
  }

  /** False where the state has changed since it was read, or another process has taken the lease. */
  async note({ entry, lease }: HeldState, next: WebhookState): Promise<boolean> {
    return await kvCommit(this.kv.atomic().check(entry, lease).set(entry.key, next));
  }

  /** The events of a database behind an id, oldest first. */
  async *events(
    databaseId: string,
    afterId: string,
  ): AsyncGenerator<{ id: string; event: WebhookEventRecord }> {
    for (let after = afterId;;) {
      const found = await kvPage(this.kv, {
        prefix: keys.webhookEvents(databaseId),
        after,
        limit: EVENTS_AT_ONCE,
      });
      for (const { key, value: event } of found) {
        after = String(key.at(-1));
        yield { id: after, event };
      }
      if (found.length < EVENTS_AT_ONCE) return;
    }
  }

  async addEvent(databaseId: string, event: WebhookEventRecord): Promise<void> {
    await kvCommit(withEvent(this.kv.atomic(), databaseId, event));
  }
}
