// The record of what people and tokens have done in each namespace, newest first, for as long as logs are kept.
import { DAY_MS } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { idFloor, newId } from "../core/ids.ts";
import { type Log, silentLog } from "../core/log.ts";
import type { AuditRecord } from "../store/audit_records.ts";
import { keys } from "../store/keys.ts";
import { kvCall, kvCommit } from "../store/kv_call.ts";
import { removeAll } from "../store/remove_all.ts";
import type { Page, PageInput } from "./list_page.ts";

/** How long records stay, and where it is said that one is lost. */
export interface AuditOptions {
  readonly days: number;
  readonly log: Log;
}

/** Which records: `sinceMs` inclusive, `untilMs` exclusive. */
export interface AuditPageInput extends PageInput {
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
}

/** An act and who did it. What is not given is null, and there are no facts. */
export type SignedAct =
  & Pick<AuditRecord, "namespaceId" | "actor" | "actorName" | "action">
  & Partial<Pick<AuditRecord, "database" | "target" | "facts">>;

/** The record of an act. */
export function actRecord(at: number, act: SignedAct): AuditRecord {
  const { namespaceId, actor, actorName, action, database = null, target = null, facts = {} } = act;
  return { id: newId("aud", at), namespaceId, at, actor, actorName, action, database, target, facts };
}

/** In the place of a namespace's id: what was done to the service as a whole. */
export const SERVICE_AUDIT = "service";

/** All records of one KV. */
export class Audit {
  constructor(
    private readonly kv: Deno.Kv,
    private readonly options: AuditOptions = { days: 30, log: silentLog },
  ) {}

  /**
   * Adds the record of something that has been done. What is done stays done: where KV does not take the record, the
   * log says so instead of the caller's answer.
   */
  async add(record: AuditRecord): Promise<void> {
    const { log } = this.options;
    try {
      await kvCommit(this.addTo(this.kv.atomic(), record));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      log("error", "audit_lost", {
        namespaceId: record.namespaceId,
        action: record.action,
        code: error.code,
      });
    }
  }

  /** Adds the record of what a commit does to this commit. */
  addTo(change: Deno.AtomicOperation, record: AuditRecord): Deno.AtomicOperation {
    return change.set(keys.audit(record.namespaceId, record.id), record, {
      expireIn: this.options.days * DAY_MS,
    });
  }

  /** One page, newest first. Errors: `meter_unreachable`. */
  async list(
    namespaceId: string,
    { sinceMs, untilMs, cursor, pageSize }: AuditPageInput,
  ): Promise<Page<AuditRecord>> {
    const floor = untilMs === null ? null : idFloor("aud", untilMs);
    const end = cursor === null ? floor : floor === null || cursor < floor ? cursor : floor;
    const from = sinceMs === null ? "" : idFloor("aud", sinceMs);
    // KV throws where a range ends before it starts.
    if (end !== null && end <= from) return { records: [], nextCursor: null };
    const start = keys.audit(namespaceId, from);
    const selector = end === null
      ? { start, end: [...keys.audits(namespaceId), "\uffff"] }
      : { start, end: keys.audit(namespaceId, end) };
    const entries = await kvCall(() =>
      Array.fromAsync(this.kv.list<AuditRecord>(selector, { limit: pageSize + 1, reverse: true }))
    );
    const records = entries.slice(0, pageSize).map(({ value }) => value);
    return { records, nextCursor: entries.length > pageSize ? records.at(-1)?.id ?? null : null };
  }

  /** Deletes every record of a removed namespace. */
  async removeAll(namespaceId: string): Promise<void> {
    await removeAll(this.kv, keys.audits(namespaceId));
  }
}
