// What the page of somebody's own account shows.
import type { PersonCaller } from "../../../../lib/access/caller.ts";
import type { SessionView } from "../../../../lib/services/people/own_account.ts";
import type { PasskeyView } from "../../../../lib/services/people/use_passkeys.ts";
import type { Visit } from "../../../http/visit.ts";
import { fieldsOf, messageOf, type Returned } from "../../frame/returned.ts";
import { AskFirst } from "../../parts/ask_first.tsx";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Field } from "../../parts/field.tsx";
import { counted } from "../../parts/figures.ts";
import { Form } from "../../parts/form.tsx";
import { Grid } from "../../parts/grid.tsx";
import type { Html } from "../../parts/html.ts";
import { Icon } from "../../parts/icon.tsx";
import { Notice } from "../../parts/notice.tsx";
import { PageHead } from "../../parts/page_head.tsx";
import { PasskeyButton } from "../../parts/passkey_button.tsx";
import { Pill } from "../../parts/pill.tsx";
import { Time } from "../../parts/time.tsx";
import { UserName } from "../../parts/user_name.tsx";
import { visibleText } from "../../parts/visible_text.ts";

/** The forms of the page. */
export type AccountForm = "passkey" | "remove" | "password" | "session";

/** What the page tells. */
export interface AccountProps {
  readonly visit: Visit;
  readonly caller: PersonCaller;
  readonly sessions: readonly SessionView[];
  readonly passkeys: readonly PasskeyView[];
  readonly returned: Returned<AccountForm> | null;
  readonly done: "passkey" | "removed" | "password" | "ended" | null;
}

const doneWords = {
  passkey: "The passkey is added. Next time one touch signs you in, and approves.",
  removed: "The passkey is removed. Nobody can sign in with it any more.",
  password: "The password is changed. Every other session of yours has ended.",
  ended: "The session has ended.",
} as const;

/** The page. */
export function Account(props: AccountProps): Html {
  const { caller, done, returned } = props;
  const message = messageOf(returned, "remove") ?? messageOf(returned, "session");
  return (
    <>
      <PageHead
        title="Your account"
        about={caller.kind === "member"
          ? `${caller.email}, ${caller.role} of ${caller.namespaceSlug}`
          : "You signed in with the operator key: it has neither password nor passkeys, and its session ends after an hour."}
      />
      <div class="stack">
        {done === null ? null : <Notice tone="good">{doneWords[done]}</Notice>}
        {message === null ? null : <Notice tone="bad">{message}</Notice>}
        {caller.kind === "member"
          ? (
            <div class="beside">
              <Passkeys {...props} />
              <Password {...props} />
            </div>
          )
          : null}
        <Sessions {...props} />
      </div>
    </>
  );
}

function Passkeys({ visit, passkeys, returned }: AccountProps): Html {
  const field = fieldsOf(returned, "passkey");
  const message = messageOf(returned, "passkey");
  return (
    <Card id="passkeys" title="Passkeys" about={counted(passkeys.length, "passkey")} full>
      {passkeys.length === 0
        ? (
          <Empty icon="passkey" title="Approve with one touch: add a passkey">
            <p>
              A passkey lives in your phone, your computer or a security key, and opens with your finger, face
              or PIN. Nobody can guess it, phish it or find it in a log; an agent that drives your browser
              cannot use it.
            </p>
          </Empty>
        )
        : (
          <ul class="rows">
            {passkeys.map((passkey) => <Passkey visit={visit} passkey={passkey} />)}
          </ul>
        )}
      <div class="body below needs-script-block">
        <Form visit={visit} action="/console/-/account/passkeys" kind="form">
          {message === null ? null : <Notice tone="bad">{message}</Notice>}
          <Field
            {...field("name")}
            label="Name of the new passkey"
            placeholder="Phone"
            maxLength={100}
            required
          />
          <PasskeyButton
            kind="create"
            begin="/console/-/account/passkeys/begin"
            needs="name"
            text="Add a passkey"
            primary={passkeys.length === 0}
          />
        </Form>
      </div>
      <noscript>
        <p class="body note">A browser adds a passkey with its script only; the password works without.</p>
      </noscript>
    </Card>
  );
}

