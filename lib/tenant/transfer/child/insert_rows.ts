// Reads the rows of an INSERT that has nothing but literals, without an engine: dumps consist of these.
import { OddText, type StoredValue } from "../../../sql/words/stored_text.ts";
import { quoteIdentifier as quoted } from "../../../sql/words/quote.ts";

/** The rows of one statement. */
export interface InsertedRows {
  readonly table: string;
  /** As INSERT has them; null: all columns. */
  readonly columns: readonly string[] | null;
  readonly rows: readonly (readonly StoredValue[])[];
}

const NAME = String
  .raw`(?:"(?:[^"]|"")*"|\`(?:[^\`]|\`\`)*\`|\[[^\]]*\]|'(?:[^']|'')*'|[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)`;
const HEAD = new RegExp(
  String.raw`\s*INSERT\s+INTO\s*(${NAME})\s*(?:\(\s*(${NAME}(?:\s*,\s*${NAME})*)\s*\))?\s*VALUES\s*`,
  "iy",
);
const NAMES = new RegExp(NAME, "g");
const NUMBER = /[+-]?(?:\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)/y;
const CAST = /CAST\(\s*[xX]'([0-9A-Fa-f]*)'\s+AS\s+TEXT\s*\)/iy;
const NULL = /NULL\b/iy;
/** Text with control characters in it as `sqlite3` writes it: older versions the first way, from 3.50 on the second. */
const REPLACE = /replace\s*\(/iy;
const CHARACTER = /char\(\s*(10|13)\s*\)/iy;
const UNISTR = /unistr\s*\(/iy;
const ESCAPES = /\\(?:\\|u00([0-9A-Fa-f]{2})|)/g;
const ESCAPED_BACKSLASH = String.raw`\\`;
const SPACE = /\s*/y;
const LOWEST = -(2n ** 63n);
const HIGHEST = 2n ** 63n - 1n;

/** Null where the statement is something else, or has other values than literals. */
export function insertRows(sql: string): InsertedRows | null {
  HEAD.lastIndex = 0;
  const head = HEAD.exec(sql);
  if (head === null) return null;
  const rows = new Reader(sql, HEAD.lastIndex).rows();
  if (rows === null) return null;
  const [, table = "", columns] = head;
  return {
    table: unquoted(table),
    columns: columns === undefined
      ? null
      : (columns.match(NAMES) ?? []).map((name) => quoted(unquoted(name))),
    rows,
  };
}

function unquoted(name: string): string {
  const open = name.charAt(0);
  if (open === "[") return name.slice(1, -1);
  return /["'`]/.test(open) ? name.slice(1, -1).replaceAll(open + open, open) : name;
}

class Reader {
  constructor(private readonly sql: string, private at: number) {}

  rows(): (readonly StoredValue[])[] | null {
    const rows: StoredValue[][] = [];
    do {
      const row = this.#row();
      if (row === null) return null;
      rows.push(row);
    } while (this.#takes(","));
    this.#match(SPACE);
    return this.at === this.sql.length ? rows : null;
  }

  #row(): StoredValue[] | null {
    if (!this.#takes("(")) return null;
    const row: StoredValue[] = [];
    do {
      const value = this.#value();
      if (value === undefined) return null;
      row.push(value);
    } while (this.#takes(","));
    return this.#takes(")") ? row : null;
  }

  #value(within = 0): StoredValue | undefined {
    this.#match(SPACE);
    const first = this.sql.charAt(this.at);
    if (first === "'") return this.#text();
    if (first === "x" || first === "X") return this.#blob();
    const number = this.#match(NUMBER);
    if (number !== null) return numberOf(number[0]);
    if (this.#match(NULL)) return null;
    const cast = this.#match(CAST);
    return cast === null ? this.#escapedText(within) : new OddText(Uint8Array.fromHex(cast[1] ?? ""));
  }

  /** `replace('one\ntwo','\n',char(10))`, perhaps around one more for `char(13)`, or `unistr('one\u000atwo')`. */
  #escapedText(within: number): string | undefined {
    if (this.#match(UNISTR)) {
      this.#match(SPACE);
      const text = this.sql.charAt(this.at) === "'" ? this.#text() : undefined;
      return text !== undefined && this.#takes(")") ? unescaped(text) : undefined;
    }
    if (within > 1 || !this.#match(REPLACE)) return undefined;
    const text = this.#value(within + 1);
    const mark = this.#takes(",") ? this.#value() : undefined;
    const code = this.#takes(",") && this.#match(SPACE) ? this.#match(CHARACTER)?.[1] : undefined;
    if (typeof text !== "string" || typeof mark !== "string" || mark === "") return undefined;
    if (code === undefined || !this.#takes(")")) return undefined;
    return text.replaceAll(mark, () => String.fromCharCode(Number(code)));
  }

  #text(): string | undefined {
    let end = this.sql.indexOf("'", this.at + 1);
    let doubled = false;
    while (end >= 0 && this.sql.charAt(end + 1) === "'") {
      doubled = true;
      end = this.sql.indexOf("'", end + 2);
    }
    if (end < 0) return undefined;
    const text = this.sql.slice(this.at + 1, end);
    this.at = end + 1;
    return doubled ? text.replaceAll("''", "'") : text;
  }

  #blob(): Uint8Array | undefined {
    if (this.sql.charAt(this.at + 1) !== "'") return undefined;
    const end = this.sql.indexOf("'", this.at + 2);
    const hex = this.sql.slice(this.at + 2, Math.max(0, end));
    if (end < 0 || hex.length % 2 === 1 || /[^0-9A-Fa-f]/.test(hex)) return undefined;
    this.at = end + 1;
    return Uint8Array.fromHex(hex);
  }

  #takes(mark: string): boolean {
    this.#match(SPACE);
    if (this.sql.charAt(this.at) !== mark) return false;
    this.at++;
    return true;
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.sql);
    if (match !== null) this.at = pattern.lastIndex;
    return match;
  }
}

/** An integer beyond 64 bits is a REAL, as in the engine. */
function numberOf(text: string): bigint | number {
  if (!/^[+-]?\d+$/.test(text)) return Number(text);
  const integer = BigInt(text.replace("+", ""));
  return integer >= LOWEST && integer <= HIGHEST ? integer : Number(text);
}

/** Undefined where the engine has to say what it means: escapes that `sqlite3` does not write. */
function unescaped(text: string): string | undefined {
  let isKnown = true;
  const read = text.replaceAll(ESCAPES, (escape: string, digits?: string) => {
    const code = digits === undefined ? 0 : Number.parseInt(digits, 16);
    isKnown &&= escape === ESCAPED_BACKSLASH || code > 0;
    return code === 0 ? "\\" : String.fromCharCode(code);
  });
  return isKnown ? read : undefined;
}
