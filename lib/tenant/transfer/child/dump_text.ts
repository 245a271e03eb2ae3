// Cuts the text of a dump into statements while it is read, however long it is.
import { lineBreaksIn } from "../../../core/plain_text.ts";
import { isTrigger } from "../../../sql/tokens/split_statements.ts";
import { sqlTokens } from "../../../sql/tokens/sql_tokens.ts";
import { NotTaken } from "./not_taken.ts";

/** A statement, without its semicolon. */
export interface DumpStatement {
  readonly sql: string;
  /** Of its first character, from 1. */
  readonly line: number;
}

/** Characters of one statement: a value of 20 MB has twice as many as a blob, and others beside it. */
const MAX_STATEMENT = 64 * 1024 * 1024;
const CHUNK = 1024 * 1024;
/** Characters, comments in front of it included, within which CREATE TRIGGER has to stand. */
const TRIGGER_WITHIN = 20_000;
/** Where a literal, a name, a comment or a statement may begin or end. */
const INTERESTING = /['"`[;]|--|\/\*/g;
const CLOSING: Readonly<Record<string, string>> = {
  "'": "'",
  '"': '"',
  "`": "`",
  "[": "]",
  "--": "\n",
  "/*": "*/",
};

/** The statements of a file; what follows the last one comes last, with `sql` that ends in no semicolon. */
export function* dumpStatements(path: string): Generator<DumpStatement & { readonly last?: true }> {
  let text = "";
  let search: Search = BEGUN;
  let line = 1;
  for (const chunk of textChunks(path)) {
    text += chunk;
    for (;;) {
      const end = endOf(text, search);
      if (!end.found) {
        search = end;
        break;
      }
      const sql = text.slice(0, end.at);
      text = text.slice(end.at + 1);
      search = BEGUN;
      yield { sql, line: line + leadingLines(sql) };
      line += lineBreaksIn(sql);
    }
    if (text.length > MAX_STATEMENT) {
      throw new NotTaken(
        `a statement is longer than ${MAX_STATEMENT} characters`,
        `line ${line + leadingLines(text)}`,
      );
    }
  }
  yield { sql: text, line: line + leadingLines(text), last: true };
}

/** How far the end of a statement has been looked for. */
interface Search {
  readonly at: number;
  /** The last semicolon of a trigger's own; null: there was none. Tokens before it are not read again. */
  readonly own: number | null;
}

const BEGUN: Search = { at: 0, own: null };

/** The end of the first statement, or where to look on when there is more text. */
function endOf(text: string, { at: from, own }: Search): Search & { readonly found: boolean } {
  INTERESTING.lastIndex = from;
  // Behind the last mark that was understood: what closes a literal must not be taken for what opens the next.
  let seen = from;
  for (let match = INTERESTING.exec(text); match !== null; match = INTERESTING.exec(text)) {
    const [mark] = match;
    if (mark === ";") {
      if (endsAt(text, match.index, own)) return { found: true, at: match.index, own };
      own = match.index;
      seen = INTERESTING.lastIndex;
      continue;
    }
    const close = CLOSING[mark] ?? "";
    const end = text.indexOf(close, match.index + mark.length);
    if (end < 0) return { found: false, at: match.index, own };
    seen = INTERESTING.lastIndex = end + close.length;
  }
  // A mark of two characters may be cut between them.
  return { found: false, at: Math.max(seen, text.length - 1), own };
}

/** A trigger has semicolons of its own, and ends at the one that follows `; END`. */
function endsAt(text: string, at: number, own: number | null): boolean {
  if (own === null) {
    const begin = text.slice(0, Math.min(at, TRIGGER_WITHIN));
    return !/create/i.test(begin) || !isTrigger(sqlTokens(begin));
  }
  const [last, ...others] = sqlTokens(text.slice(own + 1, at));
  return last?.key === "END" && others.length === 0;
}

function* textChunks(path: string): Generator<string> {
  const file = Deno.openSync(path);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let line = 1;
  try {
    for (const buffer = new Uint8Array(CHUNK);;) {
      const count = file.readSync(buffer);
      let text: string;
      try {
        text = count === null
          ? decoder.decode()
          : decoder.decode(buffer.subarray(0, count), { stream: true });
      } catch {
        throw new NotTaken(
          "the text is not UTF-8; the SQLite file itself comes in whatever its texts are, with format=sqlite",
          `behind line ${line}`,
        );
      }
      yield text;
      if (count === null) return;
      line += lineBreaksIn(text);
    }
  } finally {
    file.close();
  }
}

/** Lines of white space and comments in front of the statement. */
function leadingLines(sql: string): number {
  return lineBreaksIn(sql.slice(0, leadLength(sql)));
}

const LEAD = /\s+|--[^\n]*|\/\*[\s\S]*?\*\//y;

/** Characters of white space and comments at the start of a text, however many: one pattern for all of them has no room for that. */
export function leadLength(text: string): number {
  let length = 0;
  for (LEAD.lastIndex = 0; LEAD.test(text);) length = LEAD.lastIndex;
  return length;
}
