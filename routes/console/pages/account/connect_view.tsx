// What the page shows on which a person allows an MCP client to use databases. What the client says of itself is text.
import type { MemberCaller } from "../../../../lib/access/caller.ts";
import { rightsOf } from "../../../../lib/services/oauth/allow_client.ts";
import type { Authorization, FailedAuthorization } from "../../../../lib/services/oauth/authorization.ts";
import { isDocumentAddress } from "../../../../lib/services/oauth/client_documents.ts";
import { redirectHost } from "../../../../lib/services/oauth/redirect_uri.ts";
import { isLoopback } from "../../../../lib/core/loopback.ts";
import { type Role, roleAtLeast, roles } from "../../../../lib/core/role.ts";
import type { Visit } from "../../../http/visit.ts";
import { fieldsOf, messageOf, type Returned } from "../../frame/returned.ts";
import { Button } from "../../parts/button.tsx";
import { Check } from "../../parts/check.tsx";
import { Field } from "../../parts/field.tsx";
import { Fold } from "../../parts/fold.tsx";
import { Form } from "../../parts/form.tsx";
import type { Html } from "../../parts/html.ts";
import { Notice } from "../../parts/notice.tsx";
import { Pairs } from "../../parts/pairs.tsx";
import { visibleText } from "../../parts/visible_text.ts";

/** By what a person allows it. */
export type ConnectForm = "session" | "token";

/** What the page tells. */
export interface ConnectProps {
  readonly visit: Visit;
  readonly request: Authorization;
  /** Slugs of a member's namespace. */
  readonly databases: readonly string[];
  /** There are too many to be offered one by one: they are named. */
  readonly isPart: boolean;
  readonly returned: Returned<ConnectForm> | null;
}

const words: Readonly<Record<Role, readonly [label: string, hint: string]>> = {
  read: ["Read", "Ask and look: SELECT, the schema, the log"],
  write: ["Write", "Change rows too; rules still hold what needs a person"],
  admin: ["Admin", "Change the schema too, branch, merge, restore"],
};

/** The page. */
export function Connect(props: ConnectProps): Html {
  const { visit, request, returned } = props;
  const caller = visit.person?.caller;
  const { id } = request.client;
  const name = visibleText(request.client.name);
  return (
    <div class="card">
      <div class="body form">
        <h1>Connect {name}?</h1>
        <p>
          A program that calls itself <strong>{name}</strong>{" "}
          asks to use your databases. Nobody has checked that name: look where it gets the key.
        </p>
        <Pairs
          pairs={[
            { name: "Gets the key at", value: <code>{placeOf(request.redirectUri)}</code> },
            ...(isDocumentAddress(id) ? [{ name: "Told by", value: <code>{id}</code> }] : []),
          ]}
        />
        {caller?.kind === "member" ? <BySession {...props} caller={caller} /> : <SignInFirst {...props} />}
        <Fold
          title="Allow it by a token instead"
          open={returned?.form === "token" || caller?.kind === "operator"}
        >
          <ByToken {...props} />
        </Fold>
        <Form visit={visit} action={visit.here} hidden={{ decision: "deny" }}>
          <Button kind="deny" wide>Deny</Button>
        </Form>
        <p class="note">
          Its key counts at <code>/mcp</code>{" "}
          only, an hour at a time, and ends with what allowed it. It stands among the tokens, where it can be
          revoked.
        </p>
      </div>
    </div>
  );
}

/** The page of a request that nobody can decide about. Its button tells the client so. */
export function NotConnected(
  { visit, failed, title }: {
    readonly visit: Visit;
    readonly failed: FailedAuthorization;
    readonly title: string;
  },
): Html {
  return (
    <div class="card">
      <div class="body form">
        <h1>{title}</h1>
        <p>What it asks for has a mistake, which its maker has to mend: {failed.problem}.</p>
        <Pairs pairs={[{ name: "It waits at", value: <code>{placeOf(failed.redirectUri)}</code> }]} />
        <p class="note">Nobody has checked that address. Go there only if you know it.</p>
        <Form visit={visit} action={visit.here}>
          <Button wide>Go back to it</Button>
        </Form>
      </div>
    </div>
  );
}

