// /api/namespaces/:slug/approvals: writes that wait for a person, and the person's decision.
import { type Context, Hono } from "hono";
import { z } from "zod";
import type { ApprovalPath } from "../../lib/services/approvals/approval_context.ts";
import { decideApproval } from "../../lib/services/approvals/decide_approvals.ts";
import { lookAtApproval } from "../../lib/services/approvals/look_at_approval.ts";
import { getApproval, listApprovals } from "../../lib/services/approvals/read_approvals.ts";
import { previewUndo, undoApproval } from "../../lib/services/approvals/undo_approval.ts";
import { describing, sendData, sendWithRows } from "../http/answers.ts";
import { sendLongData } from "../http/long_answer.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { noBody, validate } from "../middleware/validate.ts";
import { denialReason, noQuery } from "../http/schemas.ts";
import { approvalContext } from "../http/service_contexts.ts";
import { approvalDetail, approvalPage, listQuery, undoPreview } from "./approval_schemas.ts";

const approveBody = z.strictObject({
  look: z.int().min(0).default(0).describe("That of the approval as it was read; needed once it is above 0"),
  snapshot: z.boolean().default(false).describe(
    "Take a snapshot before it runs, whatever the statement does",
  ),
}).meta({ examples: [{ look: 0, snapshot: true }] }).prefault({});
const denyBody = z.strictObject({ reason: denialReason.optional() }).meta({
  examples: [{ reason: "Not before the audit" }],
}).prefault({});
const undoBody = z.strictObject({
  digest: z.string().max(200).nullable().optional().describe(
    "Of what was shown; unset: whatever it does now",
  ),
}).meta({ examples: [{}] }).prefault({});
const described = describing(["approvals"]);

/** Mounted under `/api/namespaces`. */
export function approvalRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>()
    .get(
      "/:slug/approvals",
      described("List what waits for a person", z.array(approvalDetail)),
      validate("query", listQuery),
      (c) => {
        const input = { namespaceSlug: c.req.param("slug"), state: c.req.valid("query").state ?? null };
        return sendLongData(c, input, () => listApprovals(approvalContext(deps, c), input));
      },
    )
    .get(
      "/:slug/approvals/:id",
      described("Show what a write would do, with all that a person decides by", approvalPage),
      validate("query", noQuery),
      (c) => sendLongData(c, pathOf(c), () => getApproval(approvalContext(deps, c), pathOf(c))),
    )
    .post(
      "/:slug/approvals/:id/look",
      described("Look again at what a write would do now", approvalPage),
      noBody,
      async (c) =>
        sendWithRows(c, { success: true, data: await lookAtApproval(approvalContext(deps, c), pathOf(c)) }),
    )
    .post(
      "/:slug/approvals/:id/approve",
      described("Approve a write", approvalPage),
      validate("json", approveBody),
      async (c) => {
        const { look, snapshot } = c.req.valid("json");
        const input = { ...pathOf(c), decision: "approved", reason: null, look, snapshot } as const;
        return sendWithRows(c, {
          success: true,
          data: await decideApproval(approvalContext(deps, c), input),
        });
      },
    )
    .post(
      "/:slug/approvals/:id/deny",
      described("Deny a write", approvalPage),
      validate("json", denyBody),
      async (c) => {
        const reason = c.req.valid("json").reason ?? null;
        const input = { ...pathOf(c), decision: "denied", reason, look: 0, snapshot: false } as const;
        return sendWithRows(c, {
          success: true,
          data: await decideApproval(approvalContext(deps, c), input),
        });
      },
    );
}

/** Takes back what has run: mounted beside the others. */
export function undoRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>()
    .get(
      "/:slug/approvals/:id/undo",
      described("Show what taking a write back would do", undoPreview),
      validate("query", noQuery),
      async (c) => sendData(c, await previewUndo(approvalContext(deps, c), pathOf(c))),
    )
    .post(
      "/:slug/approvals/:id/undo",
      described("Take an approved write back", approvalPage),
      validate("json", undoBody),
      async (c) => {
        const input = { ...pathOf(c), digest: c.req.valid("json").digest };
        return sendWithRows(c, { success: true, data: await undoApproval(approvalContext(deps, c), input) });
      },
    );
}

function pathOf(c: Context<Env, "/:slug/approvals/:id">): ApprovalPath {
  return { namespaceSlug: c.req.param("slug"), approvalId: c.req.param("id") };
}
