// /console/:ns/approvals: what waits for a person, and what became of the rest.
import { Hono } from "hono";
import { summariseApprovals } from "../../../lib/services/approvals/read_approvals.ts";
import type { ApprovalSummary } from "../../../lib/services/approvals/approval_view.ts";
import type { AppDeps } from "../../http/app_deps.ts";
import type { Env } from "../../http/env.ts";
import { approvalContext } from "../../http/service_contexts.ts";
import { mayManage } from "../frame/may_manage.ts";
import { renderPage } from "../frame/page.tsx";
import { Approvals, type InboxState, inboxStates } from "./approvals_view.tsx";

/** Rows of a page. */
const PAGE_SIZE = 100;

/** Mounted under `/console`. */
export function approvalsRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>()
    .get("/:ns/approvals", async (c) => {
      const namespace = c.req.param("ns");
      const all = await summariseApprovals(approvalContext(deps, c), {
        namespaceSlug: namespace,
        state: null,
      });
      const asked = inboxStates.find((one) => one === c.req.query("state")) ?? "pending";
      const visit = c.get("visit");
      const found = all.filter(({ state }) => asked === "all" || state === asked);
      const page = Math.max(1, Math.floor(Number(c.req.query("page") ?? 1)) || 1);
      const waiting = all.filter(({ state }) => state === "pending").length;
      return await renderPage(
        c,
        {
          title: waiting > 0 ? `(${waiting}) Approvals` : "Approvals",
          namespace,
          active: "Approvals",
          swaps: true,
        },
        <Approvals
          namespace={namespace}
          baseUrl={deps.baseUrl}
          decides={mayManage(visit, namespace)}
          shown={found.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE)}
          counts={countsOf(all)}
          state={asked}
          next={found.length > page * PAGE_SIZE ? page + 1 : null}
          poll={`/console/${namespace}/approvals/since?seen=${markOf(all)}`}
        />,
      );
    })
    .get("/:ns/approvals/since", async (c) => {
      const namespaceSlug = c.req.param("ns");
      const all = await summariseApprovals(approvalContext(deps, c), { namespaceSlug, state: null });
      if (c.req.query("seen") !== markOf(all)) c.header("HX-Refresh", "true");
      return c.body(null, 200);
    });
}

function countsOf(all: readonly ApprovalSummary[]): Record<InboxState, number> {
  const counts = { pending: 0, approved: 0, redeemed: 0, denied: 0, expired: 0, all: all.length };
  for (const { state } of all) counts[state]++;
  return counts;
}

/** Differs when the list has something new to say. */
function markOf(all: readonly ApprovalSummary[]): string {
  const counts = countsOf(all);
  const looks = all.reduce((sum, { look }) => sum + look, 0);
  return [all[0]?.id ?? "none", ...Object.values(counts), looks].join(".");
}
