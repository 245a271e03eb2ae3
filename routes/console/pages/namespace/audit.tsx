// /console/:ns/audit: who did what in a namespace, or which rows of one of its databases were changed by whom.
import { Hono } from "hono";
import { readAudit } from "../../../../lib/services/audit/read_audit.ts";
import { listDatabases } from "../../../../lib/services/databases/manage_databases.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import type { Env } from "../../../http/env.ts";
import { slug } from "../../../http/schemas.ts";
import { approvalContext } from "../../../http/service_contexts.ts";
import { renderPage } from "../../frame/page.tsx";
import { Audit } from "./audit_view.tsx";

const PAGE_SIZE = 50;
/** Most databases that the filter offers. */
const OFFERED = 100;

/** Mounted under `/console`. */
export function auditPageRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>().get("/:ns/audit", async (c) => {
    const namespaceSlug = c.req.param("ns");
    const ctx = approvalContext(deps, c);
    const database = slug.safeParse(c.req.query("database")).data ?? null;
    const input = { namespaceSlug, database, sinceMs: null, untilMs: null, pageSize: PAGE_SIZE };
    const [entries, databases] = await Promise.all([
      readAudit(ctx, { ...input, cursor: c.req.query("after") ?? null }),
      listDatabases(ctx, { namespaceSlug, cursor: null, pageSize: OFFERED }),
    ]);
    return await renderPage(
      c,
      { title: `Audit of ${namespaceSlug}`, namespace: namespaceSlug, active: "Audit" },
      <Audit
        visit={c.get("visit")}
        namespace={namespaceSlug}
        database={database}
        databases={databases.nextCursor === null ? databases.items.map((one) => one.slug) : null}
        entries={entries.items}
        nextCursor={entries.nextCursor}
      />,
    );
  });
}
