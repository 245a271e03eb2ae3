// Tokens under /v1: GET /me tells what the bearer may do, POST /db/:ns/:db/handoff passes on a part of it, and
// POST /handoff/redeem exchanges that for a token.
import { Hono } from "hono";
import { describeRoute } from "hono-openapi";
import { z } from "zod";
import { mintHandoff } from "../../lib/services/handoff/mint_handoff.ts";
import { redeemHandoff } from "../../lib/services/handoff/redeem_handoff.ts";
import { describeCaller } from "../../lib/services/tokens/manage_tokens.ts";
import { answers, sendData } from "../http/answers.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { displayName, isoTimestamp, noQuery, role, scopeRow, secondsIn } from "../http/schemas.ts";
import { bodyUpTo } from "../middleware/body_text.ts";
import { refuseParameters } from "../middleware/refuse_parameters.ts";
import { validate } from "../middleware/validate.ts";
import { chosenSec, MAX_SHORT_BODY_BYTES } from "../../lib/core/limits.ts";

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
    (c) => sendData(c, describeCaller(c.get("token"))),
  );
}

const handoff = z.object({ token: z.string(), expiresAt: isoTimestamp });
const mintBody = z.strictObject({
  role: role.describe("At most the caller's own role there"),
  ttlSec: secondsIn(chosenSec.handoff).describe("Seconds until it can no longer be redeemed"),
}).meta({ examples: [{ role: "read", ttlSec: 600 }] });

/** Mounted under `/v1/db/:ns/:db`. */
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
      return sendData(c, await mintHandoff(ctx, c.req.valid("json")), 201);
    },
  );
}

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

/** Mounted under `/v1` before a bearer is required: the handoff token is the proof. */
export function redeemHandoffRoutes({ control, clock }: AppDeps): Hono<Env> {
  return new Hono<Env>().post(
    "/handoff/redeem",
    describeRoute({
      summary: "Exchange a handoff token for an API token",
      tags: ["handoff"],
      security: [],
      responses: answers(redeemed, { status: 201 }),
    }),
    refuseParameters(),
    bodyUpTo(MAX_SHORT_BODY_BYTES),
    validate("json", redeemBody),
    async (c) => {
      const data = await redeemHandoff({ control, clock }, c.req.valid("json"));
      return sendData(c, data, 201);
    },
  );
}
