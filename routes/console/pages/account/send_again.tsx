// After a sign-in in the middle of a form: what was typed is sent by another click, so that no other site can have it
// sent by making somebody sign in.
import type { Context } from "hono";
import type { Env } from "../../../http/env.ts";
import { formTargetOf } from "../../frame/form_target.ts";
import { renderPage } from "../../frame/page.tsx";
import type { Waiting } from "../../frame/resume.ts";
import { Button } from "../../parts/button.tsx";
import type { Html } from "../../parts/html.ts";
import { Hidden } from "../../parts/hidden.tsx";

/** A form that was not sent, or in vain. */
export interface SendAgainProps {
  /** The word of the session that there is now. */
  readonly csrf: string;
  readonly waiting: Waiting;
}

/** The page that asks. */
export async function askToSend(c: Context<Env>, props: SendAgainProps): Promise<Response> {
  aimAt(c, props.waiting);
  return await renderPage(c, { title: "Send what you typed?", alone: true }, <SendAgain {...props} />);
}

/** Lets the page of the answer lead where the answer to the form may. */
export function aimAt(c: Context<Env>, { to }: Waiting): void {
  c.set("formTarget", formTargetOf(to));
}

function SendAgain(props: SendAgainProps): Html {
  return (
    <div class="card">
      <div class="body form">
        <h1>You are signed in again</h1>
        <p>What you typed was not sent, because your session had ended. Nothing has changed yet.</p>
        <SendForm {...props} label="Send it now" />
      </div>
    </div>
  );
}

/** What was typed, behind a button. */
export function SendForm({ csrf, waiting, label }: SendAgainProps & { readonly label: string }): Html {
  const fields = [...new URLSearchParams(waiting.typed)].filter(([name]) => name !== "csrf");
  return (
    <form action={waiting.to} method="post" class="form">
      <Hidden fields={{ csrf }} />
      {fields.map(([name, value]) => <input type="hidden" name={name} value={value} />)}
      <div class="end">
        <Button kind="primary">{label}</Button>
        <Button href={waiting.to.replace(/\?.*/, "")}>Do not send it</Button>
      </div>
    </form>
  );
}
