// /api/namespaces: tenants, created and deleted by the operator.
import { Hono } from "hono";
import { z } from "zod";
import {
  createNamespace,
  deleteNamespace,
  getNamespace,
  listNamespaces,
  updateNamespace,
} from "../../lib/services/namespaces/manage_namespaces.ts";
import { describing, sendData, sendPage } from "../http/answers.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import {
  confirmBody,
  displayName,
  isoTimestamp,
  monthlyCap,
  noQuery,
  pageMeta,
  slug,
  slugPage,
  someChange,
} from "../http/schemas.ts";
import { manageContext } from "../http/service_contexts.ts";
import { validate } from "../middleware/validate.ts";

const namespaceRecord = z.object({ id: z.string(), slug, name: z.string(), createdAt: isoTimestamp });
const namespaceDetail = namespaceRecord.extend({ monthlyCapUsd: z.number().nullable() });
const namespaceBody = z.strictObject({ slug, name: displayName.optional() }).meta({
  examples: [{ slug: "acme", name: "Acme" }],
});
const namespaceChange = z.strictObject({
  name: displayName.optional(),
  monthlyCapUsd: monthlyCap.nullable().optional().describe(
    "Most that may be spent in a UTC month; null: no cap",
  ),
}).refine(...someChange).meta({
  minProperties: 1,
  examples: [{ name: "Acme Corporation", monthlyCapUsd: 50 }],
});
const described = describing(["namespaces"]);

/** Mounted under `/api/namespaces`. */
export function namespaceRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>()
    .post(
      "/",
      described("Make a namespace", namespaceRecord, { status: 201 }),
      validate("json", namespaceBody),
      async (c) => sendData(c, await createNamespace(manageContext(deps, c), c.req.valid("json")), 201),
    )
    .get(
      "/",
      described("List the namespaces", z.array(namespaceRecord), { meta: pageMeta }),
      validate("query", slugPage),
      async (c) => {
        const { cursor = null, ...more } = c.req.valid("query");
        return sendPage(c, await listNamespaces(manageContext(deps, c), { cursor, ...more }));
      },
    )
    .get(
      "/:slug",
      described("Read a namespace", namespaceDetail),
      validate("query", noQuery),
      async (c) => sendData(c, await getNamespace(manageContext(deps, c), c.req.param("slug"))),
    )
    .patch(
      "/:slug",
      described("Change a namespace", namespaceDetail),
      validate("json", namespaceChange),
      async (c) => {
        const input = { slug: c.req.param("slug"), ...c.req.valid("json") };
        return sendData(c, await updateNamespace(manageContext(deps, c), input));
      },
    )
    .delete(
      "/:slug",
      described("Delete a namespace with everything in it", namespaceRecord),
      validate("json", confirmBody("acme")),
      async (c) => {
        const input = { slug: c.req.param("slug"), confirm: c.req.valid("json").confirm };
        return sendData(c, await deleteNamespace(manageContext(deps, c), input));
      },
    );
}
