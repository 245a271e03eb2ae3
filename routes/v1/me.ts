// GET /v1/me: what the bearer is and may do.
import { Hono } from "hono";
import { describeRoute } from "hono-openapi";
import { z } from "zod";
import { answers } from "../http/answers.ts";
import type { Env } from "../http/env.ts";
import { describeCaller } from "../../lib/services/tokens/manage_tokens.ts";
import { validate } from "../middleware/validate.ts";
import { noQuery, role, scopeRow } from "../http/schemas.ts";

const caller = z.object({
  namespace: z.string(),
  tokenId: z.string(),
  name: z.string(),
  role,
  scopes: z.array(scopeRow),
  expiresAt: z.string().nullable(),
});

/** Mounted under `/v1`. */
export function meRoutes(): Hono<Env> {
  return new Hono<Env>().get(
    "/me",
    describeRoute({ summary: "Describe the token", tags: ["tokens"], responses: answers(caller) }),
    validate("query", noQuery),
    (c) => c.json({ success: true, data: describeCaller(c.get("token")) }),
  );
}
