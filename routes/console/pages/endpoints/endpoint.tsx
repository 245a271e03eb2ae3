// /console/:ns/db/:db/endpoints/:slug: one endpoint: changed, tried, published, compared with what it was.
import { type Context, Hono } from "hono";
import { requireNamespaceAdmin } from "../../../../lib/access/caller.ts";
import type { Issue } from "../../../../lib/core/errors.ts";
import type { EndpointSpec, FieldSpec } from "../../../../lib/core/endpoint_spec.ts";
import { parseJson } from "../../../../lib/guard/parse_json.ts";
import { findIssues } from "../../../../lib/services/endpoints/find_issues.ts";
import {
  deleteEndpoint,
  getEndpoint,
  moveEndpoint,
  replaceEndpoint,
} from "../../../../lib/services/endpoints/manage_endpoints.ts";
import { readStats } from "../../../../lib/services/endpoints/read_stats.ts";
import { listRevisions, restoreRevision } from "../../../../lib/services/endpoints/revisions.ts";
import { testEndpoint } from "../../../../lib/services/endpoints/test_endpoint.ts";
import { callerNames } from "../../../../lib/services/people/caller_names.ts";
import { requireConfirm } from "../../../../lib/services/manage_context.ts";
import { PLAIN_ROWS } from "../../../../lib/sql/words/row_form.ts";
import { uncheckedSpec } from "../../../api/endpoint_schemas.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import type { Env } from "../../../http/env.ts";
import { attempt, type Problem } from "../../frame/attempt.ts";
import { mayManage } from "../../frame/may_manage.ts";
import { renderPage } from "../../frame/page.tsx";
import { type FormFields, readForm } from "../../frame/read_form.ts";
import type { Returned } from "../../frame/returned.ts";
import { valuesOf, valuesTyped } from "./endpoint_form.ts";
import type { Tried } from "./endpoint_try_view.tsx";
import { Endpoint } from "./endpoint_view.tsx";
import { specSent } from "./untouched_spec.ts";
import { endpointsPage, placeholdersIn } from "./endpoints_place.ts";

const PATH = "/:ns/db/:db/endpoints/:slug";
/** What somebody reads whose form is older than the endpoint. */
const OVERTAKEN =
  "This endpoint was changed after you had opened it, and what you see here would undo that. Open it in another tab and make your change there";

/** What has become of a form of this page. */
interface Came {
  readonly fields?: FormFields;
  readonly issues?: readonly Issue[];
  readonly message?: string;
  readonly status?: Problem["status"];
  readonly tried?: Tried;
  readonly returned?: Returned<"delete" | "status">;
}

