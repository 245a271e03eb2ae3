// Approvals: writes that wait for a person, found by their token's hash or listed by namespace.
import { type Clock, DAY_MS, isOfClockPutBack, isoTime } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { type Log, silentLog } from "../core/log.ts";
import { InTurn } from "../core/in_turn.ts";
import { roomForOne } from "../store/room_for_one.ts";
import { type Also, compareAndSet, FASTER, nothingElse, untilCommitted } from "../store/until_committed.ts";
import { keys } from "../store/keys.ts";
import { kvCommit, kvEntries, kvGet } from "../store/kv_call.ts";
import type { WebhookEventRecord } from "../store/changes_records.ts";
import type { ApprovalOutcome, ApprovalRecord } from "../store/write_records.ts";
import { OpenApprovals, type OpenPlace } from "./open_approvals.ts";
import { withEvent } from "./webhooks.ts";

/** Milliseconds that an approval can be redeemed, and that its state can be read afterwards. */
export const APPROVAL_MS = DAY_MS;

/** Milliseconds after which a redemption without an outcome is one whose process has ended, or could not note it. */
const REDEMPTION_MS = 60_000;

/** Approvals that are counted: every page says how many wait, and must not take longer where thousands do. */
export const MOST_WAITING = 100;

/** The approval as it is now: a deadline that has passed counts unless it was redeemed. */
export type ApprovalState = ApprovalRecord["state"] | "expired";

/** What webhooks are told of an approval: no values, no text, no name of a person. */
function eventOf(
  type: "approval.requested" | "approval.decided",
  { id: approvalId, page: approvalUrl, state, hits, expiresAt }: ApprovalRecord,
  at: number,
): WebhookEventRecord {
  const about = hits.map(({ table, action, ruleId }) => ({ table, action, ruleId }));
  const page = approvalUrl === undefined ? {} : { approvalUrl };
  return { type, at, data: { approvalId, ...page, state, hits: about, expiresAt: isoTime(expiresAt) } };
}

/** Whether nothing is noted yet of the redemption that has begun. */
function isOpenEnded({ state, redeemedAt, outcome }: ApprovalRecord): boolean {
  return state === "redeemed" && redeemedAt !== undefined && (outcome ?? null) === null;
}

/** A call that waits for the same approval when it comes again. */
export interface RepeatableCall {
  /** A keyed hash of what distinguishes it. */
  readonly hash: string;
  /** Which of its approvals this is, from 0. */
  readonly number: number;
}

/** Every method's errors: `meter_unreachable`. */
export class Approvals {
  /** By database. */
  readonly #additions = new InTurn();
  readonly #open: OpenApprovals;

  constructor(
    private readonly kv: Deno.Kv,
    private readonly clock: Clock,
    private readonly log: Log = silentLog,
  ) {
    this.#open = new OpenApprovals(kv, clock, this);
  }

  stateOf(record: ApprovalRecord): ApprovalState {
    const open = record.state === "pending" || record.state === "approved";
    return open && record.expiresAt <= this.clock.now() ? "expired" : record.state;
  }

  /** Whether its write runs at this moment: it may come back for another look. */
  isBeingRedeemed(record: ApprovalRecord): boolean {
    return isOpenEnded(record) && !this.#isOver(record);
  }

  /** Whether nobody knows what became of its redemption: the process has ended in it. Only while an approval lives. */
  isCutOff(record: ApprovalRecord): boolean {
    return isOpenEnded(record) && this.#isOver(record) && this.clock.now() < record.expiresAt;
  }

