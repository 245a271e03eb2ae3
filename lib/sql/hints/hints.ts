// Hints: names that somebody may have meant, and hints that follow from the engine's message.
import type { SqlErrorKind } from "../../core/errors.ts";
import { allowedFunctions } from "../words/functions.ts";
import { reservedWords } from "../words/names.ts";

/** Bounds of the comparison, whose cost is their product: characters of a name, and candidates. */
const MAX_LENGTH = 64;
const MAX_CANDIDATES = 1000;

/**
 * At most three candidates, nearest first: those that contain the name, or differ in at most a third of its letters.
 */
export function nearMatches(name: string, candidates: readonly string[]): string[] {
  const wanted = name.toLowerCase();
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  // A name of one letter is as near to every other letter.
  if (wanted.length < 2 || wanted.length > MAX_LENGTH) return [];
  const comparable = [...new Set(candidates)].filter(({ length }) => length <= 2 * MAX_LENGTH);
  const scored = comparable.slice(0, MAX_CANDIDATES).map((candidate) => ({
    candidate,
    distance: distanceTo(wanted, candidate.toLowerCase()),
  }));
  return scored.filter((entry) => entry.distance <= limit)
    .sort((a, b) => a.distance - b.distance || a.candidate.localeCompare(b.candidate))
    .slice(0, 3).map((entry) => entry.candidate);
}

/** Fields that one message names. */
const MAX_FIELDS = 24;

/** What is wrong with a field that a request has and nobody knows: which one may have been meant, or which there are. */
export function unknownField(name: string, known: readonly string[]): string {
  const near = nearMatches(name, known);
  const message = "Remove this field; it is not known here";
  if (near.length > 0) return `${message}; did you mean ${near.join(" or ")}?`;
  return known.length === 0 ? message : `${message}; known are ${listedFields(known)}`;
}

/** The fields for a message, cut where they are many. */
export function listedFields(fields: readonly string[]): string {
  return fields.slice(0, MAX_FIELDS).join(", ") + (fields.length > MAX_FIELDS ? ", …" : "");
}

function distanceTo(wanted: string, candidate: string): number {
  if (candidate === wanted) return 0;
  // A missing prefix or suffix (`customer` for `customer_id`) is the most common mistake.
  if (
    wanted.length >= 3 && (candidate.includes(wanted) || wanted.includes(candidate) && candidate.length >= 3)
  ) return 1;
  return editDistance(wanted, candidate);
}

/** Optimal string alignment: an insertion, a deletion, a substitution and a swap of neighbours count one each. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}

/** Replaces a value that a message quoted. */
const CUT = "…";

type WordsHint = readonly [words: RegExp, hint: string];

const MATCH_HINT: WordsHint = [
  /^fts5: |^unterminated string|^unknown special query/,
  "Correct the text after MATCH, which has a syntax of its own: put words of a user into double quotes",
];

const JSON_HINT: WordsHint = [
  /JSON/i,
  "Correct the JSON or the path that the statement is given; a path begins with $, and a dot or an index as [0] follows",
];

/** How a cut message begins, and the hint for it; the first match counts. */
const CUT_HINTS: readonly WordsHint[] = [
  MATCH_HINT,
  JSON_HINT,
  [
    /^/,
    "Check the values that the statement is given: what the engine quotes of them is left out of the message",
  ],
];

/** What a message about a statement says whole, and the hint for it. */
const WHOLE_HINTS: readonly WordsHint[] = [
  MATCH_HINT,
  [
    /^foreign key mismatch - /,
    "Let the key refer to the primary key of the other table, or to columns with a unique index; doctor names such keys",
  ],
  [
    /^cannot (?:INSERT into|UPDATE) generated column /,
    "Leave the column out: the engine computes it from the others",
  ],
  [
    /^(?:table|view|index|trigger) .+ already exists$/s,
    "Write IF NOT EXISTS, or choose another name; a migration whose tables are there already is recorded with baseline",
  ],
  [
    /^duplicate column name: /,
    "Leave the column out, or choose another name; describe lists the columns, and a migration whose column is there already is recorded with baseline",
  ],
  [
    /^table .+ has \d+ columns? but \d+ values? were supplied$|^\d+ values for \d+ columns$/s,
    "Name the columns and give each a value: INSERT INTO <table> (<columns>) VALUES (…); describe lists the columns",
  ],
  [/^\d+ columns assigned \d+ values$/, "Give as many values as there are columns: SET (a, b) = (?, ?)"],
  [
    /^ambiguous column name: /,
    "Write the table or its alias before the column, as in orders.id: two of the tables have it",
  ],
  [
    /^AUTOINCREMENT is only allowed/,
    "Write INTEGER PRIMARY KEY AUTOINCREMENT; INT and BIGINT do not count here",
  ],
  [/^misuse of aggregate/, "Write the condition behind HAVING, or the aggregate in a SELECT of its own"],
  [
    /^SELECTs to the left and right of /,
    "Select as many columns on both sides; NULL stands for one that a side does not have",
  ],
  [
    /^ON CONFLICT clause does not match/,
    "Name the columns of the primary key or of a unique index; CREATE UNIQUE INDEX makes one",
  ],
  JSON_HINT,
  [
    /^cannot drop (?:PRIMARY KEY|UNIQUE) column/,
    "Make a new table, copy the rows, drop the old one and rename, in one batch",
  ],
];

/** A hint that follows from the engine's message. Null where the kind of the failure says what to do. */
export function messageHint(
  { kind, message }: { readonly kind: SqlErrorKind; readonly message: string },
): string | null {
  const unknown = /^no such function: (.+)$/s.exec(message)?.[1];
  if (unknown !== undefined && unknown !== CUT) return functionHint(unknown);
  if (kind !== "unknown" && kind !== "syntax_error") return null;
  const hints = message.includes(CUT) && kind === "unknown" ? CUT_HINTS : WHOLE_HINTS;
  return hints.find(([words]) => words.test(message))?.[1] ?? reservedNameHint(message);
}

/** A word of SQL at which a statement does not read may have been meant as a name. */
function reservedNameHint(message: string): string | null {
  const word = /^near "(\w+)": syntax error$/.exec(message)?.[1];
  return word !== undefined && reservedWords.has(word.toLowerCase())
    ? `Correct the statement, or write "${word}" in double quotes where it is a name: it is a word of SQL`
    : null;
}

function functionHint(name: string): string {
  // An engine may be built without a function that others have.
  if (allowedFunctions.has(name.toLowerCase())) {
    return "Do without the function; the engine here is built without it";
  }
  // Functions that only the engine calls are not offered.
  const near = nearMatches(name, [...allowedFunctions].filter((one) => !/^sqlite_/.test(one)));
  return near.length > 0
    ? `Did you mean ${near.join(" or ")}?`
    : "Check the name of the function; PRAGMA function_list lists what there is";
}
