// /api/namespaces/:slug/tokens: API tokens. The secret is shown once, in the answer that makes the token.
import { Hono } from "hono";
import { z } from "zod";
import { createToken, listTokens, revokeToken } from "../../lib/services/tokens/manage_tokens.ts";
import { describing, sendData, sendPage } from "../http/answers.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import {
  displayName,
  isoTimestamp,
  page,
  pageMeta,
  role,
  scopeInput,
  scopeRow,
  secondsIn,
} from "../http/schemas.ts";
import { manageContext } from "../http/service_contexts.ts";
import { noBody, validate } from "../middleware/validate.ts";
import { chosenSec } from "../../lib/core/limits.ts";

const tokenRecord = z.object({
  id: z.string(),
  name: z.string(),
  role,
  scopes: z.array(scopeRow),
  createdAt: isoTimestamp,
  expiresAt: isoTimestamp.nullable(),
  audience: z.enum(["mcp"]).nullable().describe("mcp: counts at /mcp only"),
  client: z.string().nullable().describe("Where the MCP client is that was allowed to use it"),
});
const listedToken = tokenRecord.extend({
  lastUsedAt: isoTimestamp.nullable().describe("Null: never. May be behind by five minutes"),
});
const tokenBody = z.strictObject({
  name: displayName,
  role,
  scopes: z.array(scopeInput).max(100).optional().describe("Empty: the whole namespace"),
  expiresInSec: secondsIn(chosenSec.token).optional().describe("Unset: it does not expire"),
}).meta({ examples: [{ name: "Backend", role: "admin", expiresInSec: 7_776_000 }] });
const described = describing(["tokens"]);

/** Mounted under `/api/namespaces`. */
export function tokenRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>()
    .post(
      "/:slug/tokens",
      described("Make a token", tokenRecord.extend({ token: z.string() }), { status: 201 }),
      validate("json", tokenBody),
      async (c) => {
        const input = { namespaceSlug: c.req.param("slug"), ...c.req.valid("json") };
        return sendData(c, await createToken(manageContext(deps, c), input), 201);
      },
    )
    .get(
      "/:slug/tokens",
      described("List the tokens without their secrets", z.array(listedToken), { meta: pageMeta }),
      validate("query", page),
      async (c) => {
        const { cursor = null, pageSize } = c.req.valid("query");
        const input = { namespaceSlug: c.req.param("slug"), cursor, pageSize };
        return sendPage(c, await listTokens(manageContext(deps, c), input));
      },
    )
    .delete(
      "/:slug/tokens/:id",
      described("Revoke a token", z.object({ id: z.string() })),
      noBody,
      async (c) => {
        const input = { namespaceSlug: c.req.param("slug"), id: c.req.param("id") };
        return sendData(c, await revokeToken(manageContext(deps, c), input));
      },
    );
}
