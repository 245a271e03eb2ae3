// Reads the result of a statement, which travels as the JSON text that the engine's side has written.
import type { JsonValue } from "../../engine/statement_effect.ts";

/** A value of a row that the service itself selects: no blob, and no INTEGER beyond 2^53. */
export type Cell = string | number | null;

/** Columns and rows of a result. */
export interface ResultTable {
  readonly columns: string[];
  readonly rows: JsonValue[][];
}

/** The text of a result without columns and rows. */
export const NO_ROWS = '{"columns":[],"rows":[]';

/** Guarantee: `json` is that of a `StatementResult`, which both stores write in this form. */
export function readResult(json: string = NO_ROWS): ResultTable {
  return JSON.parse(`${json}}`) as ResultTable;
}

/** Guarantee: rows of a statement of the service's own, which has chosen their columns. */
export function rowsOf<Row extends readonly Cell[]>(json: string | undefined): Row[] {
  const rows: unknown = readResult(json).rows;
  return rows as Row[];
}
