// The tables of a database beside what one does with them: each with its columns, keys and number of rows.
import type { SchemaFacts, TableFacts } from "../../../lib/services/schema/schema_facts.ts";
import type { TableSummary } from "../../../lib/services/schema/list_tables.ts";
import { quoteIdentifier } from "../../../lib/sql/words/quote.ts";
import { reservedWords } from "../../../lib/sql/words/names.ts";
import { whole } from "./figures.ts";
import type { Html } from "./html.ts";
import { Icon } from "./icon.tsx";
import { inTurns } from "./in_turns.ts";
import { tablePath } from "./table_path.ts";
import { visibleText } from "./visible_text.ts";

/** Rows of a table are counted up to here. */
export const COUNTED_ROWS = 10_000;

/** What the list shows. */
export interface SchemaListProps {
  readonly schema: SchemaFacts;
  readonly counts: readonly TableSummary[];
  /** `/console/<namespace>/db/<database>`. */
  readonly base: string;
}

/** Tables that are listed: more are found by the page of tables. */
const MOST_TABLES = 200;

/** What a column takes in the place of cells of a grid. */
const CELLS_A_COLUMN = 3;

/** A list that a script filters; without one it is whole. */
export async function SchemaList({ schema, counts, base }: SchemaListProps): Promise<Awaited<Html>> {
  const rows = new Map(counts.map((one) => [one.name, one]));
  const shown = schema.tables.slice(0, MOST_TABLES);
  const columns = shown.reduce((sum, table) => sum + table.columns.length, 0);
  const tables = await inTurns(
    shown,
    Math.ceil(CELLS_A_COLUMN * columns / Math.max(1, shown.length)),
    (table) => <Table table={table} base={base} count={rows.get(table.name)} />,
  );
  return (
    <aside class="schema" aria-label="Tables and columns">
      {shown.length > 1
        ? (
          <input
            class="input needs-script"
            type="search"
            placeholder="Find a table or column"
            aria-label="Find a table or column"
            data-find=".schema details"
          />
        )
        : null}
      {tables}
      {schema.tables.length > shown.length
        ? <a class="note" href={`${base}/tables`}>{`All ${whole(schema.tables.length)} tables`}</a>
        : null}
    </aside>
  );
}

interface TableProps {
  readonly table: TableFacts;
  readonly base: string;
  readonly count: TableSummary | undefined;
}

function Table({ table, base, count }: TableProps): Html {
  const refers = new Set(table.foreignKeys.flatMap(({ columns }) => columns));
  return (
    <details data-words={[table.name, ...table.columns.map(({ name }) => name)].join(" ")}>
      <summary>
        <span class="turns">
          <Icon name="chevronRight" size={12} />
        </span>
        <span class="name" data-insert={insertedName(table.name)}>{visibleText(table.name)}</span>
        <small>{rowsText(count)}</small>
      </summary>
      <ul>
        {table.columns.map(({ name, type, pk }) => (
          <li data-insert={insertedName(name)}>
            {pk > 0
              ? <Icon name="key" size={12} />
              : refers.has(name)
              ? <Icon name="link" size={12} />
              : <span class="blank"></span>}
            <span class="name">{visibleText(name)}</span>
            <small>{visibleText(type)}</small>
          </li>
        ))}
        <li>
          <span class="blank"></span>
          <a href={tablePath(base, table.name)}>Rows</a>
        </li>
      </ul>
    </details>
  );
}

/** Where a table was counted to the end, its rows; otherwise that there are more. */
export function rowsText(count: TableSummary | undefined): string {
  if (count === undefined || count.rowCount === null) return "?";
  return count.rowCount > COUNTED_ROWS ? `${whole(COUNTED_ROWS)}+` : whole(count.rowCount);
}

/** "1 row", "10,000+ rows". */
export function countedRows(count: TableSummary | undefined): string {
  return `${rowsText(count)} ${count?.rowCount === 1 ? "row" : "rows"}`;
}

/** A name as it is written in a statement. */
export function insertedName(name: string): string {
  const plain = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !reservedWords.has(name.toLowerCase());
  return plain ? name : quoteIdentifier(name);
}
