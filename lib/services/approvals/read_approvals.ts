// The approvals of a namespace for people: a list, and one with everything that they decide by.
import type { ApprovalState } from "../../control/approvals.ts";
import type { JsonValue, RowPreview } from "../../engine/statement_effect.ts";
import { readHeldCall } from "../../query/held_call.ts";
import { PIECE_BYTES } from "../../store/pieces.ts";
import type { ApprovalRecord, RuleRecord } from "../../store/write_records.ts";
import { readableNamespace } from "../namespaces/namespace_record.ts";
import { notedName } from "../note_act.ts";
import { type ApprovalContext, type ApprovalPath, presentSlug, requireApproval } from "./approval_context.ts";
import {
  type ApprovalDetail,
  approvalDetail,
  heldCallOf,
  heldTextOf,
  withoutCall,
} from "./approval_detail.ts";
import { type ApprovalSummary, approvalSummary } from "./approval_view.ts";

/** Which approvals are wanted; null: in any state. */
export interface ApprovalFilter {
  readonly namespaceSlug: string;
  readonly state: ApprovalState | null;
}

/** How many of a namespace's approvals are in each state. */
export type ApprovalCounts = Readonly<Record<ApprovalState | "all", number>>;

/** One page of the inbox. */
export interface Inbox {
  readonly counts: ApprovalCounts;
  /** Newest first. */
  readonly shown: readonly ApprovalSummary[];
  /** Whether there are older ones in that state. */
  readonly more: boolean;
  /** Another text when the inbox has something new to say. */
  readonly mark: string;
}

/** Which page is wanted; `page` from 1. */
export interface InboxFilter extends ApprovalFilter {
  readonly page: number;
  readonly pageSize: number;
}

/** Counts all, and makes summaries of those that are shown. Errors: those of `readableNamespace`. */
export async function readInbox(ctx: ApprovalContext, filter: InboxFilter): Promise<Inbox> {
  const { namespaceSlug, state, page, pageSize } = filter;
  const { approvals } = ctx.query;
  const namespace = await readableNamespace(ctx, namespaceSlug);
  // Before the list: what changes meanwhile makes another mark.
  const mark = await inboxMark(ctx, namespaceSlug);
  const all = await approvals.list(namespace.id, null);
  const counts = { pending: 0, approved: 0, redeemed: 0, denied: 0, expired: 0, all: all.length };
  const found = all.filter((record) => {
    const own = approvals.stateOf(record);
    counts[own]++;
    return state === null || own === state;
  });
  const end = page * pageSize;
  const shown = await summaries(ctx, found.slice(end - pageSize, end));
  return { counts, shown, more: found.length > end, mark };
}

/** The inbox's mark alone, which costs the same however much is in it. Errors: those of `readableNamespace`. */
export async function inboxMark(ctx: ApprovalContext, namespaceSlug: string): Promise<string> {
  const { approvals } = ctx.query;
  const { id } = await readableNamespace(ctx, namespaceSlug);
  const [changed, waiting] = await Promise.all([approvals.markOf(id), approvals.countWaiting(id)]);
  // A deadline that has passed changes only how many wait.
  return `${changed}.${waiting}`;
}

/** Bytes of calls, about, that one list tells of: all that wait may be gigabytes. */
const MOST_LISTED_BYTES = 8 * 1024 * 1024;

/**
 * The approvals of a namespace, newest first, with what each would run, as far as a list has room for it. Errors: those of
 * `readableNamespace`.
 */
