// POST /v1/sessions: sessions of end users, minted for the caller's server.
import { Hono } from "hono";
import { describeRoute } from "hono-openapi";
import { z } from "zod";
import { plainText } from "../../lib/core/text_checks.ts";
import { createSession } from "../../lib/services/sessions/manage_sessions.ts";
import { answers, sendData } from "../http/answers.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { refuseParameters } from "../middleware/refuse_parameters.ts";
import { validate } from "../middleware/validate.ts";
import { isoTimestamp } from "../http/schemas.ts";

const session = z.object({ token: z.string(), expiresAt: isoTimestamp, expiresIn: z.int() });
const sessionBody = z.strictObject({
  namespaceSlug: z.string().max(64),
  databaseSlug: z.string().max(128).describe("<slug> or <slug>@<branch>"),
  userId: claim(256).min(1).describe("Becomes $user_id"),
  email: claim(320).optional().describe("Becomes $user_email"),
  expiresIn: z.int().min(60).max(86_400).default(3600).describe("Seconds"),
}).meta({
  examples: [{ namespaceSlug: "acme", databaseSlug: "shop", userId: "42", email: "ada@example.com" }],
});

/** Mounted under `/v1`. */
export function sessionRoutes({ control }: AppDeps): Hono<Env> {
  return new Hono<Env>().post(
    "/sessions",
    describeRoute({
      summary: "Mint a session for an end user",
      tags: ["sessions"],
      responses: answers(session, { status: 201 }),
    }),
    refuseParameters(),
    validate("json", sessionBody),
    async (c) => {
      const data = await createSession({ control, caller: c.get("token") }, c.req.valid("json"));
      return sendData(c, data, 201);
    },
  );
}

/** Text of a bounded length (in code points) that an endpoint can bind as it is. */
function claim(maxLength: number): z.ZodString {
  return z.string().refine((text) => [...text].length <= maxLength, {
    error: `Send at most ${maxLength} characters`,
  }).check(plainText).meta({ maxLength });
}
