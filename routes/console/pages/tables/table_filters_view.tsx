// The filters of a table as a form whose address is the view.
import { filterOperators } from "../../../../lib/services/tables/row_filters.ts";
import type { RowFilter } from "../../../../lib/services/tables/row_filters.ts";
import type { TableFacts } from "../../../../lib/services/schema/schema_facts.ts";
import { Button } from "../../parts/button.tsx";
import type { Html } from "../../parts/html.ts";
import { visibleText } from "../../parts/visible_text.ts";
import type { TableQuery } from "./table_query.ts";

/** What the form shows. */
export interface FiltersProps {
  readonly table: TableFacts;
  readonly query: TableQuery;
  /** The page of the table. */
  readonly path: string;
}

/** A line a filter, and one that is still empty. */
export function Filters({ table, query: { filters, sort }, path }: FiltersProps): Html {
  return (
    <form class="filters" method="get" action={path} role="search" aria-label="Filters">
      {[...filters, null].map((filter, at) => <Line table={table} filter={filter} at={at} />)}
      {sort === null ? null : (
        <>
          <input type="hidden" name="sort" value={sort.column} />
          <input type="hidden" name="dir" value={sort.descending ? "desc" : "asc"} />
        </>
      )}
      <span class="end">
        <Button small>Filter</Button>
        {filters.length === 0 && sort === null ? null : <a href={path}>Show all</a>}
      </span>
    </form>
  );
}

function Line({ table, filter, at }: { table: TableFacts; filter: RowFilter | null; at: number }): Html {
  const number = at + 1;
  return (
    <span class="filter">
      <select name="f" aria-label={`Column of filter ${number}`}>
        <option value="">{filter === null ? "Filter by…" : "(remove)"}</option>
        {table.columns.map(({ name }) => (
          <option value={name} selected={filter?.column === name}>{visibleText(name)}</option>
        ))}
      </select>
      <select name="o" aria-label={`Comparison of filter ${number}`}>
        {Object.entries(filterOperators).map(([name, { label }]) => (
          <option value={name} selected={filter?.operator === name}>{label}</option>
        ))}
      </select>
      <input
        name="v"
        value={filter?.text ?? ""}
        aria-label={`Value of filter ${number}`}
        autocomplete="off"
        spellcheck={false}
      />
    </span>
  );
}
