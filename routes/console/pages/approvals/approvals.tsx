// /console/:ns/approvals: what waits for a person, and what became of the rest.
import { Hono } from "hono";
import { inboxMark, readInbox } from "../../../../lib/services/approvals/read_approvals.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import type { Env } from "../../../http/env.ts";
import { approvalContext } from "../../../http/service_contexts.ts";
import { mayManage } from "../../frame/may_manage.ts";
import { renderPage } from "../../frame/page.tsx";
import type { Html } from "../../parts/html.ts";
import { Approvals, inboxStates } from "./approvals_view.tsx";

/** Rows of a page. */
const PAGE_SIZE = 100;

/** Mounted under `/console`. */
export function approvalsRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>()
    .get("/:ns/approvals", async (c) => {
      const namespace = c.req.param("ns");
      const asked = inboxStates.find((one) => one === c.req.query("state")) ?? "pending";
      const page = Math.max(1, Math.floor(Number(c.req.query("page") ?? 1)) || 1);
      const reloads = c.req.query("reload") !== undefined;
      const { counts, shown, more, mark } = await readInbox(approvalContext(deps, c), {
        namespaceSlug: namespace,
        state: asked === "all" ? null : asked,
        page,
        pageSize: PAGE_SIZE,
      });
      return await renderPage(
        c,
        {
          title: counts.pending > 0 ? `(${counts.pending}) Approvals` : "Approvals",
          namespace,
          active: "Approvals",
          scripts: ["inbox.ts"],
          ...(reloads ? { head: <Reloading /> } : {}),
        },
        <Approvals
          namespace={namespace}
          baseUrl={deps.baseUrl}
          decides={mayManage(c.get("visit"), namespace)}
          shown={shown}
          counts={counts}
          state={asked}
          next={more ? page + 1 : null}
          ask={`/console/${namespace}/approvals/since?seen=${mark}`}
          reloads={reloads}
        />,
      );
    })
    .get("/:ns/approvals/since", async (c) => {
      const mark = await inboxMark(approvalContext(deps, c), c.req.param("ns"));
      return c.json({ changed: c.req.query("seen") !== mark });
    });
}

/** Seconds between two looks of a page without script, for whoever has asked for that. */
const RELOAD_SEC = 60;

function Reloading(): Html {
  return (
    <noscript>
      <meta http-equiv="refresh" content={String(RELOAD_SEC)} />
    </noscript>
  );
}
