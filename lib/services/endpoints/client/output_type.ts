// The TypeScript type of what an endpoint answers, from the columns that its statement shows.
import type { EndpointSpec } from "../../../core/endpoint_spec.ts";
import { affinityOf } from "../../../sql/affinity.ts";
import { type ResultColumn, resultColumns } from "../../../sql/result_columns.ts";
import { foldName } from "../../schema/fold_name.ts";
import type { SchemaFacts, TableFacts } from "../../schema/schema_facts.ts";

/** Declared types are the owner's intent: the engine would store something else without complaint. */
const types = { INTEGER: "number", REAL: "number", NUMERIC: "Value", TEXT: "string", BLOB: "Value" } as const;

export function outputType(
  { output, sql }: Pick<EndpointSpec, "output" | "sql">,
  schema: SchemaFacts,
): string {
  if (output === "rows_written") return "{ rowsWritten: number }";
  if (output === "session") return "{ token: string; expiresAt: string }";
  if (output === "answer") return "{ sql: string; columns: string[]; rows: Value[][]; explanation: string }";
  const tables = new Map(schema.tables.map((table) => [foldName(table.name), table]));
  const tableOf = (name: string) => tables.get(foldName(name));
  const columns = resultColumns(sql, (name) => tableOf(name)?.columns.map((column) => column.name) ?? null);
  if (columns === null) return output === "rows" ? "Rows<Value[]>" : "{ row: Record<string, Value> | null }";
  const typed = columns.map((column) => [column.name, valueType(column, tableOf)] as const);
  if (output === "rows") {
    const names = typed.map(([name]) => JSON.stringify(name)).join(", ");
    return `Rows<[${typed.map(([, type]) => type).join(", ")}], [${names}]>`;
  }
  // Of two columns with one name the last counts, as in the answer.
  const members = [...new Map(typed)].map(([name, type]) => `${JSON.stringify(name)}: ${type}`);
  return `{ row: { ${members.join("; ")} } | null }`;
}

function valueType(
  { source, joined }: ResultColumn,
  tableOf: (name: string) => TableFacts | undefined,
): string {
  const column = source && tableOf(source.table)?.columns.find(({ name }) => name === source.column);
  if (!column) return "Value";
  const affinity = affinityOf(column.type);
  const type = types[affinity];
  const isRowid = column.pk > 0 && /^integer$/i.test(column.type);
  return type === "Value" || !joined && (column.notNull || isRowid) ? type : `${type} | null`;
}
