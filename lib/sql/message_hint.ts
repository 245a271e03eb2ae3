// Hints that follow from the engine's words rather than from the kind of the failure.
import type { SqlErrorKind } from "../core/errors.ts";
import { allowedFunctions } from "./functions.ts";
import { nearMatches } from "./near_matches.ts";

/** What stands in a message for a value that it quoted. */
const CUT = "…";

/** How a message that was cut begins, and what helps then; the first one counts. */
const CUT_HINTS: readonly (readonly [words: RegExp, hint: string])[] = [
  [
    /^fts5: |^unterminated string|^unknown special query/,
    "Correct the text after MATCH, which has a syntax of its own: put words of a user into double quotes",
  ],
  [/JSON/i, "Correct the JSON or the path that the statement is given"],
  [
    /^/,
    "Check the values that the statement is given: what the engine quotes of them is left out of the message",
  ],
];

/** Null where the kind of the failure says what to do. */
export function messageHint(
  { kind, message }: { readonly kind: SqlErrorKind; readonly message: string },
): string | null {
  const unknown = /^no such function: (.+)$/s.exec(message)?.[1];
  if (unknown !== undefined && unknown !== CUT) return functionHint(unknown);
  return kind === "unknown" && message.includes(CUT)
    ? CUT_HINTS.find(([words]) => words.test(message))?.[1] ?? null
    : null;
}

function functionHint(name: string): string {
  // What the engine calls by itself is nothing to be offered.
  const near = nearMatches(name, [...allowedFunctions].filter((one) => !/^sqlite_/.test(one)));
  return near.length > 0
    ? `Did you mean ${near.join(" or ")}?`
    : "Check the name of the function; PRAGMA function_list lists what there is";
}
