// What the services of people who decide need of a request, and how they find an approval.
import { callerId, callerName, type PersonCaller } from "../../access/caller.ts";
import { AppError } from "../../core/errors.ts";
import type { QueryContext, QueryTarget } from "../../query/query_call.ts";
import type { ApprovalRecord, Decider } from "../../store/write_records.ts";
import { databasePath } from "../databases/database_path.ts";
import type { Act } from "../note_act.ts";
import type { ManageContext } from "../manage_context.ts";

/** The process's parts and the caller. */
export interface ApprovalContext extends ManageContext {
  readonly query: QueryContext;
}

/** An approval as a path names it. */
export interface ApprovalPath {
  readonly namespaceSlug: string;
  readonly approvalId: string;
}

/** Errors: `approval_not_found`. */
export async function requireApproval(
  { query }: ApprovalContext,
  namespaceId: string,
  approvalId: string,
): Promise<ApprovalRecord> {
  const record = await query.approvals.byId(namespaceId, approvalId);
  if (record === null) throw new AppError("approval_not_found");
  return record;
}

/**
 * The name of its database in a path, as it is now: under the slug of that time there may be another one. Where the
 * database is gone, that slug.
 */
export async function presentSlug({ control }: ApprovalContext, record: ApprovalRecord): Promise<string> {
  return await databasePath(control, record) ?? record.databaseSlug;
}

/** An approval as the audit of its namespace names it. It never fails: something may have been done already. */
export async function actOn(ctx: ApprovalContext, record: ApprovalRecord): Promise<Act> {
  const { namespaceId, id, affectedRows, operation = "query" } = record;
  const database = await presentSlug(ctx, record).catch(() => record.databaseSlug);
  return { namespaceId, database, target: id, facts: { operation, rows: affectedRows } };
}

/** Whom a decision names. */
export function deciderOf(person: PersonCaller): Decider {
  return { id: callerId(person), name: callerName(person) };
}

/** What changes in the record of an approval that waits for a decision again. */
export const UNDECIDED = {
  state: "pending",
  decidedAt: null,
  decidedBy: null,
  reason: null,
  snapshotFirst: false,
} as const;

/** The database of an approval. What is looked at for a person was asked for by a token with a role of its own. */
export async function targetOf(
  ctx: ApprovalContext,
  record: ApprovalRecord,
  namespaceSlug: string,
): Promise<QueryTarget> {
  const { namespaceId, databaseId, branchRef } = record;
  const databaseSlug = await presentSlug(ctx, record);
  return { namespaceId, namespaceSlug, databaseId, databaseSlug, branchRef, role: "admin" };
}