function Passkey({ visit, passkey }: { visit: Visit; passkey: PasskeyView }): Html {
  const { id, createdAt, usedAt } = passkey;
  const name = visibleText(passkey.name);
  return (
    <li>
      <div class="person">
        <span class="avatar soft" aria-hidden="true">
          <Icon name="passkey" size={14} />
        </span>
        <span>
          {name}
          <small>
            added <Time at={createdAt} />, {usedAt === null ? "not used yet" : (
              <>
                last used <Time at={usedAt} />
              </>
            )}
          </small>
        </span>
      </div>
      <span class="end">
        <AskFirst
          visit={visit}
          action={`/console/-/account/passkeys/${id}/remove`}
          ask="Remove"
          name={`Remove ${name}`}
          act="Remove the passkey"
        >
          Nobody can sign in or approve with it any more. The password and other passkeys stay.
        </AskFirst>
      </span>
    </li>
  );
}

function Password({ visit, caller, returned }: AccountProps): Html {
  const field = fieldsOf(returned, "password");
  const message = messageOf(returned, "password");
  return (
    <Card id="password" title="Password">
      <Form visit={visit} action="/console/-/account/password" kind="form">
        <UserName of={caller.kind === "member" ? caller.email : "operator"} />
        {message === null ? null : <Notice tone="bad">{message}</Notice>}
        <Field
          {...field("password")}
          label="New password"
          type="password"
          hint="At least 10 characters; four random words are a good one. All other sessions of yours end."
          autocomplete="new-password"
          required
        />
        <Button>Change the password</Button>
      </Form>
    </Card>
  );
}

function Sessions({ visit, sessions }: AccountProps): Html {
  return (
    <Card
      id="sessions"
      title="Where you are signed in"
      full
      end={sessions.length < 2
        ? undefined
        : (
          <Form visit={visit} action="/console/-/account/sessions/end-others">
            <Button small>End all others</Button>
          </Form>
        )}
    >
      <Grid
        label="Sessions"
        columns={[
          { name: "Browser" },
          { name: "Signed in" },
          { name: "Last used" },
          { name: "Ends at the latest" },
          { name: "End", unseen: true },
        ]}
        rows={sessions.map(({ id, agent, createdAt, usedAt, expiresAt, current }) => [
          <>
            {browserName(agent)} {current ? <Pill tone="good">this one</Pill> : null}
          </>,
          <Time at={createdAt} />,
          <Time at={usedAt} />,
          <Time at={expiresAt} />,
          <Form visit={visit} action={`/console/-/account/sessions/${id}/end`}>
            <button class="link-button quiet" type="submit">{current ? "Sign out" : "End"}</button>
          </Form>,
        ])}
      />
    </Card>
  );
}

const browsers = [["Edg/", "Edge"], ["Firefox/", "Firefox"], ["Chrome/", "Chrome"], [
  "Safari/",
  "Safari",
]] as const;
const systems = [
  ["iPhone", "iPhone"],
  ["iPad", "iPad"],
  ["Android", "Android"],
  ["Windows", "Windows"],
  ["Mac OS", "macOS"],
  ["Linux", "Linux"],
] as const;

/** "Firefox on Linux"; what the browser calls itself where that says nothing known. */
function browserName(agent: string): string {
  const find = (names: readonly (readonly [string, string])[]) =>
    names.find(([part]) => agent.includes(part))?.[1] ?? null;
  const [browser, system] = [find(browsers), find(systems)];
  if (browser === null) return agent === "" ? "Unknown browser" : visibleText(agent.slice(0, 60));
  return system === null ? browser : `${browser} on ${system}`;
}
