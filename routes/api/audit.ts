// Who did what: /api/namespaces/:slug/audit in the namespace or in one of its databases, /api/audit to the whole service.
import { Hono } from "hono";
import { z } from "zod";
import { readAudit, readServiceAudit } from "../../lib/services/audit/read_audit.ts";
import { describing, sendPage } from "../http/answers.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { isoTimestamp, page, pageMeta, slug, time } from "../http/schemas.ts";
import { approvalContext, manageContext } from "../http/service_contexts.ts";
import { validate } from "../middleware/validate.ts";

const described = describing(["audit"]);

const entry = z.object({
  id: z.string(),
  at: isoTimestamp,
  actor: z.string().describe("Id of the API token or member, or operator"),
  actorName: z.string().nullable().describe(
    "At that moment; in a database's own audit at present, and null for who is gone",
  ),
  action: z.string().meta({ examples: ["token.created"] }),
  database: z.string().nullable(),
  target: z.string().nullable().describe("What it was done to: an id, a slug, or tables"),
  facts: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
});
const times = page.extend({
  since: time("2026-11-01T00:00:00Z").optional().describe("ISO 8601; entries from then on"),
  until: time("2027-12-01T00:00:00Z").optional().describe("ISO 8601; entries before then"),
});
const auditQuery = times.extend({
  database: slug.optional().describe("The mutations of this database instead"),
});

/** Mounted under `/api/namespaces`. */
export function auditRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>().get(
    "/:slug/audit",
    described("List who did what, newest first", z.array(entry), { meta: pageMeta }),
    validate("query", auditQuery),
    async (c) => {
      const { database = null, since = null, until = null, cursor = null, pageSize } = c.req.valid("query");
      const input = { database, sinceMs: since, untilMs: until, cursor, pageSize };
      const namespaceSlug = c.req.param("slug");
      return sendPage(c, await readAudit(approvalContext(deps, c), { namespaceSlug, ...input }));
    },
  );
}

/** Mounted under `/api`. */
export function serviceAuditRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>().get(
    "/audit",
    described("List what was done to the whole service, newest first", z.array(entry), { meta: pageMeta }),
    validate("query", times),
    async (c) => {
      const { since = null, until = null, cursor = null, pageSize } = c.req.valid("query");
      const input = { sinceMs: since, untilMs: until, cursor, pageSize };
      return sendPage(c, await readServiceAudit(manageContext(deps, c), input));
    },
  );
}
