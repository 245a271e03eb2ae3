// Asks somebody who is signed in to prove once more who they are, with what they were about to do behind the form.
import type { Proofs } from "../../../../lib/services/people/own_account.ts";
import type { Visit } from "../../../http/visit.ts";
import { hiddenOf, type Waiting } from "../../frame/resume.ts";
import { fieldsOf, messageOf, type Returned } from "../../frame/returned.ts";
import { Button } from "../../parts/button.tsx";
import { Field } from "../../parts/field.tsx";
import { Form } from "../../parts/form.tsx";
import type { Html } from "../../parts/html.ts";
import { Notice } from "../../parts/notice.tsx";
import { PasskeyButton } from "../../parts/passkey_button.tsx";
import { UserName } from "../../parts/user_name.tsx";

/** What the page tells. */
export interface ProveProps {
  readonly visit: Visit;
  readonly proofs: Proofs;
  readonly waiting: Waiting;
  readonly returned: Returned<"prove"> | null;
}

/** The page. */
export function Prove({ visit, proofs, waiting, returned }: ProveProps): Html {
  const caller = visit.person?.caller;
  const isOperator = caller?.kind === "operator";
  const message = returned?.problem.code === "sign_in_failed"
    ? `This is ${isOperator ? "not the operator key" : "neither the password nor a passkey of this account"}`
    : messageOf(returned, "prove");
  const field = fieldsOf(returned, "prove");
  const hidden = hiddenOf(waiting);
  const leave = <Button href={waiting.to.replace(/\?.*/, "")}>Do nothing</Button>;
  return (
    <div class="card">
      <div class="body form">
        <h1>Confirm that it is you</h1>
        <p>
          You signed in more than 15 minutes ago. What you are about to do cannot be taken back by a click, so
          it asks once more. What you typed is kept.
        </p>
        {message === null ? null : <Notice tone="bad">{message}</Notice>}
        {proofs.passkey
          ? (
            <Form visit={visit} action="/console/-/prove" kind="form needs-script" hidden={hidden}>
              <PasskeyButton
                kind="get"
                begin="/console/-/prove/begin"
                primary={!proofs.password}
                text="Confirm with a passkey"
              />
              {proofs.password
                ? (
                  <p class="or">
                    <span>or with the password</span>
                  </p>
                )
                : null}
            </Form>
          )
          : null}
        {proofs.password
          ? (
            <Form visit={visit} action="/console/-/prove" kind="form" hidden={hidden}>
              <UserName of={caller?.kind === "member" ? caller.email : "operator"} />
              <Field
                {...field("password")}
                label={isOperator ? "Operator key" : "Password"}
                type="password"
                autocomplete={isOperator ? "off" : "current-password"}
                required
              />
              <div class="end">
                <Button kind="primary">Confirm and go on</Button>
                {leave}
              </div>
            </Form>
          )
          : <div class="end">{leave}</div>}
      </div>
    </div>
  );
}