  /** By a clock that has been put back since, it would last for as long as that clock was ahead. */
  #isOver({ redeemedAt = 0 }: ApprovalRecord): boolean {
    const now = this.clock.now();
    return now >= redeemedAt + REDEMPTION_MS || isOfClockPutBack(redeemedAt, now);
  }

  /** The number of the newest approval of a call; 0 where there is none. */
  async newestOf(callHash: string): Promise<number> {
    return (await kvGet(this.kv, keys.newestApproval(callHash))).value ?? 0;
  }

  /**
   * Adds an approval, of a call that may be repeated as its newest, unless there is one with this token, or the database or
   * whoever asks has as many that are open as may be.
   */
  async add(
    record: ApprovalRecord,
    call: RepeatableCall | null = null,
  ): Promise<"added" | "known" | "too_many"> {
    const { databaseId, tokenHash } = record;
    const bound = {
      added: keys.approvalsAdded(databaseId),
      expireIn: 2 * APPROVAL_MS,
      most: 1,
      count: async () => await this.areMany(record) ? 1 : 0,
    };
    const attempt = async () => {
      if (await this.byHash(tokenHash) !== null) return "known";
      const addition = this.#addition(record, call);
      if (!await roomForOne(this.kv, addition, bound)) return "too_many";
      return await kvCommit(addition) ? "added" : FASTER;
    };
    // Of many at once each that comes first makes all others count again.
    return await this.#additions.run(databaseId, () => untilCommitted(attempt));
  }

  #addition(record: ApprovalRecord, call: RepeatableCall | null): Deno.AtomicOperation {
    const lifetime = { expireIn: 2 * APPROVAL_MS };
    const byHash = keys.approvalByHash(record.tokenHash);
    const commit = this.kv.atomic().check({ key: byHash, versionstamp: null })
      .set(keys.approval(record.namespaceId, record.id), record, lifetime)
      .set(byHash, { namespaceId: record.namespaceId, approvalId: record.id }, lifetime);
    if (call !== null) commit.set(keys.newestApproval(call.hash), call.number, lifetime);
    withEvent(commit, record.databaseId, eventOf("approval.requested", record, record.createdAt));
    return this.#noteState(commit, record);
  }

  /** See `OpenApprovals`. */
  askerOf(token: { readonly namespaceId: string; readonly tokenId: string }): Promise<string> {
    return this.#open.askerOf(token);
  }

  /** Whether the next approval of this caller has no room: too many wait, for a decision or to be redeemed. */
  areMany(place: OpenPlace): Promise<boolean> {
    return this.#open.areMany(place);
  }

  async byHash(hash: string): Promise<ApprovalRecord | null> {
    const pointer = (await kvGet(this.kv, keys.approvalByHash(hash))).value;
    return pointer && await this.byId(pointer.namespaceId, pointer.approvalId);
  }

  async byId(namespaceId: string, approvalId: string): Promise<ApprovalRecord | null> {
    return (await kvGet(this.kv, keys.approval(namespaceId, approvalId))).value;
  }

  /** Approvals of a namespace, newest first, of one state or all. */
  async list(namespaceId: string, state: ApprovalState | null): Promise<ApprovalRecord[]> {
    const found: ApprovalRecord[] = [];
    for await (const { value } of kvEntries(this.kv, keys.approvals(namespaceId))) {
      if (state === null || this.stateOf(value) === state) found.push(value);
    }
    return found.reverse();
  }

  /**
   * How many of a namespace wait, up to `MOST_WAITING`. Those that were held before a service knew this index are not counted:
   * they are gone a day after the update.
   */
  async countWaiting(namespaceId: string): Promise<number> {
    let waiting = 0;
    for await (const { value } of kvEntries(this.kv, keys.waitingApprovals(namespaceId))) {
      if (value > this.clock.now()) waiting++;
      if (waiting >= MOST_WAITING) break;
    }
    return waiting;
  }

  /** Another text whenever an approval of the namespace has changed. A deadline that has passed changes none. */
  async markOf(namespaceId: string): Promise<string> {
    return (await kvGet(this.kv, keys.approvalsChanged(namespaceId))).versionstamp ?? "none";
  }

  /**
   * Moves an approval to another state; null when it is no longer in the first one, or its effect was shown again
   * since. `also`: what is to happen with it, or not at all.
   */
  async move(
    record: ApprovalRecord,
    from: ApprovalRecord["state"],
    change: Partial<ApprovalRecord>,
    also: Also = nothingElse,
  ): Promise<ApprovalRecord | null> {
    let moved = false;
    const changed = await compareAndSet(this.kv, {
      key: keys.approval(record.namespaceId, record.id),
      change: (current) => {
        moved = this.stateOf(current) === from && current.look === record.look;
        return moved ? { ...current, ...change } : current;
      },
      expireIn: Math.max(1, record.createdAt + 2 * APPROVAL_MS - this.clock.now()),
      beside: (commit, next) => {
        if (from === "pending" && (change.state === "approved" || change.state === "denied")) {
          withEvent(commit, next.databaseId, eventOf("approval.decided", next, this.clock.now()));
        }
        return this.#noteState(also(commit), next);
      },
    });
    return moved ? changed : null;
  }

  /**
   * Notes what became of an approval that has been redeemed. The write stands whatever becomes of the note: where KV
   * does not take it, the log says so instead of the answer of whoever wrote. `also` is written with the note.
   */
  async noteOutcome(
    record: ApprovalRecord,
    outcome: ApprovalOutcome,
    also: Also = nothingElse,
  ): Promise<void> {
    const { id: approvalId, namespaceId } = record;
    const lost = (code: string) =>
      this.log("error", "approval_outcome_lost", { approvalId, namespaceId, kind: outcome.kind, code });
    try {
      if (await this.move(record, "redeemed", { outcome }, also) === null) lost("approval_decided");
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      lost(error.code);
    }
  }

  /** Notes what a redeemed write has done, as `noteOutcome` does. */
  noteRan(
    record: ApprovalRecord,
    { rowsWritten, queryLogId, snapshot }: Omit<Extract<ApprovalOutcome, { kind: "ran" }>, "kind" | "at">,
  ): Promise<void> {
    const at = this.clock.now();
    return this.noteOutcome(record, { kind: "ran", at, rowsWritten, queryLogId, snapshot });
  }

  /** The indexes of those that are open and of those that wait, and that something has changed. */
  #noteState(commit: Deno.AtomicOperation, record: ApprovalRecord): Deno.AtomicOperation {
    const { namespaceId, id, state } = record;
    const until = { expireIn: Math.max(1, record.expiresAt - this.clock.now()) };
    const waiting = keys.waitingApproval(namespaceId, id);
    commit.set(keys.approvalsChanged(namespaceId), true, { expireIn: 2 * APPROVAL_MS });
    commit = this.#open.note(commit, record);
    return state === "pending" ? commit.set(waiting, record.expiresAt, until) : commit.delete(waiting);
  }
}
