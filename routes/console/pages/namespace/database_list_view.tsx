// The list of a namespace's databases on their page, and how one of many is found.
import type { DatabaseView } from "../../../../lib/services/databases/database_record.ts";
import { mayManage } from "../../frame/may_manage.ts";
import { furtherQuery } from "../../frame/searched_page.ts";
import { Card } from "../../parts/card.tsx";
import { CopyLine } from "../../parts/copy_line.tsx";
import { EmptyCard } from "../../parts/empty.tsx";
import { bytes, countedHere, usd, whole } from "../../parts/figures.ts";
import { Finder, NothingFound } from "../../parts/finder.tsx";
import { Grid } from "../../parts/grid.tsx";
import type { Html } from "../../parts/html.ts";
import { Pill } from "../../parts/pill.tsx";
import { visibleText } from "../../parts/visible_text.ts";
import type { DatabasesProps } from "./databases_props.ts";

/** The list, and above it how others are found where it is not whole. */
export function DatabaseList(props: DatabasesProps): Html {
  if (!props.list.isPart) return <List {...props} />;
  return (
    <div class="stack">
      <Finder
        visit={props.visit}
        path={`/console/${props.namespace}`}
        find={props.list.find}
        all="All databases"
      />
      {props.list.items.length === 0
        ? <NothingFound of="database" path={`/console/${props.namespace}`} />
        : <List {...props} />}
    </div>
  );
}

function List(props: DatabasesProps): Html {
  const { list, today, namespace, visit, baseUrl } = props;
  const { items, nextCursor, find } = list;
  if (items.length === 0 && !list.isPart) {
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
      title={find === "" ? "All databases" : `Databases that begin with ${visibleText(find)}`}
      about={countedHere(items.length, "database", { here: visit.here, nextCursor })}
      full
      foot={nextCursor === null
        ? undefined
        : <a href={`/console/${namespace}${furtherQuery(list)}`}>Further databases</a>}
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
        rows={items.map((one) => {
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
