// The first of two steps: shows a write and hands out a token that runs it once.
import { newToken, tokenHash } from "../../access/token_format.ts";
import { requireRole } from "../../access/caller.ts";
import { isoTime } from "../../core/clock.ts";
import { writeHeldCall } from "../../query/held_call.ts";
import type { QueryMeta } from "../../query/query_call.ts";
import type { RowForm } from "../../sql/row_form.ts";
import type { JsonParameter, StatementsContext } from "../query/run_statements.ts";
import { previewWrites, type WritePreview } from "./preview_writes.ts";

/** A write that is to be shown before it runs. */
export interface ProposeInput {
  readonly sql: string;
  readonly params?: readonly JsonParameter[] | undefined;
  /** Seconds that the token lives. */
  readonly ttlSec: number;
  readonly rowForm: RowForm;
}

/** What a write would do, and the token that runs it. */
export interface Proposal extends WritePreview {
  readonly executionToken: string;
  readonly expiresAt: string;
}

/** Errors: `role_too_low` and those of `previewWrites`; then there is no token. */
export async function proposeWrite(
  ctx: StatementsContext,
  { ttlSec, rowForm, ...statement }: ProposeInput,
): Promise<{ data: Proposal; meta: QueryMeta }> {
  requireRole(ctx.target, "write");
  const { call, data, effects, meta } = await previewWrites(ctx, {
    statements: [statement],
    atomic: true,
    batch: false,
    rowForm,
    maxAffected: null,
  });
  const [shown] = data;
  if (shown === undefined) throw new TypeError("a statement has no preview");
  const token = newToken("pmut_");
  const expiresAt = ctx.clock.now() + ttlSec * 1000;
  const { databaseId, branchRef } = ctx.target;
  await ctx.held.propose(tokenHash(token), writeHeldCall(call, { effects, footprint: null }, []), {
    tokenId: ctx.tokenId,
    databaseId,
    branchRef,
    expiresAt,
  });
  return { data: { ...shown, executionToken: token, expiresAt: isoTime(expiresAt) }, meta };
}
