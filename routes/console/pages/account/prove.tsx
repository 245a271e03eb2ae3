// /console/-/prove: somebody who signed in long ago proves who they are, and what they were about to do is done.
import { Hono } from "hono";
import { confirmByPassword } from "../../../../lib/services/people/own_account.ts";
import { beginPasskeyConfirmation, confirmByPasskey } from "../../../../lib/services/people/use_passkeys.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import type { Env } from "../../../http/env.ts";
import { accountContext } from "../../../http/service_contexts.ts";
import { attempt } from "../../frame/attempt.ts";
import { formTargetOf } from "../../frame/form_target.ts";
import { renderPage } from "../../frame/page.tsx";
import { passkeyAnswer } from "../../frame/passkey_answer.ts";
import { readForm } from "../../frame/read_form.ts";
import { waitingIn } from "../../frame/resume.ts";
import { Prove } from "./prove_view.tsx";

/** Answers a request as if it came from the browser. */
export type Answer = (request: Request, env: Env["Bindings"]) => Response | Promise<Response>;

/** Mounted under `/console`. `answer` is the console itself. */
export function proveRoutes(deps: AppDeps, answer: Answer): Hono<Env> {
  return new Hono<Env>()
    .post("/-/prove", async (c) => {
      const fields = await readForm(c);
      const waiting = waitingIn(fields) ?? { to: "/console", typed: "" };
      c.set("formTarget", formTargetOf(waiting.to));
      const proved = await attempt(async () => {
        const ctx = accountContext(deps, c);
        const passkey = passkeyAnswer(fields.exact("answer"));
        if (passkey !== null) return await confirmByPasskey(ctx, passkey);
        return await confirmByPassword(ctx, fields.exact("password"));
      });
      if (!proved.ok) {
        return await renderPage(
          c,
          {
            title: "Confirm that it is you",
            scripts: ["passkey.ts"],
            alone: true,
            status: proved.problem.status,
          },
          <Prove
            visit={c.get("visit")}
            proofs={await c.get("visit").proofs()}
            waiting={waiting}
            returned={{ form: "prove", fields, problem: proved.problem }}
          />,
        );
      }
      return await answer(
        sendAgain(c.req.raw, waiting.to, { typed: waiting.typed, csrf: fields.exact("csrf") }),
        c.env,
      );
    })
    .post(
      "/-/prove/begin",
      async (c) => c.json({ options: await beginPasskeyConfirmation(accountContext(deps, c)) }),
    );
}

/** The form that waited, from the same browser with the same session. */
function sendAgain(
  { url, headers: sent }: Request,
  to: string,
  { typed, csrf }: { readonly typed: string; readonly csrf: string },
): Request {
  const headers = new Headers(sent);
  headers.delete("content-length");
  const fields = new URLSearchParams(typed);
  fields.set("csrf", csrf);
  return new Request(new URL(to, url), { method: "POST", headers, body: fields.toString() });
}
