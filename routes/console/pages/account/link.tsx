// /console/-/invite/:token and /console/-/start/:token: somebody comes in by a link that counts once. Looking at it uses
// nothing up, because chats and mail programs look at links before people do.
import { type Context, Hono } from "hono";
import { z } from "zod";
import { acceptLink, type Newcomer, readLink } from "../../../../lib/services/people/accept_link.ts";
import { acceptLinkByPasskey, beginLinkPasskey } from "../../../../lib/services/people/use_passkeys.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import type { Env } from "../../../http/env.ts";
import { displayName, emailAddress } from "../../../http/schemas.ts";
import { browserOf } from "../../../middleware/browser_of.ts";
import { attempt, checked } from "../../frame/attempt.ts";
import { renderPage } from "../../frame/page.tsx";
import { passkeyAnswer } from "../../frame/passkey_answer.ts";
import { type FormFields, readForm } from "../../frame/read_form.ts";
import type { Returned } from "../../frame/returned.ts";
import { startSession } from "../../frame/start_session.ts";
import { Link } from "./link_view.tsx";

const newcomer = z.object({
  name: displayName.optional(),
  email: emailAddress.optional(),
});
const words = {
  email: "Write an address such as ada@example.com: you sign in by it",
  name: "Take a shorter name",
};

/** Mounted under `/console`. */
export function linkRoutes(deps: AppDeps): Hono<Env> {
  const page = async (c: Context<Env>, returned: Returned<"come-in"> | null) => {
    const link = await readLink(deps.people, c.req.param("token") ?? "");
    return await renderPage(
      c,
      {
        title: link.kind === "invitation" ? `Join ${link.namespaceName}` : "Set up the console",
        scripts: ["passkey.ts"],
        alone: true,
        returned,
      },
      <Link link={link} here={new URL(c.req.url).pathname} visit={c.get("visit")} returned={returned} />,
    );
  };
  const accept = async (c: Context<Env>) => {
    const fields = await readForm(c);
    const come = await attempt(async () => {
      const input = newcomerOf(c, deps, fields);
      const answer = passkeyAnswer(fields.exact("answer"));
      if (answer !== null) {
        return await acceptLinkByPasskey(deps.people, { ...input, answer, passkeyName: "First passkey" });
      }
      return await acceptLink(deps.people, { ...input, password: fields.exact("password") });
    });
    if (!come.ok) return await page(c, { form: "come-in", fields, problem: come.problem });
    startSession(c, deps, come.value);
    return c.redirect(`/console/${come.value.namespaceSlug}`, 303);
  };
  const begin = async (c: Context<Env>) => {
    const input = newcomerOf(c, deps, await readForm(c));
    return c.json({ options: await beginLinkPasskey(deps.people, input) });
  };
  return new Hono<Env>()
    .get("/-/invite/:token", (c) => page(c, null))
    .post("/-/invite/:token", accept)
    .post("/-/invite/:token/begin", begin)
    .get("/-/start/:token", (c) => page(c, null))
    .post("/-/start/:token", accept)
    .post("/-/start/:token/begin", begin);
}

/** Errors: `validation_failed`. */
function newcomerOf(c: Context<Env>, deps: AppDeps, fields: FormFields): Newcomer {
  const sent = { name: fields.optional("name"), email: fields.optional("email") };
  return {
    token: c.req.param("token") ?? "",
    browser: browserOf(c, deps),
    ...checked(newcomer, sent, words),
  };
}
