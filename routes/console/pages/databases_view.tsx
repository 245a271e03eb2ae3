// What the page of the databases shows.
import type { DatabaseView } from "../../../lib/services/databases/database_record.ts";
import type { Visit } from "../../http/visit.ts";
import type { Glance } from "../../../lib/services/money/glance_at.ts";
import { mayManage } from "../frame/may_manage.ts";
import type { Returned } from "../frame/returned.ts";
import { Card } from "../parts/card.tsx";
import { CopyLine } from "../parts/copy_line.tsx";
import { EmptyCard } from "../parts/empty.tsx";
import { bytes, counted, countedHere, usd, whole } from "../parts/figures.ts";
import { Form } from "../parts/form.tsx";
import { Grid } from "../parts/grid.tsx";
import type { Html } from "../parts/html.ts";
import { Notice } from "../parts/notice.tsx";
import { PageHead } from "../parts/page_head.tsx";
import { Pill } from "../parts/pill.tsx";
import { Tiles } from "../parts/tiles.tsx";
import { DatabaseForms } from "./database_forms.tsx";
import { visibleText } from "../parts/visible_text.ts";

/** What the page tells. */
export interface DatabasesFacts {
  readonly databases: readonly DatabaseView[];
  readonly nextCursor: string | null;
  readonly today: ReadonlyMap<string, Used>;
  readonly rail: Glance;
  /** Slug of what was just deleted, or brought back. */
  readonly deleted: string | null;
  /** The operator has just made the namespace. */
  readonly made: boolean;
  readonly back: string | null;
}

/** What a database has used. */
interface Used {
  readonly requests: number;
  readonly rowsRead: number;
  readonly costUsd: number;
}

/** The page with who sees it. */
export interface DatabasesProps extends DatabasesFacts {
  readonly visit: Visit;
  readonly namespace: string;
  readonly baseUrl: string;
  readonly returned: Returned<"create" | "bring-back"> | null;
}

/** The page. */
export function Databases(props: DatabasesProps): Html {
  const { today, rail, visit, namespace } = props;
  const sum = (pick: (used: Used) => number) =>
    [...today.values()].reduce((total, one) => total + pick(one), 0);
  const manages = mayManage(visit, namespace);
  return (
    <>
      <PageHead title="Databases" />
      <div class="stack">
        <Told {...props} />
        <Spent {...props} />
        <Tiles
          label="Today"
          tiles={[
            { name: "Cost today", value: usd(sum((one) => one.costUsd)), about: "since midnight UTC" },
            {
              name: "Calls today",
              value: whole(sum((one) => one.requests)),
              about: counted(sum((one) => one.rowsRead), "row read", "rows read"),
            },
            { name: "Balance", value: usd(rail.balanceUsd), about: `of ${usd(rail.creditedUsd)} credited` },
            {
              name: "Waiting for a person",
              value: <a href={`/console/${namespace}/approvals`}>{counted(rail.waiting, "approval")}</a>,
              about: rail.waiting === 0 ? "nothing to decide" : "decide what may run",
              warn: rail.waiting > 0,
            },
          ]}
        />
        <div class={manages ? "beside" : "stack"}>
          <List {...props} />
          {manages ? <DatabaseForms {...props} /> : null}
        </div>
      </div>
    </>
  );
}

/** Why nothing runs, before somebody looks for it in a database. */
function Spent({ namespace, rail: { spent } }: DatabasesProps): Html | null {
  if (spent === null) return null;
  return (
    <Notice tone="warn">
      {spent === "balance"
        ? "The balance is used up: calls are refused until the operator of the service adds credit."
        : (
          <>
            The <a href={`/console/${namespace}/settings`}>monthly cap</a>{" "}
            is reached: calls are refused until it is raised, or until the next month begins, at midnight UTC.
          </>
        )}
    </Notice>
  );
}

function Told({ visit, namespace, deleted, back, made }: DatabasesProps): Html | null {
  if (made) {
    return (
      <Notice tone="good">
        {namespace} is made. Next: <a href={`/console/${namespace}/members`}>invite its first admin</a>, or
        {" "}
        <a href={`/console/${namespace}/tokens`}>make a token</a> for a program.
      </Notice>
    );
  }
  if (back !== null) {
    return <Notice tone="good">{visibleText(back)} is back, as it was when it was deleted.</Notice>;
  }
  if (deleted === null) return null;
  return (
    <Notice tone="good">
      <Form visit={visit} action={`/console/${namespace}/databases/bring-back`} hidden={{ slug: deleted }}>
        {visibleText(deleted)} was deleted. For 7 days it can be brought back:{" "}
        <button class="link-button" type="submit">bring it back now</button>
      </Form>
    </Notice>
  );
}

function List({ databases, nextCursor, today, namespace, visit, baseUrl }: DatabasesProps): Html {
  if (databases.length === 0) {
    const api = `${baseUrl}/api/namespaces/${namespace}/databases`;
    return (
      <EmptyCard icon="database" title="No database yet">
        <p>
          A database is one SQLite file with an address of its own. Make the first one here, or from a
          terminal:
        </p>
        <CopyLine
          label="the command"
          text={`curl -H "Authorization: Bearer $TOKEN" ${api} -d '{"slug":"shop"}'`}
        />
      </EmptyCard>
    );
  }
  const manages = mayManage(visit, namespace);
  return (
    <Card
      id="databases"
      title="All databases"
      about={countedHere(databases.length, "database", { here: visit.here, nextCursor })}
      full
      foot={nextCursor === null
        ? undefined
        : <a href={`/console/${namespace}?after=${nextCursor}`}>Further databases</a>}
    >
      <Grid
        label="Databases"
        columns={[
          { name: "Database" },
          { name: "Size", numeric: true },
          { name: "Calls today", numeric: true },
          { name: "Rows read", numeric: true },
          { name: "Cost today", numeric: true },
          ...(manages ? [{ name: "Delete", unseen: true }] : []),
        ]}
        rows={databases.map((one) => {
          const used = today.get(one.id) ?? { requests: 0, rowsRead: 0, costUsd: 0 };
          return [
            <Name namespace={namespace} database={one} />,
            bytes(one.sizeBytes),
            whole(used.requests),
            whole(used.rowsRead),
            usd(used.costUsd),
            ...(manages
              ? [
                <a
                  class="quiet"
                  href={`/console/${namespace}/db/${one.slug}/delete`}
                  aria-label={`Delete ${one.slug}`}
                >
                  Delete
                </a>,
              ]
              : []),
          ];
        })}
      />
    </Card>
  );
}

function Name({ namespace, database }: { namespace: string; database: DatabaseView }): Html {
  const { slug, name, state } = database;
  return (
    <>
      <a href={`/console/${namespace}/db/${slug}`}>{slug}</a>
      {state === "ok" ? null : (
        <>
          {" "}
          <Pill tone={state === "corrupt" ? "bad" : "warn"} icon="alert">{state}</Pill>
        </>
      )}
      {name === slug ? null : <small>{visibleText(name)}</small>}
    </>
  );
}
