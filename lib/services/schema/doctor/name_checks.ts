// Checks of names: columns whose name does not say what they hold, and words of SQL.
import { foldName, reservedWords } from "../../../sql/words/names.ts";
import { quoteIdentifier } from "../../../sql/words/quote.ts";
import { affinityOf } from "../../../sql/words/sql_value.ts";
import type { ColumnFacts, TableFacts } from "../schema_facts.ts";
import { type Examined, type Found, probeKey } from "./examined.ts";
import { freeName, renameColumn } from "./suggestions.ts";

/** Names that could mean anything. */
const bareNames: ReadonlySet<string> = new Set(
  "data value val type kind status state flag info misc field tmp temp".split(" "),
);

interface TableColumn {
  readonly table: TableFacts;
  readonly column: ColumnFacts;
}

/** Columns with a bare name, or with another type than most columns of the same name have. */
export function ambiguousColumnName({ schema }: Examined): Found[] {
  const all: TableColumn[] = schema.tables.filter(({ kind }) => kind === "table").flatMap((table) =>
    table.columns.map((column) => ({ table, column }))
  );
  const isBare = ({ column }: TableColumn) => bareNames.has(foldName(column.name));
  const bare = all.filter(isBare);
  const others = all.filter((one) => !isBare(one) && one.column.type !== "");
  const byName = Map.groupBy(others, ({ column }) => foldName(column.name));
  return [
    ...bare.map((one) => found(one, "its bare name does not say what it holds")),
    ...[...byName.values()].flatMap(withOtherType),
  ];
}

/** Columns whose type differs from the type that most columns of that name have. */
function withOtherType(columns: readonly TableColumn[]): Found[] {
  const byType = [...Map.groupBy(columns, ({ column }) => affinityOf(column.type)).values()]
    .sort((a, b) => b.length - a.length);
  const [usual, ...others] = byType;
  const example = usual?.[0];
  if (!example) return [];
  const { table, column } = example;
  return others.flat().map((one) =>
    found(one, `it is ${one.column.type} here and ${column.type} in ${table.name}`)
  );
}

function found({ table, column }: TableColumn, why: string): Found {
  return {
    table: table.name,
    column: column.name,
    message: `Rename ${column.name} of ${table.name}, and the statements that name it: ${why}`,
    suggestion: renameColumn(table, column.name),
  };
}

/** Names that must be quoted in every statement because they are words of SQL. */
export function reservedWordName(examined: Examined): Found[] {
  const { schema, takenNames } = examined;
  // These columns get another name anyway.
  const renamed = new Set(
    ambiguousColumnName(examined).map(({ table, column }) => probeKey(table, column ?? "")),
  );
  return schema.tables.flatMap((table) => {
    const columns = table.kind === "virtual"
      ? []
      : table.columns.filter(({ name }) => isReserved(name) && !renamed.has(probeKey(table.name, name)));
    return [
      ...columns.map(({ name }) => ({
        table: table.name,
        column: name,
        message: `Rename ${name} of ${table.name}, and the statements that name it: the word belongs to SQL`,
        suggestion: renameColumn(table, name),
      })),
      ...(isReserved(table.name)
        ? [{
          table: table.name,
          column: null,
          message: `Rename the table ${table.name}, and the statements that name it: the word belongs to SQL`,
          suggestion: `ALTER TABLE ${quoteIdentifier(table.name)} RENAME TO ${
            quoteIdentifier(freeName(takenNames, `${table.name}_table`))
          }`,
        }]
        : []),
    ];
  });
}

function isReserved(name: string): boolean {
  return reservedWords.has(name.toLowerCase());
}
