// Which columns hold secrets, by their names.
import type { ColumnDefinition } from "./read_table.ts";
import { splitWords } from "./search_words.ts";

const secretWords: ReadonlySet<string> = new Set(
  "password passwords passwd passphrase passcode pwd token tokens secret secrets apikey otp totp cvv cvc"
    .split(" "),
);
/** Secrets that are numbers in some tables. */
const codeWords: ReadonlySet<string> = new Set("otp totp cvv cvc".split(" "));
/** Last words of columns that are about a secret but do not hold it, such as `token_count`. */
const aboutWords: ReadonlySet<string> = new Set(
  "at count expires expiry hint id kind length limit name on prefix type used".split(" "),
);
/** Declared types of numbers, days, times and truth values. */
const COUNTS = /INT|REAL|FLOA|DOUB|NUM|DEC|BOOL|DATE|TIME/i;
/** Between the words of the name. */
const SECRET_NAMES =
  /(?:^|_)(?:(?:access|api|encryption|private|signing)_?keys?|(?:access|api|auth|refresh|reset)tokens?|(?:backup|recovery)_codes?)(?:_|$)/;

/** By the name alone: for a column of an answer, which may have no declared type. */
export function isSecretName(column: string): boolean {
  const words = splitWords(column);
  if (aboutWords.has(words.at(-1) ?? "")) return false;
  return words.some((word) => secretWords.has(word)) || SECRET_NAMES.test(words.join("_"));
}

/** Numbers, days and truth values tell of secrets but are none, such as `prompt_tokens INTEGER`; a code may be a number. */
export function isSecretColumn({ name, declaredType }: ColumnDefinition): boolean {
  if (!isSecretName(name)) return false;
  return !COUNTS.test(declaredType) || splitWords(name).some((word) => codeWords.has(word));
}
