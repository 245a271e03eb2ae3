// What one PRAGMA statement does, by its text.
import type { Expr, PragmaStmt } from "sqlite3-parser";
import { pragmaUse } from "./pragmas.ts";

export interface PragmaFacts {
  readonly name: string;
  readonly sets: boolean;
  /** It sets `foreign_keys` off, which has to happen outside of a transaction. */
  readonly foreignKeysOff: boolean;
}

export function pragmaFacts(statement: PragmaStmt): PragmaFacts {
  const name = statement.name.objName.text.toLowerCase();
  const sets = pragmaUse(name, statement.body !== undefined) === "set";
  return { name, sets, foreignKeysOff: sets && name === "foreign_keys" && !isOn(statement.body?.value) };
}

/** The words that SQLite takes for true; everything else turns a setting off. */
function isOn(value: Expr | undefined): boolean {
  if (value === undefined) return false;
  if (value.type === "NumericLiteral") return Number(value.value) !== 0;
  const word = value.type === "NameExpr"
    ? value.name.text
    : value.type === "StringLiteral" || value.type === "KeywordLiteral"
    ? value.value
    : value.type === "Id"
    ? value.name
    : "";
  return /^(on|yes|true)$/i.test(word);
}
