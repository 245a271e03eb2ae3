// Step 10, the answer's part: one statement's result as the bare body that `output` names (JSON text).
import type { EndpointSpec } from "../../core/endpoint_spec.ts";
import type { StatementResult } from "../../tenant/tenant_store.ts";

export function shapeAnswer(output: EndpointSpec["output"], result: StatementResult): string {
  if (output === "rows_written") return `{"rowsWritten":${result.rowsWritten}}`;
  if (output === "first_row") return `{"row":${firstRow(result)}}`;
  return `${result.json}}`;
}

/** Columns and rows as values. */
export function readResult(result: StatementResult): { columns: string[]; rows: unknown[][] } {
  return asResult(JSON.parse(`${result.json}}`));
}

/** Put together as text, so that no column's name means anything to JavaScript. Of two with one name the last counts. */
function firstRow(result: StatementResult): string {
  const { columns, rows } = readResult(result);
  const [row] = rows;
  if (row === undefined) return "null";
  const members = new Map(columns.map((name, index) => [name, JSON.stringify(row[index] ?? null)]));
  return `{${[...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`;
}

/** Guarantee: the engine's side writes every result in this form. */
function asResult(value: unknown): { columns: string[]; rows: unknown[][] } {
  return value as { columns: string[]; rows: unknown[][] };
}
