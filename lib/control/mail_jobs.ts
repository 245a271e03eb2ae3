// Mails that are to be sent: written before the request for one is answered, so that no crash loses it silently.
import { type Clock, DAY_MS, isOfClockPutBack, MINUTE_MS } from "../core/clock.ts";
import { keys } from "../store/keys.ts";
import { kvCommit, kvEntries, kvGet } from "../store/kv_call.ts";
import type { MailJobRecord } from "../store/account_records.ts";
import { type Also, nothingElse } from "../store/until_committed.ts";

/** Milliseconds for which a job is its holder's; then another process may take it. */
const LEASE_MS = 5 * MINUTE_MS;
/** The longest time, in milliseconds, by which a job is put off. */
export const MAX_PAUSE_MS = 15 * MINUTE_MS;
/** Milliseconds after which KV forgets a job that no process has looked at. */
const KEEP_MS = DAY_MS;

/** A job that this process holds. */
export interface HeldJob {
  readonly id: string;
  readonly record: MailJobRecord;
}

/** Every method's errors: `meter_unreachable`, `storage_full`. */
export class MailJobs {
  constructor(private readonly kv: Deno.Kv, private readonly clock: Clock) {}

  async add(job: Omit<MailJobRecord, "holder" | "dueMs" | "attempts">): Promise<HeldJob> {
    const id = crypto.randomUUID();
    const record = { ...job, attempts: 0, ...this.#held() };
    await this.#set(this.kv.atomic(), id, record);
    return { id, record };
  }

  /** Holds the job anew; null when another process has taken it meanwhile. */
  async renew({ id, record }: HeldJob): Promise<HeldJob | null> {
    const entry = await kvGet(this.kv, keys.mailJob(id));
    if (entry.versionstamp === null || entry.value.holder !== record.holder) return null;
    return await this.#take(id, entry);
  }

  /** Holds the jobs that are due and nobody's, at most so many. */
  async takeDue(limit: number): Promise<HeldJob[]> {
    const taken: HeldJob[] = [];
    for await (const entry of kvEntries(this.kv, keys.mailJobs())) {
      if (taken.length >= limit) break;
      const { dueMs } = entry.value;
      const now = this.clock.now();
      // One that was put off by a clock that has been put back since would wait for as long as that clock was ahead.
      if (dueMs > now && !isOfClockPutBack(dueMs - MAX_PAUSE_MS, now)) continue;
      const held = await this.#take(String(entry.key.at(-1)), entry);
      if (held !== null) taken.push(held);
    }
    return taken;
  }

  /** Gives the job to whoever comes after `inMs`. */
  async putOff({ id, record }: HeldJob, inMs: number): Promise<void> {
    const dueMs = this.clock.now() + inMs;
    await this.#set(this.kv.atomic(), id, { ...record, attempts: record.attempts + 1, holder: "", dueMs });
  }

  /** `also`: what is to happen with it, or not at all. */
  async end({ id }: HeldJob, also: Also = nothingElse): Promise<void> {
    await kvCommit(also(this.kv.atomic().delete(keys.mailJob(id))));
  }

  async #take(id: string, entry: Deno.KvEntry<MailJobRecord>): Promise<HeldJob | null> {
    const record = { ...entry.value, ...this.#held() };
    return await this.#set(this.kv.atomic().check(entry), id, record) ? { id, record } : null;
  }

  #held(): Pick<MailJobRecord, "holder" | "dueMs"> {
    return { holder: crypto.randomUUID(), dueMs: this.clock.now() + LEASE_MS };
  }

  #set(commit: Deno.AtomicOperation, id: string, record: MailJobRecord): Promise<boolean> {
    return kvCommit(commit.set(keys.mailJob(id), record, { expireIn: KEEP_MS }));
  }
}
