// The list of a namespace's databases on their page, and how one of many is found.
import type { DatabaseView } from "../../../lib/services/databases/database_record.ts";
import { mayManage } from "../frame/may_manage.ts";
import { Button } from "../parts/button.tsx";
import { Card } from "../parts/card.tsx";
import { CopyLine } from "../parts/copy_line.tsx";
import { EmptyCard } from "../parts/empty.tsx";
import { Field } from "../parts/field.tsx";
import { bytes, countedHere, usd, whole } from "../parts/figures.ts";
import { Form } from "../parts/form.tsx";
import { Grid } from "../parts/grid.tsx";
import type { Html } from "../parts/html.ts";
import { Pill } from "../parts/pill.tsx";
import { visibleText } from "../parts/visible_text.ts";
import type { DatabasesProps } from "./databases_props.ts";

/** The list, and above it how others are found where it is not whole. */
export function DatabaseList(props: DatabasesProps): Html {
  if (!props.isPart) return <List {...props} />;
  return (
    <div class="stack">
      <Find {...props} />
      <List {...props} />
    </div>
  );
}

function List(props: DatabasesProps): Html {
  const { databases, nextCursor, today, namespace, visit, baseUrl, find, isPart } = props;
  if (databases.length === 0 && !isPart) {
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
  const further = new URLSearchParams({ ...(find === "" ? {} : { find }), after: nextCursor ?? "" });
  return (
    <Card
      id="databases"
      title={find === "" ? "All databases" : `Databases that begin with ${visibleText(find)}`}
      about={countedHere(databases.length, "database", { here: visit.here, nextCursor })}
      full
      foot={nextCursor === null
        ? undefined
        : <a href={`/console/${namespace}?${further}`}>Further databases</a>}
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

function Find({ visit, namespace, find }: DatabasesProps): Html {
  return (
    <Form visit={visit} action={`/console/${namespace}`} method="get" kind="filter-line">
      <Field label="Begins with" name="find" type="search" value={find} maxLength={41} spellcheck={false} />
      <Button>Find</Button>
      {find === "" ? null : <a href={`/console/${namespace}`}>All databases</a>}
    </Form>
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
