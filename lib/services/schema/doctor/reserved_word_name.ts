// Names that must be quoted in every statement because they are words of SQL.
import { quoteIdentifier } from "../../../sql/quote.ts";
import { reservedWords } from "../../../sql/reserved_words.ts";
import type { Examined } from "./examined.ts";
import type { Found } from "./finding.ts";
import { freeName } from "./free_name.ts";
import { renameColumn } from "./rename_column.ts";

export function reservedWordName({ schema, takenNames }: Examined): Found[] {
  return schema.tables.flatMap((table) => {
    const columns = table.kind === "virtual" ? [] : table.columns.filter(({ name }) => isReserved(name));
    return [
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
      ...columns.map(({ name }) => ({
        table: table.name,
        column: name,
        message: `Rename ${name} of ${table.name}, and the statements that name it: the word belongs to SQL`,
        suggestion: renameColumn(table, name),
      })),
    ];
  });
}

function isReserved(name: string): boolean {
  return reservedWords.has(name.toLowerCase());
}
