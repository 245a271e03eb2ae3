// Names that must be quoted in every statement because they are words of SQL.
import { quoteIdentifier } from "../../../sql/quote.ts";
import { reservedWords } from "../../../sql/reserved_words.ts";
import { ambiguousColumnName } from "./ambiguous_column_name.ts";
import { type Examined, probeKey } from "./examined.ts";
import type { Found } from "./finding.ts";
import { freeName } from "./free_name.ts";
import { renameColumn } from "./rename_column.ts";

export function reservedWordName(examined: Examined): Found[] {
  const { schema, takenNames } = examined;
  // Those get another name anyway.
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
