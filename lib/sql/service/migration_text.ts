// Reads the text of a migration file as the tools that make such files mean it: its statements, and its digest. Pure.
import { sha256 } from "../../core/sha256.ts";
import { splitStatements } from "../tokens/split_statements.ts";
import { sqlTokens } from "../tokens/sql_tokens.ts";
import { readSyntax } from "../grammar/syntax.ts";
import { transactionControl } from "../tokens/transaction_control.ts";

/** One statement of a file. */
export interface MigrationStatement {
  readonly sql: string;
  /** Its index among all statements of the file, and the line on which it begins, from 1. */
  readonly index: number;
  readonly line: number;
}

/** A text of a file that can be applied, or why it cannot. */
export type MigrationText =
  | {
    readonly ok: true;
    readonly statements: readonly MigrationStatement[];
    /** It runs without foreign keys, wherever it says so. */
    readonly foreignKeysOff: boolean;
  }
  | { readonly ok: false; readonly message: string; readonly index: number; readonly line: number };

/** The text without a byte order mark, with line feeds only: what git and editors change between machines. */
function normalText(text: string): string {
  return text.replace(/^\uFEFF/, "").replaceAll(/\r\n?/g, "\n");
}

/** SHA-256 of the normal text, hex. */
export function migrationDigest(text: string): string {
  return sha256().update(normalText(text)).digest("hex");
}

/**
 * The statements that are to run, in one transaction. `BEGIN` and `COMMIT` around them are left out, because the file is
 * one transaction anyway; what would end it before the end of the file is an error. Of a file with the sections of
 * dbmate, goose or sql-migrate only the section `up` counts.
 */
export function readMigration(text: string): MigrationText {
  const { sql, firstLine } = upSection(cutAtBreakpoints(normalText(text)));
  const statements: MigrationStatement[] = [];
  const lineAt = lineCounter(sql, firstLine);
  let state: "before" | "open" | "closed" = "before";
  for (const [index, part] of splitStatements(sql).entries()) {
    const line = lineAt(part.at + leadOf(part.sql));
    const refuse = (message: string) => ({ ok: false, message, index, line } as const);
    const control = transactionControl(part.sql);
    if (control === null) {
      const statement = ownForm(part.sql);
      if (statement !== null) statements.push({ sql: statement, index, line });
    } else if (control.verb === "begin") {
      if (state === "open") return refuse("Leave out the second BEGIN; the file is one transaction");
      state = "open";
    } else if (control.verb === "commit") {
      if (state !== "open") return refuse("Leave out COMMIT; there is no BEGIN before it");
      state = "closed";
    } else {
      return refuse(`Leave out ${control.verb.toUpperCase()}; a file is applied as a whole or not at all`);
    }
  }
  if (state !== "open") {
    return {
      ok: true,
      statements,
      foreignKeysOff: statements.some((one) => switchesForeignKeysOff(one.sql)),
    };
  }
  return {
    ok: false,
    message: "End the file with COMMIT, or leave out BEGIN",
    index: statements.length,
    line: lineAt(sql.length),
  };
}

/** drizzle-kit cuts its files here, also where a semicolon is missing. */
function cutAtBreakpoints(text: string): string {
  return text.replaceAll(/-->[ \t]*statement-breakpoint[ \t]*$/gm, ";");
}

const UP = /^[ \t]*--[ \t]*(?:migrate:|\+(?:goose|migrate)[ \t]+)up\b.*$/im;
const DOWN = /^[ \t]*--[ \t]*(?:migrate:|\+(?:goose|migrate)[ \t]+)down\b.*$/im;

function upSection(text: string): { readonly sql: string; readonly firstLine: number } {
  const up = UP.exec(text);
  if (up === null) return { sql: text, firstLine: 1 };
  const start = up.index + up[0].length;
  const rest = text.slice(start);
  return { sql: rest.slice(0, DOWN.exec(rest)?.index), firstLine: text.slice(0, start).split("\n").length };
}

/** Characters of comments and white space before the first token. */
function leadOf(sql: string): number {
  return sqlTokens(sql, 1)[0]?.at ?? 0;
}

/** Finds lines of offsets that never go back. */
function lineCounter(text: string, firstLine: number): (at: number) => number {
  let line = firstLine;
  let counted = 0;
  return (at) => {
    for (; counted < at; counted++) if (text.charAt(counted) === "\n") line++;
    return line;
  };
}

/** Whether a statement is `PRAGMA foreign_keys=OFF`. */
export function switchesForeignKeysOff(sql: string): boolean {
  if (sqlTokens(sql, 1)[0]?.key !== "PRAGMA") return false;
  const read = readSyntax(sql);
  return read.ok && read.syntax.pragma?.foreignKeysOff === true;
}

/** Whether a statement is `PRAGMA defer_foreign_keys=…`. */
export function defersForeignKeys(sql: string): boolean {
  const [pragma, name, , value] = sqlTokens(sql, 4);
  return pragma?.key === "PRAGMA" && name?.key === "DEFER_FOREIGN_KEYS" && value !== undefined;
}

/**
 * The statement as the service runs it; null where it has nothing to do. Who defers foreign keys to the commit wants them
 * to be checked once, behind everything: so it counts as switching them off, after which the service checks them too.
 */
function ownForm(sql: string): string | null {
  const [pragma, name, , value] = sqlTokens(sql, 4);
  if (pragma?.key !== "PRAGMA") return sql;
  const isOff = /^(?:off|no|false|0)$/i.test(value?.text ?? "");
  if (name?.key === "LEGACY_ALTER_TABLE" && isOff) return null;
  if (!defersForeignKeys(sql)) return sql;
  return isOff ? null : "PRAGMA foreign_keys=OFF";
}
