// What reads texts of SQL: pure work that may be done in any thread.
import { readMigration } from "../sql/service/migration_text.ts";
import { numberPlaceholders } from "../sql/tokens/named_placeholders.ts";
import { ownText } from "../sql/service/own_text.ts";
import { statementEnd } from "../sql/tokens/statement_end.ts";
import { splitStatements } from "../sql/tokens/split_statements.ts";
import { readSyntax } from "../sql/grammar/syntax.ts";

/** The readers by name. */
export const textReaders = {
  syntax: readSyntax,
  migration: readMigration,
  parts: splitStatements,
  own: (sql: string) => ownText(sql),
  numbered: numberPlaceholders,
  end: statementEnd,
} as const;

/** One of their names. */
export type TextReader = keyof typeof textReaders;

/** What each of them makes of a text. */
export type TextRead<Reader extends TextReader> = ReturnType<(typeof textReaders)[Reader]>;