export async function listApprovals(ctx: ApprovalContext, filter: ApprovalFilter): Promise<ApprovalDetail[]> {
  const namespace = await readableNamespace(ctx, filter.namespaceSlug);
  const records = await ctx.query.approvals.list(namespace.id, filter.state);
  const shown = await summaries(ctx, records);
  const details: ApprovalDetail[] = [];
  let left = MOST_LISTED_BYTES;
  for (const [at, record] of records.entries()) {
    const summary = shown[at];
    if (summary === undefined) continue;
    if ((record.pieces - 1) * PIECE_BYTES > left) {
      details.push(withoutCall(summary));
      continue;
    }
    const text = await heldTextOf(ctx.query, record);
    // KV forgets a record and its text one after the other: one whose text is gone must not hide the rest.
    if (text === null) continue;
    left -= text.length;
    details.push(await approvalDetail(ctx.query, { summary, held: readHeldCall(text) }));
  }
  return details;
}

async function summaries(
  ctx: ApprovalContext,
  records: readonly ApprovalRecord[],
): Promise<ApprovalSummary[]> {
  const names = new Map<string, string | null>();
  const slugs = new Map<string, string>();
  const found: ApprovalSummary[] = [];
  for (const record of records) {
    const { requestedBy, databaseId } = record;
    if (!names.has(requestedBy)) {
      names.set(requestedBy, await notedName(ctx, record.namespaceId, requestedBy));
    }
    const databaseSlug = slugs.get(databaseId) ?? await presentSlug(ctx, record);
    slugs.set(databaseId, databaseSlug);
    const tokenName = names.get(requestedBy) ?? null;
    found.push(approvalSummary(ctx.query.approvals, record, { databaseSlug, tokenName }));
  }
  return found;
}

/** One approval without the call that waits, which may be long. Errors: `approval_not_found`, those of `readableNamespace`. */
export async function getSummary(ctx: ApprovalContext, path: ApprovalPath): Promise<ApprovalSummary> {
  const namespace = await readableNamespace(ctx, path.namespaceSlug);
  const record = await requireApproval(ctx, namespace.id, path.approvalId);
  return await summaryOf(ctx, record);
}

async function summaryOf(ctx: ApprovalContext, record: ApprovalRecord): Promise<ApprovalSummary> {
  const [tokenName, databaseSlug] = await Promise.all([
    notedName(ctx, record.namespaceId, record.requestedBy),
    presentSlug(ctx, record),
  ]);
  return approvalSummary(ctx.query.approvals, record, { databaseSlug, tokenName });
}

/** One approval with everything that its page shows. */
export interface ApprovalPage extends ApprovalDetail {
  /** The engine's plan of all statements. */
  readonly plan: readonly (readonly JsonValue[])[];
  /** Rows of the first statement of which some can be shown. */
  readonly preview: RowPreview | null;
  /** The rules that hold it, as they are now; those that are gone are left out. */
  readonly rules: readonly HoldingRule[];
}

/** A rule that holds a write, with its conditions. */
export type HoldingRule = Omit<RuleRecord, "databaseId" | "createdAt">;

/** One approval. Errors: `approval_not_found`, those of `readableNamespace`. */
export async function getApproval(ctx: ApprovalContext, path: ApprovalPath): Promise<ApprovalPage> {
  const namespace = await readableNamespace(ctx, path.namespaceSlug);
  return await approvalPage(ctx, await requireApproval(ctx, namespace.id, path.approvalId));
}

/** The page of a record. Errors: `approval_not_found` when what it would run is gone. */
export async function approvalPage(ctx: ApprovalContext, record: ApprovalRecord): Promise<ApprovalPage> {
  const [held, summary, rules] = await Promise.all([
    heldCallOf(ctx.query, record),
    summaryOf(ctx, record),
    ctx.query.rules.list(record.databaseId),
  ]);
  const holding = new Set(record.hits.map(({ ruleId }) => ruleId));
  return {
    ...await approvalDetail(ctx.query, { summary, held }),
    plan: held.effects.flatMap(({ plan }) => plan),
    preview: held.effects.find(({ preview }) => preview !== null)?.preview ?? null,
    rules: rules.filter(({ id }) => holding.has(id)).map(ruleOf),
  };
}

function ruleOf({ databaseId: _, createdAt: __, ...rule }: RuleRecord): HoldingRule {
  return rule;
}
