// What the page of the sign-in shows.
import { hiddenOf, type Waiting } from "../../frame/resume.ts";
import { fieldsOf, messageOf, type Returned } from "../../frame/returned.ts";
import { Button } from "../../parts/button.tsx";
import { Field } from "../../parts/field.tsx";
import { Fold } from "../../parts/fold.tsx";
import type { Html } from "../../parts/html.ts";
import { Hidden } from "../../parts/hidden.tsx";
import { Notice } from "../../parts/notice.tsx";
import { PasskeyButton } from "../../parts/passkey_button.tsx";
import { UserName } from "../../parts/user_name.tsx";
import { visibleText } from "../../parts/visible_text.ts";

/** What the page tells. */
export interface SignInProps {
  /** Where it leads. */
  readonly next: string;
  readonly namespace: string;
  /** By the operator key instead of a password. */
  readonly keyed: boolean;
  /** A form whose session has ended. */
  readonly waiting: Waiting | null;
  /** As whom somebody is signed in already, where it is of no use for what was asked. */
  readonly signedInAs?: string;
  readonly returned: Returned<"password" | "key"> | null;
}

/** The page. */
export function SignIn(props: SignInProps): Html {
  const { keyed, waiting, signedInAs } = props;
  return (
    <div class="card">
      <div class="body form">
        <h1>Sign in</h1>
        {waiting !== null
          ? (
            <Notice tone="warn">
              Your session has ended. What you typed is kept, and can be sent afterwards.
            </Notice>
          )
          : null}
        {signedInAs === undefined ? null : (
          <Notice tone="warn">
            This page is of another namespace than your session, as{" "}
            {visibleText(signedInAs)}. Signing in here ends that session.
          </Notice>
        )}
        {keyed ? <ByKey {...props} /> : <ByMember {...props} />}
        <OtherWay {...props} />
        {keyed ? null : (
          <p class="note">
            No password yet, or a lost one? An admin of your namespace sends you a new link.
          </p>
        )}
      </div>
    </div>
  );
}

/** A link would lose what waits, or find a session, so that the other form then stands on the same page. */
function OtherWay(props: SignInProps): Html {
  const { keyed, next, waiting, signedInAs } = props;
  const text = keyed ? "Sign in as a member instead" : "Use the operator key";
  if (waiting === null && signedInAs === undefined) {
    const query = new URLSearchParams({ ...(keyed ? {} : { by: "key" }), next });
    return (
      <p class="note">
        {keyed ? "" : "You run this service? "}
        <a href={`/console/-/sign-in?${query}`}>{text}</a>
      </p>
    );
  }
  return (
    <Fold title={text}>
      <div class="form">{keyed ? <ByMember {...props} /> : <ByKey {...props} />}</div>
    </Fold>
  );
}

function ByMember({ next, namespace, waiting, returned }: SignInProps): Html {
  const field = fieldsOf(returned, "password");
  const message = messageOf(returned, "password");
  const hidden = { next, ...hiddenOf(waiting) };
  return (
    <>
      {message === null ? null : <Notice tone="bad">{message}</Notice>}
      <form action="/console/-/sign-in" method="post" class="form needs-script">
        <Hidden fields={hidden} />
        <PasskeyButton kind="get" begin="/console/-/sign-in/begin" text="Sign in with a passkey" />
        <p class="or">
          <span>or with a password</span>
        </p>
      </form>
      <form action="/console/-/sign-in" method="post" class="form">
        <Hidden fields={hidden} />
        <Field
          {...field("namespace", namespace)}
          label="Namespace"
          placeholder="northwind"
          autocomplete="organization"
          maxLength={64}
          required
        />
        <Field {...field("email")} label="E-mail" type="email" autocomplete="username webauthn" required />
        <Field
          {...field("password")}
          label="Password"
          type="password"
          autocomplete="current-password"
          required
        />
        <Button kind="primary" wide>Sign in</Button>
      </form>
    </>
  );
}

function ByKey({ next, waiting, returned }: SignInProps): Html {
  const field = fieldsOf(returned, "key");
  const message = messageOf(returned, "key");
  return (
    <>
      {message === null ? null : <Notice tone="bad">{message}</Notice>}
      <form action="/console/-/sign-in/key" method="post" class="form">
        <Hidden fields={{ next, ...hiddenOf(waiting) }} />
        <UserName of="operator" />
        <Field
          {...field("operatorKey")}
          label="Operator key"
          type="password"
          autocomplete="off"
          hint="Printed at the first start, or set as OPERATOR_KEY. The session ends after an hour."
          required
        />
        <Button kind="primary" wide>Sign in as the operator</Button>
      </form>
    </>
  );
}
