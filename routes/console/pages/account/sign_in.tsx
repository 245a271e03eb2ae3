// /console/-/sign-in: a member by passkey or password, the operator by the key. What somebody was typing when the session
// ended waits behind the form.
import { type Context, Hono } from "hono";
import type { OpenedSession } from "../../../../lib/services/people/open_person_session.ts";
import { beginPasskeySignIn, signInByPasskey } from "../../../../lib/services/people/use_passkeys.ts";
import { signInByOperatorKey, signInByPassword } from "../../../../lib/services/people/sign_in.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import type { Env } from "../../../http/env.ts";
import { browserOf } from "../../../middleware/browser_of.ts";
import { attempt } from "../../frame/attempt.ts";
import { namespaceOf, ownPath } from "../../frame/own_path.ts";
import { renderPage } from "../../frame/page.tsx";
import { passkeyAnswer } from "../../frame/passkey_answer.ts";
import { type FormFields, readStrangersForm } from "../../frame/read_form.ts";
import { waitingIn } from "../../frame/resume.ts";
import type { Returned } from "../../frame/returned.ts";
import { startSession } from "../../frame/start_session.ts";
import { askToSend } from "./send_again.tsx";
import { SignIn } from "./sign_in_view.tsx";

/** Mounted under `/console`. */
export function signInRoutes(deps: AppDeps): Hono<Env> {
  const page = async (c: Context<Env>, returned: Returned<"password" | "key"> | null) => {
    const next = returned?.fields.exact("next") ?? c.req.query("next");
    const keyed = returned === null ? c.req.query("by") === "key" : returned.form === "key";
    return await renderPage(
      c,
      { title: "Sign in", scripts: ["passkey.ts"], returned, alone: true },
      <SignIn
        next={ownPath(next)}
        // Most people belong to the namespace whose page they have asked for.
        namespace={c.req.query("ns") ?? namespaceOf(next)}
        keyed={keyed}
        waiting={returned === null ? null : waitingIn(returned.fields)}
        returned={returned}
      />,
    );
  };
  const enter = async (
    c: Context<Env>,
    session: OpenedSession,
    { fields, to }: { readonly fields: FormFields; readonly to: string },
  ) => {
    startSession(c, deps, session);
    const waiting = waitingIn(fields);
    return waiting === null ? c.redirect(to, 303) : await askToSend(c, { csrf: session.csrfToken, waiting });
  };
  return new Hono<Env>()
    .get("/-/sign-in", async (c) => {
      if (c.get("visit").person !== null) return c.redirect(ownPath(c.req.query("next")), 302);
      return await page(c, null);
    })
    .post("/-/sign-in", async (c) => {
      const fields = await readStrangersForm(c);
      const signedIn = await attempt(async () => {
        const browser = browserOf(c, deps);
        const answer = passkeyAnswer(fields.exact("answer"));
        if (answer !== null) return await signInByPasskey(deps.people, { answer, browser });
        const [namespaceSlug, email] = [fields.text("namespace"), fields.text("email")];
        const password = fields.exact("password");
        return await signInByPassword(deps.people, { namespaceSlug, email, password, browser });
      });
      if (!signedIn.ok) return await page(c, { form: "password", fields, problem: signedIn.problem });
      const next = ownPath(fields.exact("next"));
      const to = next === "/console" ? `/console/${signedIn.value.namespaceSlug}` : next;
      return await enter(c, signedIn.value, { fields, to });
    })
    .post("/-/sign-in/begin", async (c) => c.json({ options: await beginPasskeySignIn(deps.people) }))
    .post("/-/sign-in/key", async (c) => {
      const fields = await readStrangersForm(c);
      const signedIn = await attempt(() =>
        signInByOperatorKey(deps.people, {
          operatorKey: fields.text("operatorKey"),
          browser: browserOf(c, deps),
        })
      );
      if (!signedIn.ok) return await page(c, { form: "key", fields, problem: signedIn.problem });
      return await enter(c, signedIn.value, { fields, to: ownPath(fields.exact("next")) });
    });
}
