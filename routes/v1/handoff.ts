// POST /v1/db/:ns/:db/handoff: passes on what the caller may do here, or less.
import { Hono } from "hono";
import { describeRoute } from "hono-openapi";
import { z } from "zod";
import { mintHandoff } from "../../lib/services/handoff/mint_handoff.ts";
import { answers } from "../http/answers.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { validate } from "../middleware/validate.ts";
import { isoTimestamp, role } from "../http/schemas.ts";

const handoff = z.object({ token: z.string(), expiresAt: isoTimestamp });
const mintBody = z.strictObject({
  role: role.describe("At most the caller's own role there"),
  ttlSec: z.int().min(60).max(86_400).describe("Seconds until it can no longer be redeemed"),
}).meta({ examples: [{ role: "read", ttlSec: 600 }] });

export function handoffRoutes({ control, clock }: AppDeps): Hono<Env> {
  return new Hono<Env>().post(
    "/handoff",
    describeRoute({
      summary: "Mint a handoff token",
      tags: ["handoff"],
      responses: answers(handoff, { status: 201 }),
    }),
    validate("json", mintBody),
    async (c) => {
      const ctx = { control, clock, target: c.get("target"), tokenId: c.get("token").tokenId };
      return c.json({ success: true, data: await mintHandoff(ctx, c.req.valid("json")) }, 201);
    },
  );
}
