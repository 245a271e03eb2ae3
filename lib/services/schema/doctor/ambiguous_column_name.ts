// Columns whose name alone does not say what they hold.
import { affinityOf } from "../../../sql/affinity.ts";
import { foldName } from "../../../sql/fold_name.ts";
import type { ColumnFacts, TableFacts } from "../schema_facts.ts";
import type { Examined } from "./examined.ts";
import type { Found } from "./finding.ts";
import { renameColumn } from "./rename_column.ts";

/** Names that could stand for anything. */
const bareNames: ReadonlySet<string> = new Set(
  "data value val type kind status state flag info misc field tmp temp".split(" "),
);

interface Place {
  readonly table: TableFacts;
  readonly column: ColumnFacts;
}

export function ambiguousColumnName({ schema }: Examined): Found[] {
  const places: Place[] = schema.tables.filter(({ kind }) => kind === "table").flatMap((table) =>
    table.columns.map((column) => ({ table, column }))
  );
  const bare = places.filter(({ column }) => bareNames.has(foldName(column.name)));
  const others = places.filter((place) => !bare.includes(place) && place.column.type !== "");
  const byName = Map.groupBy(others, ({ column }) => foldName(column.name));
  return [
    ...bare.map((place) => found(place, "its bare name does not say what it holds")),
    ...[...byName.values()].flatMap(withOtherType),
  ];
}

/** Those whose type is not the one that most columns of this name have. */
function withOtherType(places: readonly Place[]): Found[] {
  const byType = [...Map.groupBy(places, ({ column }) => affinityOf(column.type)).values()]
    .sort((a, b) => b.length - a.length);
  const [usual, ...others] = byType;
  const example = usual?.[0];
  if (!example) return [];
  const { table, column } = example;
  return others.flat().map((place) =>
    found(place, `it is ${place.column.type} here and ${column.type} in ${table.name}`)
  );
}

function found({ table, column }: Place, why: string): Found {
  return {
    table: table.name,
    column: column.name,
    message: `Rename ${column.name} of ${table.name}, and the statements that name it: ${why}`,
    suggestion: renameColumn(table, column.name),
  };
}
