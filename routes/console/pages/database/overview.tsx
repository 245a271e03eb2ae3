// /console/:ns/db/:db: what a database holds, in words and as a picture, and what could be better about it. Descriptions
// are changed where they stand.
import { type Context, Hono } from "hono";
import { endpointFacts } from "../../../../lib/services/endpoints/endpoint_facts.ts";
import { arrangeTables } from "../../../../lib/services/schema/arrange_tables.ts";
import { updateDescriptions } from "../../../../lib/services/schema/describe_schema.ts";
import { examineSchema } from "../../../../lib/services/schema/doctor/examine_schema.ts";
import { ProbeMemory } from "../../../../lib/services/schema/doctor/row_probes.ts";
import { listTables } from "../../../../lib/services/schema/list_tables.ts";
import { readSchema } from "../../../../lib/services/schema/read_schema.ts";
import { requireRole } from "../../../../lib/access/caller.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import type { Env } from "../../../http/env.ts";
import { attempt } from "../../frame/attempt.ts";
import { renderPage } from "../../frame/page.tsx";
import { readForm } from "../../frame/read_form.ts";
import { COUNTED_ROWS } from "../../parts/schema_list.tsx";
import { Notice } from "../../parts/notice.tsx";
import { visibleText } from "../../parts/visible_text.ts";
import { type DatabasePage, databasePage } from "../../frame/database_pages.ts";
import { Findings } from "./findings_view.tsx";
import { readDescriptions } from "../tables/description_form.ts";
import { Overview } from "./overview_view.tsx";

/** Mounted under `/console`. */
export function overviewRoutes(deps: AppDeps): Hono<Env> {
  const memory = new ProbeMemory();
  const examine = ({ ctx, target, namespace, path }: DatabasePage) =>
    examineSchema(ctx, {
      address: { namespaceSlug: namespace, databasePath: path },
      endpoints: () => endpointFacts({ control: deps.control, query: deps.query, target }),
      memory,
    });
  return new Hono<Env>()
    .get("/:ns/db/:db", (c) => overviewPage(deps, c, null))
    .get("/:ns/db/:db/findings", async (c) => {
      const database = await databasePage(deps, c);
      const findings = (
        <Findings
          visit={c.get("visit")}
          base={database.base}
          role={database.target.role}
          result={await examine(database)}
        />
      );
      if (c.req.header("hx-request") !== undefined) return c.html(await findings);
      const { namespace, path } = database;
      return await renderPage(
        c,
        { title: `Findings · ${path}`, namespace, database: { path, tab: "Overview" } },
        findings,
      );
    })
    .post("/:ns/db/:db/descriptions", async (c) => {
      const database = await databasePage(deps, c);
      requireRole(database.target, "admin");
      const fields = await readForm(c);
      const stored = await attempt(() => updateDescriptions(database.ctx, readDescriptions(fields)));
      if (!stored.ok) {
        return await overviewPage(deps, c, Object.values(stored.problem.fields)[0] ?? stored.problem.message);
      }
      return c.redirect(
        `${database.base}?${new URLSearchParams({ saved: fields.exact("table") })}#tables`,
        303,
      );
    });
}

async function overviewPage(deps: AppDeps, c: Context<Env>, problem: string | null): Promise<Response> {
  const database = await databasePage(deps, c);
  const { ctx, target, namespace, path, base } = database;
  const around = c.req.query("table") ?? null;
  const [schema, counts, { sizeBytes, state }] = await Promise.all([
    readSchema(ctx),
    listTables(ctx, COUNTED_ROWS),
    ctx.tenants.storageOf(target.databaseId),
  ]);
  const arrangement = schema.tables.length === 0 ? null : await arrangeTables(ctx, schema, around);
  const { baseUrl } = deps;
  const facts = { schema, counts, sizeBytes, state, arrangement, baseUrl, namespace, path, base };
  return await renderPage(
    c,
    {
      title: path,
      namespace,
      database: { path, tab: "Overview" },
      swaps: true,
      status: problem === null ? 200 : 422,
    },
    <>
      {problem === null ? null : <Notice tone="bad">{visibleText(problem)}</Notice>}
      <Overview
        {...facts}
        visit={c.get("visit")}
        role={target.role}
        open={around}
        saved={c.req.query("saved") ?? null}
      />
    </>,
  );
}
