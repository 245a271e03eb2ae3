// What a path under `/api/namespaces` names.
import type { Context } from "hono";
import type { DatabaseAddress } from "../../lib/services/databases/database_record.ts";
import type { Env } from "../http/env.ts";

/** The database that the path of a request names. */
export function addressOf(c: Context<Env, "/:slug/databases/:dbSlug">): DatabaseAddress {
  return { namespaceSlug: c.req.param("slug"), slug: c.req.param("dbSlug") };
}
