// The one INSERT that writes rows of a file, also where they name different columns.
import { defaultExpression, defaultValue } from "../../sql/schema/default_expression.ts";
import type { ParamSets } from "../../sql/words/param_sets.ts";
import type { SqlParameter } from "../../sql/words/sql_value.ts";
import { quoteIdentifier as quoted } from "../../sql/words/quote.ts";
import type { TableDefinition } from "../schema/read_table.ts";
import type { FileRow } from "./file_rows.ts";

/** A statement that runs once for each set. */
export interface RowsStatement {
  readonly sql: string;
  readonly paramSets: ParamSets;
}

/** What a row leaves out gets the column's default, as if an INSERT of its own did not name the column. */
export function rowsStatement(table: TableDefinition, rows: readonly FileRow[]): RowsStatement {
  const [first, ...others] = new Set(rows.map(({ columns }) => columns));
  if (first !== undefined && others.length === 0) {
    const paramSets = rows.map(({ values }) => values);
    return { sql: insert(table, first.map((name) => ({ name, takes: "?" }))), paramSets };
  }
  const cells = cellsOf(table, rows);
  const paramSets = rows.map(({ columns, values }) => {
    const given = new Map(columns.map((name, at) => [name, values[at]]));
    return cells.flatMap(({ name, tells, otherwise }) => {
      const value = given.get(name);
      return tells ? [Number(value !== undefined), value ?? null] : [value === undefined ? otherwise : value];
    });
  });
  return { sql: insert(table, cells), paramSets };
}

interface Cell {
  readonly name: string;
  /** SQL of its value. */
  readonly takes: string;
  /** A parameter in front of its value tells whether the row has one, because null is one too. */
  readonly tells: boolean;
  /** Its value where a row has none. */
  readonly otherwise: SqlParameter;
}

/**
 * Of the columns that any of the rows names. Where there is no default, what is left out is null; a default that is a value is
 * bound like one, because the engine takes five times as long to compile a CASE for each of hundreds of columns.
 */
function cellsOf(table: TableDefinition, rows: readonly FileRow[]): Cell[] {
  const named = new Map<string, number>();
  for (const { columns } of rows) {
    for (const name of columns) named.set(name, (named.get(name) ?? 0) + 1);
  }
  return table.columns.filter(({ name }) => named.has(name)).map(({ name, keyPosition, defaultSql }) => {
    // A key that the engine counts up is that of null, whatever stands behind its DEFAULT.
    const isCounted = table.keyIsRowid && keyPosition > 0;
    if (defaultSql === null || isCounted || named.get(name) === rows.length) {
      return { name, takes: "?", tells: false, otherwise: null };
    }
    const literal = defaultValue(defaultSql);
    if (literal !== null) return { name, takes: "?", tells: false, otherwise: literal.value };
    const takes = `CASE WHEN ? THEN ? ELSE ${defaultExpression(defaultSql)} END`;
    return { name, takes, tells: true, otherwise: null };
  });
}

function insert({ name }: TableDefinition, cells: readonly Pick<Cell, "name" | "takes">[]): string {
  return `INSERT INTO ${quoted(name)} (${cells.map((cell) => quoted(cell.name)).join(", ")}) ` +
    `VALUES (${cells.map(({ takes }) => takes).join(", ")})`;
}
