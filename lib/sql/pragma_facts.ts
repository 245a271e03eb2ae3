// What one PRAGMA statement does, by its text.
import type { Expr, PragmaStmt } from "sqlite3-parser";
import { pragmaUse } from "./pragmas.ts";

export interface PragmaFacts {
  readonly name: string;
  /** The schema that it is limited to by `main.`. */
  readonly schema: string | null;
  readonly sets: boolean;
  /** It sets `foreign_keys` off, which has to happen outside of a transaction. */
  readonly foreignKeysOff: boolean;
  /** The name or the number that it is asked about or set to; null: none, or an expression. */
  readonly argument: string | null;
}

export function pragmaFacts(statement: PragmaStmt): PragmaFacts {
  const name = statement.name.objName.text.toLowerCase();
  const sets = pragmaUse(name, statement.body !== undefined) === "set";
  const value = statement.body?.value;
  return {
    name,
    schema: statement.name.dbName?.text ?? null,
    sets,
    foreignKeysOff: sets && name === "foreign_keys" && !isOn(value),
    argument: argumentOf(value),
  };
}

/** The words that SQLite takes for true; everything else turns a setting off. */
function isOn(value: Expr | undefined): boolean {
  if (value?.type === "NumericLiteral") return Number(value.value) !== 0;
  return /^(on|yes|true)$/i.test(argumentOf(value) ?? "");
}

function argumentOf(value: Expr | undefined): string | null {
  switch (value?.type) {
    case "NameExpr":
      return value.name.text;
    case "StringLiteral":
    case "KeywordLiteral":
    case "NumericLiteral":
      return value.value;
    case "Id":
      return value.name;
    default:
      return null;
  }
}
