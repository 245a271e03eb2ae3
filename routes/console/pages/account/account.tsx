// /console/-/account: how somebody signs in, and where they are signed in now.
import { type Context, Hono } from "hono";
import { z } from "zod";
import {
  changePassword,
  endOtherSessions,
  endSession,
  listSessions,
} from "../../../../lib/services/people/own_account.ts";
import {
  addPasskey,
  beginPasskey,
  listPasskeys,
  removePasskey,
} from "../../../../lib/services/people/use_passkeys.ts";
import { requireMember } from "../../../../lib/services/people/people_context.ts";
import { AppError } from "../../../../lib/core/errors.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import type { Env } from "../../../http/env.ts";
import { passkeyName } from "../../../http/schemas.ts";
import { accountContext } from "../../../http/service_contexts.ts";
import { dropSessionCookie } from "../../../http/session_cookie.ts";
import { browserOf } from "../../../middleware/browser_of.ts";
import { attempt, checked } from "../../frame/attempt.ts";
import { renderPage } from "../../frame/page.tsx";
import { passkeyAnswer } from "../../frame/passkey_answer.ts";
import { type FormFields, readForm } from "../../frame/read_form.ts";
import type { Returned } from "../../frame/returned.ts";
import { personCaller } from "../../frame/session.ts";
import { startSession } from "../../frame/start_session.ts";
import { Account, type AccountForm } from "./account_view.tsx";

const HERE = "/console/-/account";
const newPasskey = z.object({ name: passkeyName });
/** What has just been done, as the address says. */
const told = ["passkey", "removed", "password", "ended"] as const;

/** Mounted under `/console`. */
export function accountRoutes(deps: AppDeps): Hono<Env> {
  const page = async (c: Context<Env>, returned: Returned<AccountForm> | null) => {
    const ctx = accountContext(deps, c);
    const caller = personCaller(c);
    const [sessions, passkeys] = await Promise.all([
      listSessions(ctx),
      caller.kind === "member" ? listPasskeys(ctx) : Promise.resolve([]),
    ]);
    const done = told.find((name) => c.req.query("done") === name) ?? null;
    return await renderPage(
      c,
      {
        title: "Your account",
        scripts: ["passkey.ts"],
        returned,
        ...(caller.kind === "member" ? { namespace: caller.namespaceSlug } : {}),
      },
      <Account
        visit={c.get("visit")}
        caller={caller}
        sessions={sessions}
        passkeys={passkeys}
        returned={returned}
        done={done}
      />,
    );
  };
  /** Does it, and shows the page again: with what has been done, or with the form. */
  const act = async (
    c: Context<Env>,
    form: AccountForm,
    work: (fields: FormFields) => Promise<typeof told[number]>,
  ) => {
    const fields = await readForm(c);
    const done = await attempt(() => work(fields));
    if (!done.ok) return await page(c, { form, fields, problem: done.problem });
    return c.redirect(`${HERE}?done=${done.value}`, 303);
  };
  return new Hono<Env>()
    .get("/-/account", (c) => page(c, null))
    .post(
      "/-/account/passkeys/begin",
      async (c) => c.json({ options: await beginPasskey(accountContext(deps, c)) }),
    )
    .post("/-/account/passkeys", (c) =>
      act(c, "passkey", async (fields) => {
        requireMember(c.get("caller"));
        const answer = passkeyAnswer(fields.exact("answer"));
        if (answer === null) throw new AppError("passkey_refused");
        const words = { name: "Name it by the device, so that you know it later" };
        const { name } = checked(newPasskey, { name: fields.text("name") }, words);
        await addPasskey(accountContext(deps, c), { name, answer });
        return "passkey";
      }))
    .post("/-/account/passkeys/:id/remove", (c) =>
      act(c, "remove", async () => {
        await removePasskey(accountContext(deps, c), c.req.param("id"));
        return "removed";
      }))
    .post("/-/account/password", (c) =>
      act(c, "password", async (fields) => {
        const password = fields.exact("password");
        startSession(
          c,
          deps,
          await changePassword(accountContext(deps, c), { password, browser: browserOf(c, deps) }),
        );
        return "password";
      }))
    .post("/-/account/sessions/end-others", (c) =>
      act(c, "session", async () => {
        await endOtherSessions(accountContext(deps, c));
        return "ended";
      }))
    .post("/-/account/sessions/:id/end", (c) =>
      act(c, "session", async () => {
        const { id } = await endSession(accountContext(deps, c), c.req.param("id"));
        const caller = personCaller(c);
        const own = caller.kind === "member" ? caller.sessionId : caller.session?.sessionId;
        if (id === own) dropSessionCookie(c, deps.baseUrl);
        return "ended";
      }));
}
