// /console/:ns/db/:db/endpoints: what a database publishes, and how an endpoint is begun: by a form, or from a table.
import { type Context, Hono } from "hono";
import { requireNamespaceAdmin } from "../../../../lib/access/caller.ts";
import type { Issue } from "../../../../lib/core/errors.ts";
import { findIssues } from "../../../../lib/services/endpoints/find_issues.ts";
import { createEndpoint, listEndpoints } from "../../../../lib/services/endpoints/manage_endpoints.ts";
import { scaffoldCrud } from "../../../../lib/services/endpoints/scaffold/scaffold_crud.ts";
import { matchedTables } from "../../../../lib/services/rules/matched_tables.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import { scaffoldBody, uncheckedSpec } from "../../../api/endpoint_schemas.ts";
import type { Env } from "../../../http/env.ts";
import { attempt, checked, type Problem } from "../../frame/attempt.ts";
import { renderPage } from "../../frame/page.tsx";
import { type FormFields, readForm } from "../../frame/read_form.ts";
import type { Returned } from "../../frame/returned.ts";
import { linesIn, newSpec, specIn, valuesOf, valuesTyped } from "./endpoint_form.ts";
import { NewEndpoint } from "./endpoint_view.tsx";
import { endpointsPage, placeholdersIn } from "./endpoints_place.ts";
import { Endpoints } from "./endpoints_view.tsx";

const PATH = "/:ns/db/:db/endpoints";

/** Mounted under `/console`. */
export function endpointsRoutes(deps: AppDeps): Hono<Env> {
  const page = async (c: Context<Env>, returned: Returned<"scaffold"> | null, skipped: readonly string[]) => {
    const { ctx, address, base } = endpointsPage(deps, c);
    const [endpoints, tables] = await Promise.all([listEndpoints(ctx, address), matchedTables(ctx, address)]);
    return await renderPage(
      c,
      {
        title: `Endpoints of ${address.slug}`,
        namespace: address.namespaceSlug,
        database: { path: address.slug, tab: "Endpoints", counts: { Endpoints: endpoints.length } },
        returned,
      },
      <Endpoints
        visit={c.get("visit")}
        namespace={address.namespaceSlug}
        base={base}
        endpoints={endpoints}
        tables={tables("*")}
        skipped={skipped}
        returned={returned}
      />,
    );
  };
  const form = async (c: Context<Env>, came: Came) => {
    const { ctx, address, base } = endpointsPage(deps, c);
    requireNamespaceAdmin(ctx.caller, address.namespaceSlug);
    const values = came.fields === null ? { ...valuesOf(newSpec), ...asked(c) } : valuesTyped(came.fields);
    return await renderPage(
      c,
      {
        title: `New endpoint of ${address.slug}`,
        namespace: address.namespaceSlug,
        database: { path: address.slug, tab: "Endpoints" },
        swaps: true,
        status: came.status,
      },
      <NewEndpoint
        visit={c.get("visit")}
        base={base}
        values={values}
        issues={came.issues}
        message={came.message}
        wanted={placeholdersIn(values)}
      />,
    );
  };
  return new Hono<Env>()
    .get(PATH, (c) => page(c, null, []))
    .get(`${PATH}/-/new`, (c) => form(c, { fields: null, issues: null, message: null, status: 200 }))
    .post(`${PATH}/-/check`, async (c) => {
      const { ctx, address } = endpointsPage(deps, c);
      const fields = await readForm(c);
      const issues = await findIssues(ctx, { address, unchecked: uncheckedSpec(specIn(fields)) });
      return await form(c, { fields, issues, message: null, status: 200 });
    })
    .post(PATH, async (c) => {
      const { ctx, address, base } = endpointsPage(deps, c);
      const fields = await readForm(c);
      const unchecked = uncheckedSpec(specIn(fields));
      const made = await attempt(() => createEndpoint(ctx, { address, unchecked }));
      if (made.ok) return c.redirect(`${base}/${made.value.slug}`, 303);
      const { issues, message, status } = made.problem;
      return await form(c, { fields, issues, message: message === "" ? null : message, status });
    })
    .post(`${PATH}/-/scaffold`, async (c) => {
      const { ctx, address, base } = endpointsPage(deps, c);
      requireNamespaceAdmin(ctx.caller, address.namespaceSlug);
      const fields = await readForm(c);
      const shape = fields.text("shape") === "app" ? "app" : "basic";
      const owner = fields.optional("owner");
      const input = {
        table: fields.exact("table"),
        owner,
        shape: owner === undefined ? shape : "app",
        cors: linesIn(fields, "cors"),
        publish: fields.has("publish"),
      } as const;
      const made = await attempt(() => scaffoldCrud(ctx, { address, ...checked(scaffoldBody, input) }));
      if (!made.ok) return await page(c, { form: "scaffold", fields, problem: made.problem }, []);
      const skipped = made.value.skipped.map(({ slug, reason }) => `${slug}: ${reason}`);
      return skipped.length === 0 ? c.redirect(base, 303) : await page(c, null, skipped);
    });
}

/** The SQL page hands over its statement. */
function asked(c: Context<Env>): Record<string, string> {
  const sql = c.req.query("sql");
  return sql === undefined ? {} : { sql };
}

/** What has become of the form. */
interface Came {
  readonly fields: FormFields | null;
  readonly issues: readonly Issue[] | null;
  readonly message: string | null;
  readonly status: 200 | Problem["status"];
}
