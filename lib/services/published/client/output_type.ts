// The TypeScript type of what an endpoint answers, from the columns that its statement shows.
import type { EndpointSpec } from "../../../core/endpoint_spec.ts";
import { affinityOf } from "../../../sql/sql_value.ts";
import { outputs } from "../../endpoints/spec/outputs.ts";
import { foldName } from "../../../sql/names.ts";
import { type ResultColumn, resultColumns } from "../../../sql/result_columns.ts";
import type { SchemaFacts, TableFacts } from "../../schema/schema_facts.ts";

/** Declared types are the owner's intent: the engine would store something else without complaint. */
const types = { INTEGER: "number", REAL: "number", NUMERIC: "Value", TEXT: "string", BLOB: "Value" } as const;

/** The type of the body of an endpoint's answer, as TypeScript source. */
export function outputType(
  { output, sql }: Pick<EndpointSpec, "output" | "sql">,
  schema: SchemaFacts,
): string {
  const { holdsRows, clientType } = outputs[output];
  if (!holdsRows) return clientType(null);
  const tables = new Map(schema.tables.map((table) => [foldName(table.name), table]));
  const tableOf = (name: string) => tables.get(foldName(name));
  const columns = resultColumns(sql, (name) => tableOf(name)?.columns.map((column) => column.name) ?? null);
  return clientType(
    columns && columns.map((column) => ({ name: column.name, type: valueType(column, tableOf) })),
  );
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
