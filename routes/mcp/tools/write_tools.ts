// Tools that change rows, and what becomes of a change that waits for a person.
import { authenticateId } from "../../../lib/access/authenticate.ts";
import { z } from "zod";
import { replayScope, requireReplayKey } from "../../../lib/access/replay_scope.ts";
import type { ApprovalState } from "../../../lib/control/approvals.ts";
import { MAX_BATCH_STATEMENTS } from "../../../lib/core/limits.ts";
import { approvalUrl } from "../../../lib/query/hold_call.ts";
import type { CallReplay } from "../../../lib/query/query_call.ts";
import { readApproval } from "../../../lib/services/approvals/read_approval.ts";
import { redeemApproval } from "../../../lib/services/approvals/redeem_approval.ts";
import { applyWrite } from "../../../lib/services/proposals/apply_write.ts";
import { previewWrites } from "../../../lib/services/proposals/preview_writes.ts";
import { proposeWrite } from "../../../lib/services/proposals/propose_write.ts";
import { runStatements } from "../../../lib/services/query/run_statements.ts";
import { PLAIN_ROWS } from "../../../lib/sql/words/row_form.ts";
import { contentAnswer, type McpAnswer } from "./answer.ts";
import { heldOf, statementsOf } from "./call_contexts.ts";
import { previewed, redeemed, written } from "./outcomes.ts";
import { type DatabaseCall, hints, type Tool, tool } from "./tool.ts";
import { statement } from "./arguments.ts";
import { chosenSec } from "../../../lib/core/limits.ts";
import { secondsIn } from "../../http/schemas.ts";
import { MAX_WAIT_SEC } from "../../../lib/core/limits_of_changes.ts";

const approvalId = z.string().max(64).describe("apv_… of a write that was held");

/** What an agent does next, by the state of an approval. */
const afterDecision: Readonly<Record<ApprovalState, string>> = {
  pending: "Only a person can decide, at approvalUrl. Ask again with waitSec, or go on with something else",
  approved: "Call redeem_approval: it runs the change once",
  denied: "Tell the user, and do not try the same another way",
  redeemed: "It has run; nothing is left to do",
  expired: "Nobody decided in time, and nothing ran. Send the change again if it is still wanted",
};

/** In the order in which they are listed. */
export const writeTools: readonly Tool[] = [
  tool({
    name: "propose_write",
    title: "Propose a write",
    description:
      "Runs one write, undoes it and shows what it did: affected rows, and up to ten of them before and after. The executionToken runs exactly this write once, with apply_write. Nothing has changed before that.",
    role: "write",
    hints: hints.adds,
    database: "any",
    input: { ...statement, ttlSec: secondsIn(chosenSec.execution).default(chosenSec.execution.usual) },
    run: async (call, input) => {
      const proposed = { ...input, rowForm: PLAIN_ROWS, signal: () => call.signal };
      const { data } = await proposeWrite(statementsOf(call), proposed);
      const { executionToken, expiresAt, ...shown } = data;
      return contentAnswer({ executionToken, expiresAt, ...previewed(shown) });
    },
  }),
  tool({
    name: "apply_write",
    title: "Apply a proposed write",
    description: "Runs a write of propose_write, once.",
    role: "write",
    hints: hints.changes,
    database: "any",
    input: { executionToken: z.string().max(200) },
    run: async (call, { executionToken }) => {
      const input = { executionToken, rowForm: PLAIN_ROWS, snapshots: true, replay: null };
      return written(await applyWrite(statementsOf(call), { ...input, signal: () => call.signal }));
    },
  }),
  tool({
    name: "write",
    title: "Write",
    description:
      "Runs statements in one transaction: all or nothing. It is undone where it would change more than maxAffected rows. With an idempotencyKey a repetition runs nothing and answers the same: use one wherever you may have to repeat. dryRun shows what it would do. A write that a rule holds answers approval_required: nothing has run, and a person has to decide.",
    role: "write",
    hints: hints.changes,
    database: "any",
    input: {
      statements: z.array(z.strictObject(statement)).min(1).max(MAX_BATCH_STATEMENTS),
      maxAffected: z.int().min(0).default(100).describe("Rows, with triggers and cascades"),
      idempotencyKey: z.string().optional(),
      dryRun: z.boolean().default(false),
    },
    run: async (call, { statements, maxAffected, idempotencyKey, dryRun }) => {
      const ctx = statementsOf(call);
      const signal = () => call.signal;
      const shared = { statements, atomic: true, rowForm: PLAIN_ROWS, maxAffected, signal };
      if (dryRun) {
        const { data } = await previewWrites(ctx, { ...shared, batch: true });
        return contentAnswer({ dryRun, results: data.map((one) => previewed(one)) });
      }
      const replay = keyed(call, idempotencyKey, { statements, maxAffected });
      return written(await runStatements(ctx, { ...shared, operation: "batch", replay, snapshots: true }));
    },
  }),
  tool({
    name: "get_approval",
    title: "Ask for a decision",
    description:
      "What a person has decided about a held write: state pending, approved, denied, redeemed or expired. waitSec waits that long for a decision.",
    role: "write",
    hints: hints.reads,
    database: "any",
    input: { approvalId, waitSec: z.int().min(0).max(MAX_WAIT_SEC).default(0) },
    run: async (call, input) => {
      const { deps, caller } = call.visit;
      const again = () => authenticateId(deps, caller, "mcp");
      const { id, ...view } = await readApproval(statementsOf(call), {
        ...input,
        signal: call.signal,
        again,
      });
      const { baseUrl } = deps;
      const page = approvalUrl(baseUrl, call.target.namespaceSlug, id);
      return contentAnswer({ approvalId: id, ...view, approvalUrl: page, hint: afterDecision[view.state] });
    },
  }),
  tool({
    name: "redeem_approval",
    title: "Run an approved write",
    description: "Runs a held write that a person has approved, once. Only the token that asked for it can.",
    role: "write",
    hints: hints.changes,
    database: "any",
    input: { approvalId },
    run: async (call, { approvalId }) => await redeem(call, approvalId),
  }),
];

/** Runs what was approved. Errors: those of `redeemApproval`. */
export async function redeem(call: DatabaseCall, approvalId: string): Promise<McpAnswer> {
  const input = { approvalId, rowForm: PLAIN_ROWS, replay: null, signal: () => call.signal };
  return redeemed(await redeemApproval(heldOf(call), input));
}

/** The same key means another call through another door: what counts as its content differs. */
function keyed(
  { visit: { caller }, target }: DatabaseCall,
  key: string | undefined,
  content: object,
): CallReplay | null {
  if (key === undefined) return null;
  requireReplayKey("idempotencyKey", key);
  const scope = ["idempotency", caller.tokenId, target.databaseId, "mcp write", key];
  return { idempotency: replayScope(scope, JSON.stringify(content)), plan: null };
}
