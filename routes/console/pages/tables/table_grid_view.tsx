// The grid of a table's rows: heads that sort, cells that the server has made, a link to each row.
import type { BrowsedPage, BrowsedRow } from "../../../../lib/services/tables/browse_table.ts";
import { comparesAsNumber, keyText, type TableKey } from "../../../../lib/services/tables/table_key.ts";
import type { ColumnFacts, TableFacts } from "../../../../lib/services/schema/schema_facts.ts";
import type { Html } from "../../parts/html.ts";
import { Icon } from "../../parts/icon.tsx";
import { inTurns } from "../../parts/in_turns.ts";
import { shownValue } from "../../parts/value.tsx";
import { visibleText } from "../../parts/visible_text.ts";
import { type TableQuery, tableSearch } from "./table_query.ts";

/** What the grid shows. */
export interface RowsGridProps {
  readonly table: TableFacts;
  readonly tableKey: TableKey | null;
  readonly query: TableQuery;
  readonly found: BrowsedPage;
  readonly path: string;
}

/** Made in turns, as every grid of many cells. */
export async function RowsGrid(props: RowsGridProps): Promise<Awaited<Html>> {
  const { table, found: { columns, rows } } = props;
  const shown = table.columns.slice(0, columns.length);
  const body = await inTurns(rows, shown.length, (row) => <Row {...props} columns={shown} row={row} />);
  return (
    <div class="scroll tall" tabindex={0} role="region" aria-label="Rows">
      <table class="grid">
        <thead>
          <tr>
            <th scope="col" class="row">
              <span class="unseen">Open</span>
            </th>
            {shown.map((column) => <Head {...props} column={column} />)}
          </tr>
        </thead>
        <tbody>{body}</tbody>
      </table>
    </div>
  );
}

/** A click sorts, another one turns the order around, a third one takes it away. */
function Head({ query, path, column }: RowsGridProps & { column: ColumnFacts }): Html {
  const { name, type, pk } = column;
  const sorted = query.sort?.column === name ? query.sort : null;
  const next = sorted === null
    ? { column: name, descending: false }
    : sorted.descending
    ? null
    : { column: name, descending: true };
  return (
    <th
      scope="col"
      class={comparesAsNumber(type) ? "n" : undefined}
      aria-sort={sorted === null ? undefined : sorted.descending ? "descending" : "ascending"}
    >
      <a href={path + tableSearch({ ...query, sort: next, after: null })}>
        {pk > 0 ? <Icon name="key" size={12} /> : null}
        {visibleText(name)}
        {sorted === null ? null : <span aria-hidden="true">{sorted.descending ? "↓" : "↑"}</span>}
      </a>
      <small>{visibleText(type)}</small>
    </th>
  );
}

function Row(
  { table, tableKey, query, path, columns, row }: RowsGridProps & {
    columns: readonly ColumnFacts[];
    row: BrowsedRow;
  },
): Html {
  return (
    <tr>
      <td class="row">
        {row.key === null || tableKey === null ? null : (
          <a
            data-row=""
            href={path + tableSearch(query, { row: keyText(row.key) })}
            aria-label={`Open the row with ${keyName(tableKey, row)} of ${visibleText(table.name)}`}
          >
            <Icon name="chevronRight" size={12} />
          </a>
        )}
      </td>
      {columns.map(({ name, type }, at) => {
        const cell = row.cells[at];
        return (
          <td class={comparesAsNumber(type) ? "n" : undefined} data-col={name}>
            {cell === undefined ? null : shownValue(cell)}
          </td>
        );
      })}
    </tr>
  );
}

/** "id 3", for who hears the link. */
function keyName(key: TableKey, { key: values }: BrowsedRow): string {
  return key.columns.map((name, at) => {
    const value = values?.[at] ?? null;
    const text = typeof value === "object" && value !== null
      ? "$integer" in value ? value.$integer : "a blob"
      : String(value);
    return `${visibleText(name)} ${visibleText(text.slice(0, 40))}`;
  }).join(", ");
}
