// What a database publishes, for those who want to call it: the discovery document, an OpenAPI description and a
// client.
import { type Context, Hono } from "hono";
import { z } from "zod";
import { describePublished } from "../../lib/services/published/discovery/describe_published.ts";
import { discoverEndpoints } from "../../lib/services/published/discovery/discover_endpoints.ts";
import { writeClient } from "../../lib/services/published/client/write_client.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { validate } from "../middleware/validate.ts";

const address = z.strictObject({ namespace: z.string().max(64), database: z.string().max(128) });

/** Mounted under `/p`. */
export function discoveryRoutes({ control, baseUrl, query }: AppDeps): Hono<Env> {
  return new Hono<Env>()
    .get(
      "/:ns/:db/.well-known/endpoints.json",
      async (c) => send(c, await discoverEndpoints({ control, baseUrl }, addressOf(c))),
    )
    .get(
      "/:ns/:db/openapi.json",
      async (c) => send(c, await describePublished({ control, baseUrl }, addressOf(c))),
    )
    .get("/:ns/:db/client.ts", async (c) => {
      const source = await writeClient({ control, baseUrl, query }, addressOf(c));
      return c.body(source, 200, { ...forAnybody, "Content-Type": "text/typescript; charset=utf-8" });
    });
}

/** Mounted at the root: the same document, addressed by query parameters. */
export function wellKnownRoutes({ control, baseUrl }: AppDeps): Hono<Env> {
  return new Hono<Env>().get("/.well-known/endpoints.json", validate("query", address), async (c) => {
    const { namespace, database } = c.req.valid("query");
    const input = { namespaceSlug: namespace, databasePath: database };
    return send(c, await discoverEndpoints({ control, baseUrl }, input));
  });
}

/** Nothing here is secret: any page may read it, and any cache may store it for a moment. */
const forAnybody = { "Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=30" } as const;

function send(c: Context<Env>, document: object): Response {
  return c.json(document, 200, forAnybody);
}

function addressOf(
  c: Context<Env, "/:ns/:db/openapi.json">,
): { namespaceSlug: string; databasePath: string } {
  return { namespaceSlug: c.req.param("ns"), databasePath: c.req.param("db") };
}
