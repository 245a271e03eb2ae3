// The rows of a table: filters and order in the address, a page by key, and each row with a link to its form.
import type { Role } from "../../../../lib/core/role.ts";
import { roleAtLeast } from "../../../../lib/core/role.ts";
import type { TableSummary } from "../../../../lib/services/schema/list_tables.ts";
import type { SchemaFacts, TableFacts } from "../../../../lib/services/schema/schema_facts.ts";
import type { BrowsedPage } from "../../../../lib/services/tables/browse_table.ts";
import { type TableKey } from "../../../../lib/services/tables/table_key.ts";
import type { Visit } from "../../../http/visit.ts";
import { Button } from "../../parts/button.tsx";
import { counted, usd, whole } from "../../parts/figures.ts";
import type { Children, Html } from "../../parts/html.ts";
import { Notice } from "../../parts/notice.tsx";
import { countedRows, insertedName, rowsText } from "../../parts/schema_list.tsx";
import { tablePath } from "../../parts/table_path.ts";
import { visibleText } from "../../parts/visible_text.ts";
import type { DatabasePage } from "../../frame/database_pages.ts";
import { Filters } from "./table_filters_view.tsx";
import { RowsGrid } from "./table_grid_view.tsx";
import { type TableQuery, tableSearch } from "./table_query.ts";

/** What the pages of a table share. */
export interface TablePageProps {
  readonly visit: Visit;
  readonly base: string;
  readonly schema: SchemaFacts;
  readonly counts: readonly TableSummary[];
  readonly table: TableFacts;
  /** Null where nothing names its rows: they cannot be changed one by one. */
  readonly rowKey: TableKey | null;
  readonly query: TableQuery;
  readonly role: Role;
  /** What was done just now. */
  readonly done: string | null;
}

/** A page of one table with the database that it reads. */
export interface OpenTable extends TablePageProps {
  readonly database: DatabasePage;
}

/** Tables that stand at the side, and the open one: more are found by the page of tables. */
const MOST_TABLES = 500;

/** The tables at the side, and the content. */
export function TableWork(
  { schema, counts, base, table, children }: TablePageProps & { children?: Children },
): Html {
  const rows = new Map(counts.map((one) => [one.name, one]));
  const shown = schema.tables.filter(({ name }, at) => at < MOST_TABLES || name === table.name);
  return (
    <div class="work">
      <nav class="schema" aria-label="Tables">
        {schema.tables.length > 8
          ? (
            <input
              class="input needs-script"
              type="search"
              placeholder="Find a table"
              aria-label="Find a table"
              data-find=".schema .table-link"
            />
          )
          : null}
        {shown.map(({ name }) => (
          <a
            class="table-link"
            href={tablePath(base, name)}
            aria-current={name === table.name ? "page" : undefined}
            data-words={name}
          >
            <span class="name">{visibleText(name)}</span>
            <small>{rowsText(rows.get(name))}</small>
          </a>
        ))}
        {schema.tables.length > shown.length
          ? <a class="note" href={`${base}/tables`}>{`All ${whole(schema.tables.length)} tables`}</a>
          : null}
      </nav>
      <div class="console">{children}</div>
    </div>
  );
}

const told: Readonly<Record<string, string>> = {
  updated: "One row was changed.",
  deleted: "One row was deleted.",
  inserted: "One row was added.",
  nothing: "Nothing was changed: the row was no longer as it was shown.",
};

/** The page of the rows. `found` null: they cannot be read, and `problem` says why. */
export function TablePage(
  props: TablePageProps & { found: BrowsedPage | null; problem: string | null },
): Html {
  const { table, base, query, role, rowKey, found, problem, counts, done } = props;
  const count = counts.find(({ name }) => name === table.name);
  const path = tablePath(base, table.name);
  const sql = `SELECT * FROM ${insertedName(table.name)}`;
  return (
    <>
      <div class="table-head">
        <h2>{visibleText(table.name)}</h2>
        <span class="note">{`${countedRows(count)}, ${counted(table.columns.length, "column")}`}</span>
        <div class="end">
          <Button small href={`${base}/sql?${new URLSearchParams({ sql })}`}>Ask in SQL</Button>
          {roleAtLeast(role, "write") && table.error === null
            ? (
              <Button small kind="primary" icon="plus" href={path + tableSearch(query, { new: "" })}>
                Add a row
              </Button>
            )
            : null}
        </div>
        {table.description === "" ? null : <p>{visibleText(table.description)}</p>}
      </div>
      {done === null || told[done] === undefined
        ? null
        : <Notice tone={done === "nothing" ? "warn" : "good"}>{told[done]}</Notice>}
      <section class="card result" aria-label={`Rows of ${visibleText(table.name)}`}>
        <Filters {...props} path={path} />
        {found === null
          ? (
            <div class="body">
              <Notice tone="bad">{visibleText(problem ?? "")}</Notice>
            </div>
          )
          : (
            <>
              <RowsGrid table={table} tableKey={rowKey} query={query} found={found} path={path} />
              <Foot found={found} query={query} path={path} />
            </>
          )}
      </section>
      {rowKey === null
        ? (
          <Notice tone="warn">
            Nothing names the rows of this table, so they cannot be changed one by one.
          </Notice>
        )
        : null}
    </>
  );
}

function Foot({ found, query, path }: { found: BrowsedPage; query: TableQuery; path: string }): Html {
  const { rows, next, cutOff, meta } = found;
  return (
    <footer>
      <span>
        <b>{rows.length === 0 ? "No rows" : `${counted(rows.length, "row")} shown`}</b>
      </span>
      <span>{`${counted(meta.rowsRead, "row")} read`}</span>
      <span>{`${meta.durationMs} ms`}</span>
      <span>{usd(meta.costUsd)}</span>
      {query.after === null
        ? null
        : <Button small href={path + tableSearch({ ...query, after: null })}>First rows</Button>}
      {next === null
        ? null
        : <Button small href={path + tableSearch({ ...query, after: next })}>Next rows</Button>}
      {cutOff ? <span>There are more: narrow them by a filter, or ask in SQL</span> : null}
    </footer>
  );
}
