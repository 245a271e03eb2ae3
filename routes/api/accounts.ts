// /api/namespaces/:slug/databases/:dbSlug/endpoints/:endpoint/link and /unlock: what an owner's server does for a user.
import { type Context, Hono } from "hono";
import { z } from "zod";
import { MAX_EMAIL_LENGTH } from "../../lib/core/limits.ts";
import { type AccountInput, linkFor, unlockAccount } from "../../lib/services/endpoints/account_access.ts";
import { describing, sendData } from "../http/answers.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { isoTimestamp } from "../http/schemas.ts";
import { validate } from "../middleware/validate.ts";
import { addressOf } from "./path_names.ts";

const ONE = "/:slug/databases/:dbSlug/endpoints/:endpoint";
const described = describing(["endpoints"]);

const accountBody = z.strictObject({
  email: z.string().min(1).max(MAX_EMAIL_LENGTH).describe("Of the account"),
}).meta({ examples: [{ email: "ada@example.com" }] });
const accountLink = z.object({
  link: z.string().describe("What the mail would hold"),
  token: z.string(),
  email: z.string().describe("As the users table has it"),
  expiresAt: isoTimestamp,
});

/** Mounted under `/api/namespaces`. */
export function accountRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>()
    .post(
      `${ONE}/link`,
      described("Make a link that resets a password or verifies an address, once", accountLink, {
        status: 201,
      }),
      validate("json", accountBody),
      async (c) => {
        const data = await linkFor(contextOf(deps, c), inputOf(c, c.req.valid("json")));
        return sendData(c, data, 201);
      },
    )
    .post(
      `${ONE}/unlock`,
      described("Forget the failed log-ins of an account", z.object({ unlocked: z.literal(true) })),
      validate("json", accountBody),
      async (c) => {
        await unlockAccount(contextOf(deps, c), inputOf(c, c.req.valid("json")));
        return sendData(c, { unlocked: true });
      },
    );
}

function contextOf(deps: AppDeps, c: Context<Env>) {
  return { ...deps, caller: c.get("caller"), published: deps.published };
}

function inputOf(c: Context<Env, typeof ONE>, { email }: { readonly email: string }): AccountInput {
  const address = addressOf(c);
  return { address, slug: c.req.param("endpoint"), email };
}
