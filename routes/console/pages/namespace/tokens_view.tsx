// What the page of the tokens shows.
import type { DatabaseView } from "../../../../lib/services/databases/database_record.ts";
import type { ListedToken, TokenView } from "../../../../lib/services/tokens/manage_tokens.ts";
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
import { Grid } from "../../parts/grid.tsx";
import type { Html } from "../../parts/html.ts";
import { Notice } from "../../parts/notice.tsx";
import { PageHead } from "../../parts/page_head.tsx";
import { Pill } from "../../parts/pill.tsx";
import { ShownOnce } from "../../parts/shown_once.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible_text.ts";

/** A token with its secret, right after it was made. */
export type MadeToken = TokenView & { readonly token: string };

/** What the page tells. */
export interface TokensProps {
  readonly visit: Visit;
  readonly namespace: string;
  readonly baseUrl: string;
  readonly tokens: readonly ListedToken[];
  readonly nextCursor: string | null;
  /** Those that the form offers one by one; null: there are too many. */
  readonly databases: readonly DatabaseView[] | null;
  /** The slug of one, for examples. */
  readonly example: string;
  /** Id → slug of what the tokens reach, where it is there. */
  readonly slugs: ReadonlyMap<string, string>;
  readonly returned: Returned<"create"> | null;
  readonly made: MadeToken | null;
  readonly revoked: boolean;
}

const DAY_SEC = 86_400;
const lifetimes: readonly (readonly [string, string])[] = [
  ["", "never"],
  [String(3600), "in an hour"],
  [String(DAY_SEC), "in a day"],
  [String(7 * DAY_SEC), "in a week"],
  [String(30 * DAY_SEC), "in 30 days"],
  [String(90 * DAY_SEC), "in 90 days"],
  [String(365 * DAY_SEC), "in a year"],
];
const roles: readonly (readonly [string, string, string])[] = [
  ["read", "Read", "Ask and look: SELECT, the schema, the log"],
  ["write", "Write", "Change rows too, not the schema"],
  ["admin", "Admin", "Change the schema too; unless limited below, manage the namespace"],
];

/** The page. */
export function Tokens(props: TokensProps): Html {
  const { visit, namespace, made, revoked } = props;
  const manages = mayManage(visit, namespace);
  return (
    <>
      <PageHead
        title="Tokens"
        about="A program or an agent sends its token with every call. The engine itself keeps it to its role."
      />
      <div class="stack">
        {made === null ? null : <Made {...props} token={made} />}
        {revoked ? <Notice tone="good">The token is revoked. Whatever sends it is refused.</Notice> : null}
        <div class={manages ? "beside" : "stack"}>
          <List {...props} />
          {manages ? <NewToken {...props} /> : null}
        </div>
      </div>
    </>
  );
}

function Made(
  { token: made, baseUrl, namespace, example, slugs }: TokensProps & { token: MadeToken },
): Html {
  const [scope] = made.scopes;
  const slug = scope === undefined ? null : slugs.get(scope.databaseId);
  const url = `${baseUrl}/v1/db/${namespace}/${slug ?? example}/query`;
  return (
    <Card
      id="made"
      title={`${visibleText(made.name)} is made`}
      end={<ShownOnce />}
    >
      <div class="form">
        <p>
          Copy it now and keep it where the program finds it. It is stored nowhere: a lost one is replaced by
          a new one.
        </p>
        <CopyLine label="the token" text={made.token} />
        <p class="note">A first call with it:</p>
        <CopyLine
          label="the call"
          text={`curl -H "Authorization: Bearer ${made.token}" ${url} -d '{"sql":"SELECT 1"}'`}
        />
      </div>
    </Card>
  );
}

