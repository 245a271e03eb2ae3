// What the page of an invitation or of the first start shows.
import type { LinkView } from "../../../../lib/services/people/accept_link.ts";
import type { Visit } from "../../../http/visit.ts";
import { fieldsOf, messageOf, type Returned } from "../../frame/returned.ts";
import { Button } from "../../parts/button.tsx";
import { Field } from "../../parts/field.tsx";
import type { Html } from "../../parts/html.ts";
import { Notice } from "../../parts/notice.tsx";
import { PasskeyButton } from "../../parts/passkey_button.tsx";
import { Time } from "../../parts/time.tsx";
import { UserName } from "../../parts/user_name.tsx";
import { visibleText } from "../../parts/visible_text.ts";

/** What the page tells. */
export interface LinkProps {
  readonly link: LinkView;
  /** The address of the page, with the link's secret. */
  readonly here: string;
  readonly visit: Visit;
  readonly returned: Returned<"come-in"> | null;
}

const mayDo = {
  viewer: "see everything in it",
  editor: "see everything in it and change rows",
  admin: "manage it and decide what may run",
} as const;

/** The page. */
export function Link({ link, here, visit: { person }, returned }: LinkProps): Html {
  const field = fieldsOf(returned, "come-in");
  const message = messageOf(returned, "come-in");
  const { email, name, namespaceName, namespaceSlug, role, again, kind, expiresAt } = link;
  return (
    <div class="card">
      <div class="body form">
        <h1>
          {kind === "start"
            ? "Welcome to Cubby"
            : again
            ? "Start afresh"
            : `Join ${visibleText(namespaceName)}`}
        </h1>
        <p>
          {kind === "start"
            ? `You become the first admin of ${namespaceSlug}.`
            : again
            ? `A new start in ${namespaceSlug}: your password, passkeys and sessions so far end.`
            : `You can ${mayDo[role]} as ${
              role === "viewer" ? "a viewer" : `an ${role}`
            } of ${namespaceSlug}.`}
        </p>
        {person === null ? null : (
          <Notice tone="warn">
            You are signed in here as {visibleText(person.name)}. Coming in ends that session.
          </Notice>
        )}
        {message === null ? null : <Notice tone="bad">{message}</Notice>}
        <form action={here} method="post" class="form">
          {email === null
            ? (
              <Field
                {...field("email")}
                label="E-mail"
                type="email"
                hint="You sign in by it. Nothing is sent there."
                autocomplete="username"
                required
              />
            )
            : (
              <p class="note">
                <UserName of={email} />
                As <b>{email}</b>
              </p>
            )}
          <Field {...field("name", name ?? "")} label="Your name" autocomplete="name" maxLength={200} />
          <PasskeyButton
            kind="create"
            begin={`${here}/begin`}
            needs="email"
            text="Come in with a passkey"
            primary
          />
          <p class="or needs-script">
            <span>or with a password</span>
          </p>
          <Field
            {...field("password")}
            label="Password"
            type="password"
            hint="At least 10 characters; four random words are a good one"
            autocomplete="new-password"
            required
          />
          <Button wide>Come in with the password</Button>
        </form>
        <p class="note">
          This link counts once, until <Time at={expiresAt} />.
        </p>
      </div>
    </div>
  );
}
