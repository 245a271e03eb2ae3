// The first of two steps: shows a write and hands out a token that runs it once.
import { requireRole } from "../../access/caller.ts";
import type { QueryMeta } from "../../query/query_call.ts";
import type { RowForm } from "../../sql/words/row_form.ts";
import type { JsonParameter, StatementsContext } from "../query/run_statements.ts";
import { type Execution, issueExecution } from "./issue_execution.ts";
import { previewWrites, type WritePreview } from "./preview_writes.ts";

/** A write that is to be shown before it runs. */
export interface ProposeInput {
  readonly sql: string;
  readonly params?: readonly JsonParameter[] | undefined;
  /** Seconds that the token lives. */
  readonly ttlSec: number;
  readonly rowForm: RowForm;
  /** Absent: nobody can stop it. */
  readonly signal?: () => AbortSignal | null;
}

/** What a write would do, and the token that runs it. */
export interface Proposal extends WritePreview, Execution {}

/** Errors: `role_too_low`, those of `previewWrites` and of `issueExecution`; then there is no token. */
export async function proposeWrite(
  ctx: StatementsContext,
  { ttlSec, rowForm, signal, ...statement }: ProposeInput,
): Promise<{ data: Proposal; meta: QueryMeta }> {
  requireRole(ctx.target, "write");
  const previewed = await previewWrites(ctx, {
    statements: [statement],
    atomic: true,
    batch: false,
    rowForm,
    maxAffected: null,
    ...(signal ? { signal } : {}),
  });
  const [shown] = previewed.data;
  if (shown === undefined) throw new TypeError("a statement has no preview");
  const execution = await issueExecution(ctx, previewed, { ttlSec });
  return { data: { ...shown, ...execution }, meta: previewed.meta };
}
