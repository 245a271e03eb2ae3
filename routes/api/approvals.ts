// /api/namespaces/:slug/approvals: writes that wait for a person, and the person's decision.
import { type Context, Hono } from "hono";
import { describeRoute } from "hono-openapi";
import { z } from "zod";
import {
  type ApprovalContext,
  decideApproval,
  type Decision,
  listApprovals,
} from "../../lib/services/approvals/decide_approvals.ts";
import { answers } from "../http/answers.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { validate } from "../middleware/validate.ts";
import { approvalRecord } from "../http/schemas.ts";
import { manageContext } from "../http/service_contexts.ts";

const value = z.union([z.string(), z.number(), z.null(), z.object({ $blob: z.string() })]);
const detail = approvalRecord.extend({
  databaseSlug: z.string(),
  requestedBy: z.string().describe("Id of the API token"),
  affectedRows: z.int().nullable(),
  look: z.int().describe("How often what it would do was looked at again; to be sent with an approval"),
  statements: z.array(z.object({ sql: z.string(), params: z.array(value) })),
  effects: z.array(z.unknown()),
  restore: z.object({
    snapshot: z.string(),
    effect: z.unknown().describe("Tables and rows that it changes; null: the present state cannot be read"),
  }).nullable().describe("Set where a restore waits"),
  merge: z.object({
    branchRef: z.string(),
    mode: z.enum(["schema", "data"]),
    onConflict: z.enum(["abort", "theirs", "ours"]),
    report: z.unknown().describe("What it would do, as a dry run of the merge tells it"),
  }).nullable().describe("Set where a merge waits rather than statements"),
});
const listQuery = z.strictObject({
  state: approvalRecord.shape.state.optional().meta({ examples: ["pending"] }),
});
const approveBody = z.strictObject({
  look: z.int().min(0).default(0).describe("That of the approval as it was read; needed once it is above 0"),
}).meta({ examples: [{ look: 0 }] }).optional();
const denyBody = z.strictObject({ reason: z.string().max(1000).optional() }).meta({
  examples: [{ reason: "Not before the audit" }],
}).optional();
const tags = ["approvals"];

/** Mounted under `/api/namespaces`. */
export function approvalRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>()
    .get(
      "/:slug/approvals",
      describeRoute({ summary: "List what waits for a person", tags, responses: answers(z.array(detail)) }),
      validate("query", listQuery),
      async (c) => {
        const input = { namespaceSlug: c.req.param("slug"), state: c.req.valid("query").state ?? null };
        return c.json({ success: true, data: await listApprovals(approvalContext(deps, c), input) });
      },
    )
    .post(
      "/:slug/approvals/:id/approve",
      describeRoute({ summary: "Approve a write", tags, responses: answers(detail) }),
      validate("json", approveBody),
      async (c) => {
        const input = decision(c.req.param(), "approved", { look: c.req.valid("json")?.look ?? 0 });
        return c.json({ success: true, data: await decideApproval(approvalContext(deps, c), input) });
      },
    )
    .post(
      "/:slug/approvals/:id/deny",
      describeRoute({ summary: "Deny a write", tags, responses: answers(detail) }),
      validate("json", denyBody),
      async (c) => {
        const input = decision(c.req.param(), "denied", { reason: c.req.valid("json")?.reason ?? null });
        return c.json({ success: true, data: await decideApproval(approvalContext(deps, c), input) });
      },
    );
}

function approvalContext(deps: AppDeps, c: Context<Env>): ApprovalContext {
  const { approvals, held } = deps.query;
  return { ...manageContext(deps, c), approvals, held };
}

function decision(
  path: { readonly slug: string; readonly id: string },
  decided: Decision["decision"],
  said: Partial<Pick<Decision, "reason" | "look">>,
): Decision {
  return { namespaceSlug: path.slug, approvalId: path.id, decision: decided, reason: null, look: 0, ...said };
}
