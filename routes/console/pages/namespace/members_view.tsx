// What the page of the members shows.
import { type MemberRole, memberRoles } from "../../../../lib/core/role.ts";
import type { InvitedMember, MemberView } from "../../../../lib/services/people/manage_members.ts";
import type { Visit } from "../../../http/visit.ts";
import { mayManage } from "../../frame/may_manage.ts";
import { fieldsOf, messageOf, type Returned } from "../../frame/returned.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { Check } from "../../parts/check.tsx";
import { CopyLine } from "../../parts/copy_line.tsx";
import { EmptyCard } from "../../parts/empty.tsx";
import { Field } from "../../parts/field.tsx";
import { countedHere } from "../../parts/figures.ts";
import { Form } from "../../parts/form.tsx";
import type { Html } from "../../parts/html.ts";
import { Notice } from "../../parts/notice.tsx";
import { PageHead } from "../../parts/page_head.tsx";
import { Person } from "../../parts/person.tsx";
import { Pill } from "../../parts/pill.tsx";
import { ShownOnce } from "../../parts/shown_once.tsx";
import { Time } from "../../parts/time.tsx";

/** The forms of the page. */
export type MembersForm = "invite" | "change";

/** What the page tells. */
export interface MembersProps {
  readonly visit: Visit;
  readonly namespace: string;
  readonly members: readonly MemberView[];
  readonly nextCursor: string | null;
  readonly returned: Returned<MembersForm> | null;
  /** With the link that lets them in, right after it was made. */
  readonly invited: InvitedMember | null;
  readonly done: string | null;
}

const roleHints: Readonly<Record<MemberRole, string>> = {
  viewer: "See everything but secrets; ask databases",
  editor: "Change rows too",
  admin: "Manage everything here, and decide what may run",
};
const doneWords: Readonly<Record<string, string>> = {
  role: "The role is changed. The member signs in again to have it.",
  removed: "The member is removed. All their sessions have ended.",
};

/** The page. */
export function Members(props: MembersProps): Html {
  const { visit, namespace, invited, returned, done } = props;
  const manages = mayManage(visit, namespace);
  const message = messageOf(returned, "change");
  const told = done === null ? undefined : doneWords[done];
  return (
    <>
      <PageHead
        title="Members"
        about="People of this namespace. Each has a password or passkeys of their own here; tokens are for programs."
      />
      <div class="stack">
        {invited === null ? null : <Invited invited={invited} />}
        {told === undefined ? null : <Notice tone="good">{told}</Notice>}
        {message === null ? null : <Notice tone="bad">{message}</Notice>}
        <div class={manages ? "beside" : "stack"}>
          <List {...props} manages={manages} />
          {manages ? <Invite {...props} /> : null}
        </div>
      </div>
    </>
  );
}

function Invited({ invited }: { invited: InvitedMember }): Html {
  return (
    <Card
      id="invited"
      title={`A link for ${invited.email}`}
      end={<ShownOnce />}
    >
      <div class="form">
        <p>
          Send it to them by a way that only they read. It counts once, until{" "}
          <Time at={invited.inviteExpiresAt} />; whoever opens it first comes in.
        </p>
        <CopyLine label="the link" text={invited.inviteUrl} />
      </div>
    </Card>
  );
}

function List(props: MembersProps & { manages: boolean }): Html {
  const { namespace, members, nextCursor, manages, visit } = props;
  if (members.length === 0) {
    return (
      <EmptyCard icon="members" title="No member yet">
        <p>Invite the people who look after this namespace. Deciding about held writes takes an admin.</p>
      </EmptyCard>
    );
  }
  return (
    <Card
      id="members"
      title="All members"
      about={countedHere(members.length, "member", { here: visit.here, nextCursor })}
      full
      foot={nextCursor === null
        ? undefined
        : <a href={`/console/${namespace}/members?after=${nextCursor}`}>Further members</a>}
    >
      <ul class="rows">
        {members.map((member) => (
          <li>
            <Person
              name={member.name ?? member.email}
              about={member.name === null
                ? (
                  <>
                    since <Time at={member.createdAt} />
                  </>
                )
                : member.email}
            />
            <span class="end">
              {member.state === "invited" ? <Pill tone="warn">Invited</Pill> : null}
              <Pill>{member.role}</Pill>
              {manages ? <Change visit={visit} namespace={namespace} member={member} /> : null}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Change(
  { visit, namespace, member }: { visit: Visit; namespace: string; member: MemberView },
): Html {
  const { id, role, email, state } = member;
  const base = `/console/${namespace}/members/${id}`;
  return (
    <details class="menu">
      <summary class="button small" aria-label={`Change ${email}`}>Change</summary>
      <div class="menu-body">
        <Form visit={visit} action={`${base}/role`} kind="form">
          <Field
            of={id}
            name="role"
            label="Role"
            value={role}
            choices={memberRoles.map((one) => [one, one] as const)}
          />
          <Button small>Save the role</Button>
        </Form>
        <Form visit={visit} action={`${base}/link`} kind="form">
          <p class="note">
            {state === "invited"
              ? "A new link, if the first one was lost. The first one ends."
              : "A new link, if the password was lost. Whoever opens it starts afresh, without the passkeys so far."}
          </p>
          <Button small icon="link">Make a new link</Button>
        </Form>
        <Form visit={visit} action={`${base}/remove`} kind="form">
          <p class="note">All their sessions end at once, and they cannot sign in any more.</p>
          <Button small kind="deny" icon="trash">Remove {email}</Button>
        </Form>
      </div>
    </details>
  );
}

function Invite({ visit, namespace, returned }: MembersProps): Html {
  const field = fieldsOf(returned, "invite");
  const message = messageOf(returned, "invite");
  const role = field("role", "viewer");
  return (
    <Card id="invite" title="Invite somebody">
      <Form visit={visit} action={`/console/${namespace}/members`} kind="form">
        {message === null ? null : <Notice tone="bad">{message}</Notice>}
        <Field
          {...field("email")}
          label="E-mail"
          type="email"
          hint="They sign in by it. Nothing is sent: you get a link to pass on."
          required
        />
        <fieldset>
          <legend>May</legend>
          <div class="checks">
            {memberRoles.map((one) => (
              <Check
                radio
                name="role"
                value={one}
                label={one}
                hint={roleHints[one]}
                checked={role.value === one}
              />
            ))}
          </div>
        </fieldset>
        <Button kind="primary" icon="plus">Make the invitation</Button>
      </Form>
    </Card>
  );
}
