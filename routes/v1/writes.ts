// Two-step and approved writes: POST /propose, /apply, /redeem_approval and GET /approvals/:token.
import { type Context, Hono } from "hono";
import { z } from "zod";
import { readApproval } from "../../lib/services/approvals/read_approval.ts";
import {
  redeemApproval,
  type Redeemed,
  type RedeemInput,
} from "../../lib/services/approvals/redeem_approval.ts";
import { applyWrite } from "../../lib/services/proposals/apply_write.ts";
import { proposeWrite } from "../../lib/services/proposals/propose_write.ts";
import { describing, sendData, sendWithRows } from "../http/answers.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { targetNow } from "../middleware/access.ts";
import { rowFormOf, snapshots } from "../middleware/header_flag.ts";
import { storeForHeldStep } from "../middleware/plan.ts";
import { validate } from "../middleware/validate.ts";
import { approvalRecord, secondsIn } from "../http/schemas.ts";
import { migrated, migrateMeta } from "./migrations.ts";
import { restored, restoreMeta } from "./snapshots.ts";
import { mergeReport } from "./branch_schemas.ts";
import { sendBatch, sendMerge, sendQuery } from "./send_result.ts";
import { queryMeta, queryResult, setsResult, statementBody, writePreview } from "./sql_schemas.ts";
import { imported } from "./transfers.ts";
import { statementsContext } from "../http/service_contexts.ts";
import { chosenSec } from "../../lib/core/limits.ts";
import { MAX_WAIT_SEC } from "../../lib/core/limits_of_changes.ts";

const secret = z.string().min(1).max(200);
const proposeBody = statementBody.extend({
  ttlSec: secondsIn(chosenSec.execution).default(chosenSec.execution.usual),
}).meta({
  examples: [{ sql: "UPDATE orders SET note = ? WHERE id = ?", params: ["paid", 1], ttlSec: 300 }],
});
const applyBody = z.strictObject({ executionToken: secret }).meta({
  examples: [{ executionToken: "pmut_…" }],
});
const redeemBody = z.strictObject({ approvalToken: secret }).meta({
  examples: [{ approvalToken: "appr_…" }],
});
const proposal = writePreview.extend({ executionToken: z.string(), expiresAt: z.string() });
const described = describing(["writes"]);

/** Mounted under `/v1/db/:ns/:db`. */
export function writeRoutes(deps: AppDeps): Hono<Env> {
  const { query, control } = deps;
  return new Hono<Env>()
    .post(
      "/propose",
      described("Show what a write would do and get a token that runs it once", proposal, {
        meta: queryMeta,
      }),
      validate("json", proposeBody),
      async (c) => {
        const input = { ...c.req.valid("json"), rowForm: rowFormOf(c) };
        const { data, meta } = await proposeWrite(statementsContext(query, c), input);
        return sendWithRows(c, { success: true, data, meta });
      },
    )
    .post(
      "/apply",
      described("Run a proposed write", queryResult, { meta: queryMeta }),
      validate("json", applyBody),
      async (c) => {
        const input = { ...c.req.valid("json"), ...runOptions(c), snapshots: snapshots(c) };
        return sendQuery(c, await applyWrite(statementsContext(query, c), input));
      },
    )
    .post(
      "/redeem_approval",
      described(
        "Run a write, a merge, a restore, an import or migrations that a person has approved",
        z.union([queryResult, z.array(queryResult), setsResult, mergeReport, restored, imported, migrated]),
        { meta: z.union([queryMeta, restoreMeta, migrateMeta]) },
      ),
      validate("json", redeemBody),
      async (c) => {
        const input = { ...c.req.valid("json"), ...runOptions(c) };
        const ctx = { ...statementsContext(query, c), control, caller: c.get("token") };
        const redeemed = await redeemApproval(ctx, input);
        const response = sendRedeemed(c, redeemed);
        if ("step" in redeemed && redeemed.step !== null) {
          const { databaseId } = c.get("target");
          await storeForHeldStep(query.replays, { databaseId, step: redeemed.step }, response);
        }
        return response;
      },
    )
    .get(
      "/approvals/:token",
      described("Ask what has become of an approval", approvalRecord),
      validate(
        "query",
        z.strictObject({ waitSec: z.coerce.number().int().min(0).max(MAX_WAIT_SEC).default(0) }),
      ),
      async (c) => {
        const data = await readApproval(statementsContext(query, c), {
          approvalToken: c.req.param("token"),
          waitSec: c.req.valid("query").waitSec,
          signal: c.req.raw.signal,
          again: () => targetNow(deps, c),
        });
        return sendData(c, data);
      },
    );
}

function sendRedeemed(c: Context<Env>, redeemed: Redeemed): Response {
  if ("restored" in redeemed) return c.json({ success: true, ...redeemed.restored });
  if ("appended" in redeemed) return c.json({ success: true, ...redeemed.appended });
  if ("migrated" in redeemed) return c.json({ success: true, ...redeemed.migrated });
  if ("merge" in redeemed) return sendMerge(c, redeemed.merge);
  return redeemed.batch ? sendBatch(c, redeemed.answer) : sendQuery(c, redeemed.answer);
}

/** Options of a call that runs a stored write. Errors: `validation_failed` naming the header. */
function runOptions(c: Context<Env>): Pick<RedeemInput, "rowForm" | "replay" | "signal"> {
  const plan = c.get("plan");
  return {
    rowForm: rowFormOf(c),
    replay: plan === undefined ? null : { idempotency: null, plan },
    signal: () => c.req.raw.signal,
  };
}
