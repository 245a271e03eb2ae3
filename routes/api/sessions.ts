// /api/namespaces/:slug/databases/:dbSlug/sessions: ends the sessions of end users.
import { Hono } from "hono";
import { describeRoute } from "hono-openapi";
import { z } from "zod";
import { revokeSessions } from "../../lib/services/sessions/revoke_sessions.ts";
import { answers } from "../http/answers.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { noBody } from "../middleware/validate.ts";
import { manageContext } from "./manage_context.ts";

const revoked = z.object({
  tokensMinIat: z.int().describe("Sessions whose iat (unix seconds) is lower are refused"),
});

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
      const address = { namespaceSlug: c.req.param("slug"), slug: c.req.param("dbSlug") };
      return c.json({ success: true, data: await revokeSessions(manageContext(deps, c), address) });
    },
  );
}
