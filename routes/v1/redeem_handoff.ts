// POST /v1/handoff/redeem. No bearer: the handoff token is the proof, so it is mounted before the bearer is asked for.
import { Hono } from "hono";
import { describeRoute } from "hono-openapi";
import { z } from "zod";
import { redeemHandoff } from "../../lib/services/handoff/redeem_handoff.ts";
import { answers } from "../http/answers.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { validate } from "../middleware/validate.ts";
import { displayName, isoTimestamp, role } from "../http/schemas.ts";

const redeemed = z.object({
  token: z.string(),
  tokenId: z.string(),
  namespaceSlug: z.string(),
  databaseSlug: z.string().describe("As it goes into a path"),
  databaseId: z.string(),
  branchRef: z.string(),
  role,
  expiresAt: isoTimestamp.nullable().describe("When the minting token expires"),
});
const redeemBody = z.strictObject({
  token: z.string().describe("The handoff token"),
  name: displayName.describe("Of the new API token"),
}).meta({ examples: [{ token: "phand_…", name: "Report writer" }] });

export function redeemHandoffRoutes({ control, clock }: AppDeps): Hono<Env> {
  return new Hono<Env>().post(
    "/handoff/redeem",
    describeRoute({
      summary: "Exchange a handoff token for an API token",
      tags: ["handoff"],
      security: [],
      responses: answers(redeemed, { status: 201 }),
    }),
    validate("json", redeemBody),
    async (c) => {
      const data = await redeemHandoff({ control, clock }, c.req.valid("json"));
      return c.json({ success: true, data }, 201);
    },
  );
}
