// What the page of the endpoints shows.
import type { EndpointView } from "../../../../lib/services/endpoints/endpoint_context.ts";
import type { Visit } from "../../../http/visit.ts";
import { mayManage } from "../../frame/may_manage.ts";
import { fieldsOf, messageOf, type Returned } from "../../frame/returned.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { Check } from "../../parts/check.tsx";
import { EmptyCard } from "../../parts/empty.tsx";
import { Field } from "../../parts/field.tsx";
import { counted } from "../../parts/figures.ts";
import { Form } from "../../parts/form.tsx";
import { Grid } from "../../parts/grid.tsx";
import type { Html } from "../../parts/html.ts";
import { Notice } from "../../parts/notice.tsx";
import { Pill } from "../../parts/pill.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible_text.ts";

/** What a scaffold is for. */
const shapes = [["app", "An app: pages, accounts, search"], ["basic", "Plain rows"]] as const;

/** What the page tells. */
export interface EndpointsProps {
  readonly visit: Visit;
  readonly namespace: string;
  /** Where they stand. */
  readonly base: string;
  readonly endpoints: readonly EndpointView[];
  /** Tables and views of which endpoints can be made. */
  readonly tables: readonly string[];
  /** What was not made of a table, and why. */
  readonly skipped: readonly string[];
  readonly returned: Returned<"scaffold"> | null;
}

/** The page. */
export function Endpoints(props: EndpointsProps): Html {
  const { visit, namespace, endpoints, skipped } = props;
  const manages = mayManage(visit, namespace);
  return (
    <div class={manages ? "beside" : "stack"}>
      <div class="stack">
        {skipped.length === 0 ? null : (
          <Notice tone="warn">
            Not all could be made:
            <ul>{skipped.map((one) => <li>{visibleText(one)}</li>)}</ul>
          </Notice>
        )}
        {endpoints.length === 0 ? <Nothing manages={manages} /> : <List {...props} />}
      </div>
      {manages ? <Begin {...props} /> : null}
    </div>
  );
}

/** What its status means for a caller. */
export function StatusPill({ status }: Pick<EndpointView, "status">): Html {
  if (status === "published") return <Pill tone="good" icon="check">published</Pill>;
  return <Pill tone={status === "paused" ? "warn" : "plain"}>{status}</Pill>;
}

function List({ endpoints, base }: EndpointsProps): Html {
  return (
    <Card id="endpoints" title="Endpoints" about={counted(endpoints.length, "endpoint")} full>
      <Grid
        label="List of endpoints"
        columns={[{ name: "Endpoint" }, { name: "Status" }, { name: "Kind" }, { name: "Call" }, {
          name: "Changed",
        }]}
        rows={endpoints.map(({ slug, name, status, kind, method, updatedAt }) => [
          <>
            <a href={`${base}/${slug}`}>{slug}</a>
            <small>{visibleText(name)}</small>
          </>,
          <StatusPill status={status} />,
          kind.replace("_", " "),
          method,
          <Time at={updatedAt} />,
        ])}
      />
    </Card>
  );
}

function Begin({ visit, base, tables, returned }: EndpointsProps): Html {
  const message = messageOf(returned, "scaffold");
  return (
    <div class="stack">
      <Card id="new" title="New endpoint">
        <div class="form">
          <p>One statement with an address of its own, that anybody may call whom its gates let in.</p>
          <Button kind="primary" icon="plus" href={`${base}/-/new`}>Write one</Button>
        </div>
      </Card>
      <Card id="scaffold" title="From a table">
        <Form visit={visit} action={`${base}/-/scaffold`} kind="form">
          {message === null ? null : <Notice tone="bad">{message}</Notice>}
          {tables.length === 0
            ? (
              <p class="note">
                <a href={base.replace(/endpoints$/, "tables")}>Make a table</a> first.
              </p>
            )
            : (
              <>
                <Field
                  label="Table"
                  {...fieldsOf(returned, "scaffold")("table")}
                  hint="Endpoints that list, get, create, update and delete its rows; of a users table sign-up, log-in and me"
                  choices={tables.map((name) => [name, visibleText(name)] as const)}
                />
                <Field label="What for" {...fieldsOf(returned, "scaffold")("shape")} choices={shapes} />
                <Field
                  label="Column of the owner"
                  {...fieldsOf(returned, "scaffold")("owner")}
                  hint="Holds the key of a user, who sees their own rows only"
                />
                <Field
                  label="Origins of pages that may call, one a line"
                  {...fieldsOf(returned, "scaffold")("cors")}
                  hint="Such as http://localhost:3000: where a page of yours comes from"
                  type="textarea"
                />
                <Check
                  label="Publish them at once"
                  hint="Anybody may then read, change and delete the rows of a table without an owner; else they are drafts"
                  name="publish"
                  checked={returned?.fields.has("publish") ?? false}
                />
                <Button icon="zap">Make them</Button>
              </>
            )}
        </Form>
      </Card>
    </div>
  );
}

function Nothing({ manages }: { manages: boolean }): Html {
  return (
    <EmptyCard icon="zap" title="No endpoint yet">
      <p>
        An endpoint gives strangers one statement instead of a database: with inputs that are checked, sign-up
        and log-in, limits and a captcha.{" "}
        {manages ? "Begin with five drafts from a table, or write one." : "An admin can make the first."}
      </p>
      <p>
        <a href="/docs/endpoints">How endpoints work</a>
      </p>
    </EmptyCard>
  );
}