function List({ visit, namespace, tokens, nextCursor, example, slugs, baseUrl }: TokensProps): Html {
  if (tokens.length === 0) {
    return (
      <EmptyCard icon="token" title="No token yet">
        <p>Make one for each program, with the least that it needs. It then asks like this:</p>
        <CopyLine
          label="the call"
          text={`curl -H "Authorization: Bearer $TOKEN" ${baseUrl}/v1/db/${namespace}/${example}/query -d '{"sql":"SELECT 1"}'`}
        />
      </EmptyCard>
    );
  }
  const manages = mayManage(visit, namespace);
  return (
    <Card
      id="tokens"
      title="All tokens"
      about={countedHere(tokens.length, "token", { here: visit.here, nextCursor })}
      full
      foot={nextCursor === null
        ? undefined
        : <a href={`/console/${namespace}/tokens?after=${nextCursor}`}>Further tokens</a>}
    >
      <Grid
        label="Tokens"
        columns={[
          { name: "Name" },
          { name: "May" },
          { name: "Last used" },
          { name: "Expires" },
          ...(manages ? [{ name: "Revoke", unseen: true }] : []),
        ]}
        rows={tokens.map((token) => [
          <>
            {visibleText(token.name)}
            {token.client === null ? null : <small>an MCP client at {token.client}</small>}
            <small class="mono">{token.id}</small>
          </>,
          <>
            {token.role}
            <small>{reach(token, slugs)}</small>
          </>,
          <>
            {token.lastUsedAt === null ? <span class="note">not yet</span> : <Time at={token.lastUsedAt} />}
            <small>
              made <Time at={token.createdAt} />
            </small>
          </>,
          <Expiry at={token.expiresAt} now={visit.now} />,
          ...(manages
            ? [
              <a
                class="quiet"
                href={`/console/${namespace}/tokens/${token.id}/revoke`}
                aria-label={`Revoke ${visibleText(token.name)}`}
              >
                Revoke
              </a>,
            ]
            : []),
        ])}
      />
    </Card>
  );
}

function reach({ scopes }: TokenView, slugs: TokensProps["slugs"]): string {
  if (scopes.length === 0) return "the whole namespace";
  return scopes.map(({ databaseId, branchRef }) => {
    const slug = slugs.get(databaseId);
    if (slug === undefined) return `branch ${branchRef}`;
    return branchRef === "main" ? slug : `${slug}@${branchRef}`;
  }).join(", ");
}

function Expiry({ at, now }: { at: string | null; now: number }): Html {
  if (at === null) return <span class="note">never</span>;
  return Date.parse(at) <= now ? <Pill>expired</Pill> : <Time at={at} />;
}

function NewToken({ visit, namespace, databases, returned }: TokensProps): Html {
  const field = fieldsOf(returned, "create");
  const message = messageOf(returned, "create");
  const chosen = returned?.fields.all("database") ?? [];
  const role = field("role", "read");
  return (
    <Card id="new" title="New token">
      <Form visit={visit} action={`/console/${namespace}/tokens`} kind="form">
        {message === null ? null : <Notice tone="bad">{message}</Notice>}
        <Field
          {...field("name")}
          label="What it is for"
          placeholder="pricing-agent"
          maxLength={200}
          required
        />
        <fieldset>
          <legend>May</legend>
          <div class="checks">
            {roles.map(([value, label, hint]) => (
              <Check
                radio
                name="role"
                value={value}
                label={label}
                hint={hint}
                checked={role.value === value}
              />
            ))}
          </div>
        </fieldset>
        {databases === null
          ? (
            <Field
              {...field("names")}
              label="Reaches only"
              placeholder="shop, orders"
              hint="Names of databases. Empty: the whole namespace, also what comes later"
            />
          )
          : (
            <fieldset>
              <legend>Reaches only</legend>
              <div class="checks">
                {databases.map(({ id, slug }) => (
                  <Check name="database" value={id} label={slug} checked={chosen.includes(id)} />
                ))}
                <p class="note">None ticked: the whole namespace, also what comes later.</p>
              </div>
            </fieldset>
          )}
        <Field {...field("expires")} label="Expires" choices={lifetimes} />
        <Button kind="primary" icon="plus">Make the token</Button>
      </Form>
    </Card>
  );
}
