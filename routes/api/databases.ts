// /api/namespaces/:slug/databases, and the end of all sessions of a database.
import { Hono } from "hono";
import { describeRoute } from "hono-openapi";
import { z } from "zod";
import {
  createDatabase,
  deleteDatabase,
  getDatabase,
  listDatabases,
  undeleteDatabase,
  updateDatabase,
} from "../../lib/services/databases/manage_databases.ts";
import { revokeSessions } from "../../lib/services/sessions/manage_sessions.ts";
import { answers, describing, sendData, sendPage } from "../http/answers.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import {
  confirmBody,
  databaseRecord,
  displayName,
  newSlug,
  noQuery,
  pageMeta,
  rename,
  slug,
  slugPage,
} from "../http/schemas.ts";
import { manageContext } from "../http/service_contexts.ts";
import { noBody, validate } from "../middleware/validate.ts";
import { addressOf } from "./path_names.ts";

const databaseBody = z.strictObject({ slug: newSlug, name: displayName.optional() }).meta({
  examples: [{ slug: "shop", name: "Shop" }],
});
const undeleteBody = z.strictObject({
  slug: slug.describe("As it was called; of several the one deleted last"),
  into: newSlug.optional().describe("Another slug for it"),
}).meta({ examples: [{ slug: "old-shop", into: "found-again" }] });
const described = describing(["databases"]);

/** Mounted under `/api/namespaces`. */
export function databaseRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>()
    .post(
      "/:slug/databases",
      described("Make a database", databaseRecord, { status: 201 }),
      validate("json", databaseBody),
      async (c) => {
        const input = { namespaceSlug: c.req.param("slug"), ...c.req.valid("json") };
        return sendData(c, await createDatabase(manageContext(deps, c), input), 201);
      },
    )
    .post(
      "/:slug/databases/restore",
      described("Bring a deleted database back", databaseRecord),
      validate("json", undeleteBody),
      async (c) => {
        const input = { namespaceSlug: c.req.param("slug"), ...c.req.valid("json") };
        return sendData(c, await undeleteDatabase(manageContext(deps, c), input));
      },
    )
    .get(
      "/:slug/databases",
      described("List the databases", z.array(databaseRecord), { meta: pageMeta }),
      validate("query", slugPage),
      async (c) => {
        const { cursor = null, ...more } = c.req.valid("query");
        const input = { namespaceSlug: c.req.param("slug"), cursor, ...more };
        return sendPage(c, await listDatabases(manageContext(deps, c), input));
      },
    )
    .get(
      "/:slug/databases/:dbSlug",
      described("Read a database", databaseRecord),
      validate("query", noQuery),
      async (c) => {
        return sendData(c, await getDatabase(manageContext(deps, c), addressOf(c)));
      },
    )
    .patch(
      "/:slug/databases/:dbSlug",
      described("Change a database", databaseRecord),
      validate("json", rename),
      async (c) => {
        const input = { ...addressOf(c), name: c.req.valid("json").name };
        return sendData(c, await updateDatabase(manageContext(deps, c), input));
      },
    )
    .delete(
      "/:slug/databases/:dbSlug",
      described("Delete a database", databaseRecord),
      validate("json", confirmBody("shop")),
      async (c) => {
        const input = { ...addressOf(c), confirm: c.req.valid("json").confirm };
        return sendData(c, await deleteDatabase(manageContext(deps, c), input));
      },
    );
}

const revoked = z.object({
  tokensMinIat: z.int().describe("Sessions whose iat (unix seconds) is lower are refused"),
});

/** Mounted under `/api/namespaces`: ends the sessions of end users. */
export function sessionRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>().post(
    "/:slug/databases/:dbSlug/sessions/revoke_all",
    describeRoute({
      summary: "Revoke all sessions of the end users",
      tags: ["sessions"],
      responses: answers(revoked),
    }),
    noBody,
    async (c) => {
      return sendData(c, await revokeSessions(manageContext(deps, c), addressOf(c)));
    },
  );
}
