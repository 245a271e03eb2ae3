// /api/me: what people who have signed in do about their own account. An API token has none.
import { Hono } from "hono";
import { z } from "zod";
import {
  confirmByPassword,
  endOtherSessions,
  endSession,
  listSessions,
} from "../../lib/services/people/own_account.ts";
import {
  addPasskey,
  beginPasskey,
  beginPasskeyConfirmation,
  confirmByPasskey,
  listPasskeys,
  removePasskey,
} from "../../lib/services/people/use_passkeys.ts";
import { describing, sendData } from "../http/answers.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { isoTimestamp, noQuery, passkeyAnswer, passkeyName } from "../http/schemas.ts";
import { accountContext } from "../http/service_contexts.ts";
import { noBody, validate } from "../middleware/validate.ts";

const sessionRecord = z.object({
  id: z.string(),
  agent: z.string().describe("What the browser calls itself"),
  createdAt: isoTimestamp,
  signedInAt: isoTimestamp.describe("When its owner last proved who it is"),
  usedAt: isoTimestamp.describe("Up to five minutes behind"),
  expiresAt: isoTimestamp.describe("At the latest; earlier when it is not used for 12 hours"),
  current: z.boolean(),
});
const passkeyRecord = z.object({
  id: z.string(),
  name: z.string(),
  createdAt: isoTimestamp,
  usedAt: isoTimestamp.nullable(),
});
const options = z.record(z.string(), z.unknown()).describe("For navigator.credentials, as its JSON form");
const passkeyBody = z.strictObject({ name: passkeyName, answer: passkeyAnswer }).meta({
  examples: [{ name: "Laptop", answer: { id: "…", response: {} } }],
});
const proof = z.strictObject({
  secret: z.string().min(1).max(8192).optional().describe("The password, or of the operator the key"),
  answer: passkeyAnswer.optional(),
}).refine(
  ({ secret, answer }) => (secret === undefined) !== (answer === undefined),
  "Send secret or answer",
).meta({ examples: [{ secret: "correct horse battery" }] });
const named = z.object({ id: z.string() });
const described = describing(["me"]);

/** Mounted under `/api/me`. */
export function meRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>().route("/", sessionsOf(deps)).route("/", passkeysOf(deps));
}

function sessionsOf(deps: AppDeps): Hono<Env> {
  return new Hono<Env>()
    .get(
      "/sessions",
      described("List your sessions", z.array(sessionRecord)),
      validate("query", noQuery),
      async (c) => sendData(c, await listSessions(accountContext(deps, c))),
    )
    .delete(
      "/sessions",
      described("End your other sessions", z.object({})),
      noBody,
      async (c) => {
        await endOtherSessions(accountContext(deps, c));
        return sendData(c, {});
      },
    )
    .delete(
      "/sessions/:id",
      described("End one of your sessions", named),
      noBody,
      async (c) => sendData(c, await endSession(accountContext(deps, c), c.req.param("id"))),
    )
    .post(
      "/confirm",
      described("Prove again who you are, so that the session counts as new", z.object({})),
      validate("json", proof),
      async (c) => {
        const { secret, answer } = c.req.valid("json");
        const ctx = accountContext(deps, c);
        if (answer !== undefined) await confirmByPasskey(ctx, answer);
        else await confirmByPassword(ctx, secret ?? "");
        return sendData(c, {});
      },
    );
}

function passkeysOf(deps: AppDeps): Hono<Env> {
  return new Hono<Env>()
    .post(
      "/confirm/options",
      described("Begin to prove it by a passkey", options),
      noBody,
      async (c) => sendData(c, await beginPasskeyConfirmation(accountContext(deps, c))),
    )
    .get(
      "/passkeys",
      described("List your passkeys", z.array(passkeyRecord)),
      validate("query", noQuery),
      async (c) => sendData(c, await listPasskeys(accountContext(deps, c))),
    )
    .post(
      "/passkeys/options",
      described("Begin to make a passkey", options),
      noBody,
      async (c) => sendData(c, await beginPasskey(accountContext(deps, c))),
    )
    .post(
      "/passkeys",
      described("Add a passkey", passkeyRecord, { status: 201 }),
      validate("json", passkeyBody),
      async (c) => sendData(c, await addPasskey(accountContext(deps, c), c.req.valid("json")), 201),
    )
    .delete(
      "/passkeys/:id",
      described("Remove one of your passkeys", named),
      noBody,
      async (c) => sendData(c, await removePasskey(accountContext(deps, c), c.req.param("id"))),
    );
}
