// /console/:ns/approvals/:id: one held write, and the decision about it. `approvalUrl` leads here.
import { type Context, Hono } from "hono";
import { z } from "zod";
import { requirePerson } from "../../../../lib/access/caller.ts";
import { decideApproval } from "../../../../lib/services/approvals/decide_approvals.ts";
import { describeAsker } from "../../../../lib/services/approvals/describe_asker.ts";
import type { ApprovalContext } from "../../../../lib/services/approvals/approval_context.ts";
import { lookAtApproval } from "../../../../lib/services/approvals/look_at_approval.ts";
import {
  type ApprovalPage,
  getApproval,
  getSummary,
  readInbox,
} from "../../../../lib/services/approvals/read_approvals.ts";
import type { ApprovalSummary } from "../../../../lib/services/approvals/approval_view.ts";
import { previewUndo, undoApproval } from "../../../../lib/services/approvals/undo_approval.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import type { Env } from "../../../http/env.ts";
import { denialReason, MAX_REASON_LENGTH } from "../../../http/schemas.ts";
import { oneAtATime } from "../../../http/long_answer.ts";
import { approvalContext } from "../../../http/service_contexts.ts";
import { attempt, checked } from "../../frame/attempt.ts";
import { mayManage } from "../../frame/may_manage.ts";
import { renderPage } from "../../frame/page.tsx";
import { type FormFields, readForm } from "../../frame/read_form.ts";
import type { ReturnedDecision } from "./approval_decision_view.tsx";
import { Undo, type UndoProps } from "./approval_undo_view.tsx";
import { sentenceOf } from "./approval_words.ts";
import type { Waiting } from "./approval_bar_view.tsx";
import { Approval } from "./approval_view.tsx";

/** Mounted under `/console`. */
export function approvalRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>()
    .get(
      "/:ns/approvals/:id",
      (c) => oneAtATime(c.req.param("ns"), async () => await answer(deps, c, null)),
    )
    .get("/:ns/approvals/:id/since", async (c) => {
      const approval = await getSummary(approvalContext(deps, c), pathOf(c));
      // Only something else is worth a new page: whoever types a reason goes on typing.
      if (c.req.query("seen") !== markOf(approval)) c.header("HX-Refresh", "true");
      return c.body(null, 200);
    })
    .post("/:ns/approvals/:id/look", async (c) => {
      requirePerson(c.get("caller"), c.req.param("ns"));
      const looked = await attempt(() => lookAtApproval(approvalContext(deps, c), pathOf(c)));
      if (looked.ok) return c.redirect(hrefOf(c), 303);
      return await answer(deps, c, { fields: await readForm(c), problem: looked.problem });
    })
    .post("/:ns/approvals/:id/decide", async (c) => {
      requirePerson(c.get("caller"), c.req.param("ns"));
      const fields = await readForm(c);
      const decided = await attempt(() => decide(deps, c, fields));
      if (decided.ok) return c.redirect(hrefOf(c), 303);
      return await answer(deps, c, { fields, problem: decided.problem });
    })
    .get("/:ns/approvals/:id/undo", async (c) => await answerUndo(deps, c, null))
    .post("/:ns/approvals/:id/undo", async (c) => {
      requirePerson(c.get("caller"), c.req.param("ns"));
      const digest = (await readForm(c)).exact("digest");
      const input = { ...pathOf(c), digest: digest === "" ? null : digest };
      const undone = await attempt(() => undoApproval(approvalContext(deps, c), input));
      return undone.ok ? c.redirect(hrefOf(c), 303) : await answerUndo(deps, c, undone.problem);
    });
}

/** Both buttons send the look that its reader has seen. */
const decisionForm = z.object({
  decision: z.enum(["approve", "deny"]),
  look: z.string().regex(/^\d{1,9}$/).transform(Number),
  reason: denialReason.optional(),
});
const words = {
  decision: "Press Approve or Deny",
  look: "Load the page again",
  reason: `Write at most ${MAX_REASON_LENGTH} characters`,
};

async function decide(deps: AppDeps, c: Context<Env, Path>, fields: FormFields): Promise<ApprovalPage> {
  const sent = {
    decision: fields.text("decision"),
    look: fields.text("look"),
    // An approval has no reason: what stands in the field is left aside.
    reason: fields.text("decision") === "deny" ? fields.optional("reason") : undefined,
  };
  const { decision, look, reason = null } = checked(decisionForm, sent, words);
  const approves = decision === "approve";
  return await decideApproval(approvalContext(deps, c), {
    ...pathOf(c),
    decision: approves ? "approved" : "denied",
    reason,
    look,
    snapshot: approves && fields.has("snapshot"),
  });
}

async function answer(deps: AppDeps, c: Context<Env, Path>, returned: ReturnedDecision | null) {
  const ctx = approvalContext(deps, c);
  const path = pathOf(c);
  const namespace = path.namespaceSlug;
  const approval = await getApproval(ctx, path);
  const asker = await describeAsker(ctx, { namespaceSlug: namespace, tokenId: approval.tokenId });
  const visit = c.get("visit");
  const isOpen = approval.state === "pending" || approval.state === "approved";
  const href = hrefOf(c);
  const decides = mayManage(visit, namespace);
  const waiting = decides && approval.state !== "pending" ? await nextWaiting(ctx, namespace) : null;
  return await renderPage(
    c,
    {
      title: sentenceOf(approval),
      namespace,
      active: "Approvals",
      swaps: isOpen,
      returned,
    },
    <Approval
      visit={visit}
      approval={approval}
      asker={asker}
      namespace={namespace}
      path={href}
      decides={decides}
      waiting={waiting}
      returned={returned}
      all={c.req.query("columns") === "all"}
      allRows={c.req.query("rows") === "all"}
      poll={isOpen ? `${href}/since?seen=${encodeURIComponent(markOf(approval))}` : null}
    />,
  );
}

/** The newest that waits, and how many do. */
async function nextWaiting(ctx: ApprovalContext, namespaceSlug: string): Promise<Waiting | null> {
  const { counts, shown: [first] } = await readInbox(ctx, {
    namespaceSlug,
    state: "pending",
    page: 1,
    pageSize: 1,
  });
  return first === undefined
    ? null
    : { count: counts.pending, href: `/console/${namespaceSlug}/approvals/${first.id}` };
}

async function answerUndo(deps: AppDeps, c: Context<Env, Path>, problem: UndoProps["problem"]) {
  const ctx = approvalContext(deps, c);
  const path = pathOf(c);
  const [approval, preview] = await Promise.all([getApproval(ctx, path), previewUndo(ctx, path)]);
  return await renderPage(
    c,
    {
      title: "Take it back?",
      namespace: path.namespaceSlug,
      active: "Approvals",
      status: problem?.status ?? 200,
    },
    <Undo visit={c.get("visit")} approval={approval} preview={preview} path={hrefOf(c)} problem={problem} />,
  );
}

type Path = "/:ns/approvals/:id";

function pathOf(c: Context<Env, Path>) {
  return { namespaceSlug: c.req.param("ns"), approvalId: c.req.param("id") };
}

function hrefOf(c: Context<Env, Path>): string {
  return `/console/${c.req.param("ns")}/approvals/${encodeURIComponent(c.req.param("id"))}`;
}

/** What a reader has to see anew when it changes. */
function markOf({ state, look, outcome }: ApprovalSummary): string {
  return [state, look, outcome?.kind ?? "", outcome?.undone ? "undone" : ""].join(".");
}
