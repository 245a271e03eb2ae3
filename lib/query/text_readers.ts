// What reads texts of SQL: pure work that may be done in any thread.
import { readMigration } from "../sql/migration_text.ts";
import { readSyntax } from "../sql/syntax.ts";

/** The readers by name. */
export const textReaders = { syntax: readSyntax, migration: readMigration } as const;

/** One of their names. */
export type TextReader = keyof typeof textReaders;

/** What each of them makes of a text. */
export type TextRead<Reader extends TextReader> = ReturnType<(typeof textReaders)[Reader]>;
