// One row of a table by its key, for people who look at it or change it.
import { quoteIdentifier } from "../../sql/words/quote.ts";
import type { SqlParameter } from "../../sql/words/sql_value.ts";
import { readResult } from "../query/read_result.ts";
import { readStatement } from "../query/read_statement.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import type { TableFacts } from "../schema/schema_facts.ts";
import { TABLE_MARK } from "./browse_table.ts";
import { cellColumns, readCells, type RowCell } from "./row_cells.ts";
import type { Condition } from "./row_filters.ts";
import type { TableKey } from "./table_key.ts";

/** A row by name. */
export interface RowAddress {
  readonly table: TableFacts;
  readonly key: TableKey;
  readonly values: readonly SqlParameter[];
}

/** Characters or bytes of a value that a form shows. A longer value is not to be changed there. */
const FORM_LENGTH = 20_000;

/** Its cells in the order of the table's columns; null where no row has the key. Billed as a query. */
export async function readRow(
  ctx: StatementsContext,
  address: RowAddress,
): Promise<readonly RowCell[] | null> {
  const { table } = address;
  const where = keyCondition(address);
  const names = table.columns.map(({ name }) => name);
  const { json } = await readStatement(ctx, {
    sql: `SELECT ${cellColumns(names, FORM_LENGTH)} FROM ${
      quoteIdentifier(table.name)
    } WHERE ${where.sql} ${TABLE_MARK}`,
    params: where.params,
    signal: () => null,
  });
  const [row] = readResult(json).rows;
  return row === undefined ? null : readCells(row, { at: 0, count: names.length, most: FORM_LENGTH });
}

/** The condition that names the row. */
export function keyCondition({ key, values }: Pick<RowAddress, "key" | "values">): Condition {
  return { sql: key.columns.map((name) => `${quoteIdentifier(name)} = ?`).join(" AND "), params: values };
}