/** `localhost` alone would look like a server. */
function placeOf(redirectUri: string): string {
  const host = redirectHost(redirectUri);
  return isLoopback(host.replace(/:\d+$/, "")) ? `${host} (a program on your computer)` : host;
}

function SignInFirst({ visit }: ConnectProps): Html {
  if (visit.person !== null) {
    return <Notice>The operator belongs to no namespace. Allow it by a token of one.</Notice>;
  }
  return (
    <div class="end">
      <Button kind="primary" href={`/console/-/sign-in?${new URLSearchParams({ next: visit.here })}`}>
        Sign in to allow it
      </Button>
    </div>
  );
}

function BySession(props: ConnectProps & { readonly caller: MemberCaller }): Html {
  const { visit, caller, request, databases, isPart, returned } = props;
  const message = messageOf(returned, "session");
  const field = fieldsOf(returned, "session");
  const chosen = returned?.form === "session"
    ? returned.fields.all("database")
    : databases.length === 1
    ? databases
    : [];
  const most = rightsOf(caller);
  return (
    <Form visit={visit} action={visit.here} kind="form">
      {message === null ? null : <Notice tone="bad">{message}</Notice>}
      <p class="note">
        As {caller.email}, {caller.role} of <code>{caller.namespaceSlug}</code>.
      </p>
      <Roles most={most} chosen={field("role", firstRole(request, most))} />
      <fieldset>
        <legend>In</legend>
        {field("database").problem === undefined
          ? null
          : <small class="wrong">{field("database").problem}</small>}
        <div class="checks">
          {databases.map((slug) => (
            <Check name="database" value={slug} label={slug} checked={chosen.includes(slug)} />
          ))}
          <Check
            name="database"
            value="*"
            label="All databases"
            hint="Also those that are made later"
            checked={chosen.includes("*")}
          />
        </div>
      </fieldset>
      {isPart ? <Field {...field("others")} label="Or by name" placeholder="shop, orders" /> : null}
      <Button kind="primary" name="decision" value="allow" wide>Allow</Button>
    </Form>
  );
}

function ByToken({ visit, request, returned }: ConnectProps): Html {
  const field = fieldsOf(returned, "token");
  const message = messageOf(returned, "token");
  return (
    <Form visit={visit} action={visit.here} kind="form">
      {message === null ? null : <Notice tone="bad">{message}</Notice>}
      <Field
        {...field("token")}
        of="by-token"
        label="Token"
        type="password"
        hint="It stays here: the program gets a key of its own, which ends with this token."
        required
      />
      <Roles most="admin" chosen={field("role", firstRole(request, "admin"))} />
      <Field
        {...field("database")}
        of="by-token"
        label="Databases"
        placeholder="shop, orders"
        hint="Empty: all that the token reaches"
      />
      <Button kind="primary" name="decision" value="allow" wide>Allow by this token</Button>
    </Form>
  );
}

function Roles(
  { most, chosen }: { most: Role; chosen: { readonly value: string; readonly problem: string | undefined } },
): Html {
  return (
    <fieldset>
      <legend>May</legend>
      {chosen.problem === undefined ? null : <small class="wrong">{chosen.problem}</small>}
      <div class="checks">
        {roles.filter((role) => roleAtLeast(most, role)).map((role) => (
          <Check
            radio
            name="role"
            value={role}
            label={words[role][0]}
            hint={words[role][1]}
            checked={chosen.value === role}
          />
        ))}
      </div>
    </fieldset>
  );
}

/** What the program asks for, as far as it can be given; without a word from it the least. */
function firstRole({ wanted }: Authorization, most: Role): Role {
  if (wanted === null) return "read";
  return roleAtLeast(most, wanted) ? wanted : most;
}
