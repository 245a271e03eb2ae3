// What the services of people who decide need of a request, and how they find an approval.
import { callerId, type PersonCaller } from "../../access/caller.ts";
import { AppError } from "../../core/errors.ts";
import type { QueryContext, QueryTarget } from "../../query/query_call.ts";
import type { ApprovalRecord, Decider } from "../../store/write_records.ts";
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

/** An approval as the audit of its namespace names it. */
export function actOn(record: ApprovalRecord): Act {
  const { namespaceId, databaseSlug, id, affectedRows, operation = "query" } = record;
  return { namespaceId, database: databaseSlug, target: id, facts: { operation, rows: affectedRows } };
}

/** Whom a decision names. */
export function deciderOf(person: PersonCaller): Decider {
  return { id: callerId(person), name: person.kind === "operator" ? "the operator" : person.email };
}

/** The database of an approval. What is looked at for a person was asked for by a token with a role of its own. */
export function targetOf(record: ApprovalRecord, namespaceSlug: string): QueryTarget {
  const { namespaceId, databaseId, databaseSlug, branchRef } = record;
  return { namespaceId, namespaceSlug, databaseId, databaseSlug, branchRef, role: "admin" };
}
