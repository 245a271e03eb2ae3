// After a sign-in in the middle of a form: what was typed is sent by another click, so that no other site can have it
// sent by making somebody sign in.
import type { Waiting } from "../frame/resume.ts";
import { Button } from "../parts/button.tsx";
import type { Html } from "../parts/html.ts";
import { Hidden } from "../parts/hidden.tsx";

/** The page's content. */
export function SendAgain({ csrf, waiting }: { csrf: string; waiting: Waiting }): Html {
  const fields = [...new URLSearchParams(waiting.typed)].filter(([name]) => name !== "csrf");
  return (
    <div class="card">
      <div class="body form">
        <h1>You are signed in again</h1>
        <p>What you typed was not sent, because your session had ended. Nothing has changed yet.</p>
        <form action={waiting.to} method="post" class="form">
          <Hidden fields={{ csrf }} />
          {fields.map(([name, value]) => <input type="hidden" name={name} value={value} />)}
          <div class="end">
            <Button kind="primary">Send it now</Button>
            <Button href={waiting.to.replace(/\?.*/, "")}>Do not send it</Button>
          </div>
        </form>
      </div>
    </div>
  );
}