/** Mounted under `/console`. */
export function endpointRoutes(deps: AppDeps): Hono<Env> {
  const page = async (c: Context<Env>, came: Came) => {
    const { ctx, address, base } = endpointsPage(deps, c);
    const one = { address, slug: slugOf(c) };
    const endpoint = await getEndpoint(ctx, one);
    const [revisions, stats] = await Promise.all([
      listRevisions(ctx, one),
      readStats(ctx, { ...one, fromMs: null, toMs: null }),
    ]);
    const names = await callerNames(ctx, address.namespaceSlug, revisions.map(({ actor }) => actor));
    const values = came.fields === undefined
      ? { ...valuesOf(endpoint), revision: String(endpoint.revision) }
      : valuesTyped(came.fields);
    return await renderPage(
      c,
      {
        title: `Endpoint ${one.slug} of ${address.slug}`,
        namespace: address.namespaceSlug,
        database: { path: address.slug, tab: "Endpoints" },
        swaps: true,
        returned: came.returned,
        status: came.status,
      },
      <Endpoint
        visit={c.get("visit")}
        base={base}
        endpoint={endpoint}
        manages={mayManage(c.get("visit"), address.namespaceSlug)}
        values={values}
        wanted={placeholdersIn(values)}
        issues={came.issues ?? null}
        message={came.message ?? null}
        stats={stats}
        revisions={revisions}
        names={names}
        compared={Number(c.req.query("compare") ?? "0")}
        tried={came.tried ?? null}
        returned={came.returned ?? null}
        showsGates={c.req.query("gates") !== undefined}
      />,
    );
  };
  const routes = new Hono<Env>()
    .get(PATH, (c) => page(c, {}))
    .post(PATH, async (c) => {
      const { ctx, address, base } = endpointsPage(deps, c);
      const [slug, fields] = [slugOf(c), await readForm(c)];
      // What somebody else has saved since the form was opened is not overwritten by what the form still has.
      const read = fields.has("revision") ? { revision: Number(fields.text("revision")) } : {};
      const specOf = (saved: EndpointSpec) => uncheckedSpec({ ...specSent(fields, saved), ...read });
      const saved = await attempt(() => replaceEndpoint(ctx, { address, slug, specOf }));
      if (saved.ok) return c.redirect(`${base}/${slug}`, 303);
      const { issues, message, status } = saved.problem;
      requireNamespaceAdmin(ctx.caller, address.namespaceSlug);
      const told = issues.some(({ path }) => path === "revision") ? OVERTAKEN : message;
      return await page(c, { fields, issues, status, ...(told === "" ? {} : { message: told }) });
    })
    .post(`${PATH}/check`, async (c) => {
      const { ctx, address } = endpointsPage(deps, c);
      requireNamespaceAdmin(ctx.caller, address.namespaceSlug);
      const [slug, fields] = [slugOf(c), await readForm(c)];
      const unchecked = uncheckedSpec(specSent(fields, await getEndpoint(ctx, { address, slug })));
      const issues = await findIssues(ctx, { address, slug, unchecked });
      return await page(c, { fields, issues });
    })
    .post(`${PATH}/test`, async (c) => {
      const { ctx, address } = endpointsPage(deps, c);
      requireNamespaceAdmin(ctx.caller, address.namespaceSlug);
      const [slug, fields] = [slugOf(c), await readForm(c)];
      const endpoint = await getEndpoint(ctx, { address, slug });
      const [userId, email] = [fields.optional("userId"), fields.optional("email")];
      const { status, body, cause } = await testEndpoint({ ...ctx, published: deps.published }, {
        address,
        slug,
        input: await inputOf(endpoint.input, fields),
        session: userId === undefined ? null : { userId, email },
        rowForm: PLAIN_ROWS,
        signal: () => c.req.raw.signal,
      });
      return await page(c, { tried: { fields, status, body, cause } });
    })
    .post(`${PATH}/restore`, async (c) => {
      const { ctx, address, base } = endpointsPage(deps, c);
      const [slug, fields] = [slugOf(c), await readForm(c)];
      const done = await attempt(() =>
        restoreRevision(ctx, { address, slug, revision: fields.text("revision") })
      );
      if (done.ok) return c.redirect(`${base}/${slug}`, 303);
      requireNamespaceAdmin(ctx.caller, address.namespaceSlug);
      const { issues, message, status } = done.problem;
      return await page(c, { issues, status, ...(message === "" ? {} : { message }) });
    })
    .post(`${PATH}/delete`, async (c) => {
      const { ctx, address, base } = endpointsPage(deps, c);
      requireNamespaceAdmin(ctx.caller, address.namespaceSlug);
      const [slug, fields] = [slugOf(c), await readForm(c)];
      const done = await attempt(() => {
        requireConfirm(fields.text("confirm"), slug);
        return deleteEndpoint(ctx, { address, slug });
      });
      if (done.ok) return c.redirect(base, 303);
      return await page(c, { returned: { form: "delete", fields, problem: done.problem } });
    });
  for (const transition of ["publish", "pause", "unpublish"] as const) {
    routes.post(`${PATH}/${transition}`, async (c) => {
      const { ctx, address, base } = endpointsPage(deps, c);
      requireNamespaceAdmin(ctx.caller, address.namespaceSlug);
      const slug = slugOf(c);
      const done = await attempt(() => moveEndpoint(ctx, { address, slug, transition }));
      if (done.ok) return c.redirect(`${base}/${slug}`, 303);
      const fields = await readForm(c);
      return await page(c, { returned: { form: "status", fields, problem: done.problem } });
    });
  }
  return routes;
}

function slugOf(c: Context<Env>): string {
  return c.req.param("slug") ?? "";
}

/** As a caller would send it: what cannot be its type stays text, for the endpoint to refuse. */
async function inputOf(inputs: readonly FieldSpec[], fields: FormFields): Promise<Record<string, unknown>> {
  const given = inputs.flatMap(({ name, type }) => {
    const text = fields.exact(`in.${name}`);
    return text === "" ? [] : [{ name, type, text }];
  });
  return Object.fromEntries(
    await Promise.all(given.map(async ({ name, type, text }) => [name, await valueOf(text, type)] as const)),
  );
}

async function valueOf(text: string, type: FieldSpec["type"]): Promise<unknown> {
  // Integers that a number cannot hold exactly are sent as their digits.
  if (type === "integer") return Number.isSafeInteger(Number(text)) ? Number(text) : text;
  if (type === "number") return Number.isFinite(Number(text)) ? Number(text) : text;
  if (type === "boolean" && /^(?:true|false)$/.test(text)) return text === "true";
  if (type !== "json") return text;
  const parsed = await attempt(() => Promise.resolve(parseJson(text)));
  return parsed.ok ? parsed.value : text;
}
