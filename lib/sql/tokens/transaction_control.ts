// Statements that begin, end and divide transactions. The engine's grammar refuses libSQL's READONLY, so their few words are
// read here. Pure.
import { firstWord } from "../words/first_word.ts";
import { type SqlToken, sqlTokens } from "./sql_tokens.ts";

/** What such a statement says. */
export type TransactionControl =
  | { readonly verb: "begin"; readonly mode: "deferred" | "immediate" | "exclusive" | "readonly" }
  | { readonly verb: "commit" | "rollback" }
  | { readonly verb: "savepoint" | "release" | "rollback to"; readonly name: string };

/** No other statement begins with these. */
const BEGINS: ReadonlySet<string> = new Set(["BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE"]);

/** More than any of them has, with semicolons behind it. */
const MAX_TOKENS = 50;

/** What the statement says; null where it is another statement, or none that SQLite or libSQL would take. */
export function transactionControl(sql: string): TransactionControl | null {
  if (!BEGINS.has(firstWord(sql))) return null;
  const tokens = sqlTokens(sql, MAX_TOKENS);
  if (tokens.length === MAX_TOKENS) return null;
  while (tokens.at(-1)?.key === ";") tokens.pop();
  const [first, ...rest] = tokens;
  switch (first?.key) {
    case "BEGIN":
      return begin(rest);
    case "COMMIT":
    case "END":
      return isOptionalTransaction(rest) ? { verb: "commit" } : null;
    case "ROLLBACK":
      return rollback(rest);
    case "SAVEPOINT":
      return named("savepoint", rest);
    case "RELEASE":
      return named("release", rest[0]?.key === "SAVEPOINT" && rest.length > 1 ? rest.slice(1) : rest);
    default:
      return null;
  }
}

const MODES = {
  DEFERRED: "deferred",
  IMMEDIATE: "immediate",
  EXCLUSIVE: "exclusive",
  READONLY: "readonly",
} as const;

function begin(rest: readonly SqlToken[]): TransactionControl | null {
  const words = rest.map(({ key }) => key);
  const [mode, ...others] = words.filter((word) => word !== "TRANSACTION");
  if (others.length > 0 || words.length > 2) return null;
  // `BEGIN TRANSACTION READONLY` is libSQL's; every other mode stands before the word.
  if (words[0] === "TRANSACTION" && words.length === 2 && mode !== "READONLY") return null;
  if (mode === undefined) return { verb: "begin", mode: "deferred" };
  return Object.hasOwn(MODES, mode) ? { verb: "begin", mode: MODES[mode as keyof typeof MODES] } : null;
}

function rollback(rest: readonly SqlToken[]): TransactionControl | null {
  const to = rest.findIndex(({ key }) => key === "TO");
  if (to < 0) return isOptionalTransaction(rest) ? { verb: "rollback" } : null;
  if (!isOptionalTransaction(rest.slice(0, to))) return null;
  const behind = rest.slice(to + 1);
  return named("rollback to", behind[0]?.key === "SAVEPOINT" && behind.length > 1 ? behind.slice(1) : behind);
}

function isOptionalTransaction(rest: readonly SqlToken[]): boolean {
  return rest.length === 0 || (rest.length === 1 && rest[0]?.key === "TRANSACTION");
}

function named(
  verb: "savepoint" | "release" | "rollback to",
  [name, ...more]: readonly SqlToken[],
): TransactionControl | null {
  if (name === undefined || more.length > 0) return null;
  if (name.kind === "word" || name.kind === "name") return { verb, name: name.text };
  const quoted = /^'((?:[^']|'')*)'$/.exec(name.text)?.[1];
  return quoted === undefined ? null : { verb, name: quoted.replaceAll("''", "'") };
}
