// A line of NDJSON as values for columns. What `JSON.parse` would round, and what a column of JSON keeps, comes as its own text.
import { whatCostsMuch } from "../../guard/parse_json.ts";
import { endOfString } from "../../guard/survey_json.ts";
import { affinityOf, isBase64, type SqlParameter } from "../../sql/words/sql_value.ts";
import type { ColumnDefinition } from "../schema/read_table.ts";
import { refused } from "./check_item.ts";

declare global {
  /** Of ECMAScript, unknown to the compiler yet (tc39.es/proposal-json-parse-with-source). */
  interface JSON {
    isRawJSON(value: unknown): boolean;
  }
}

/** Values of a line whose texts are looked at one by one, each of which takes some microseconds of the thread that serves everybody. */
const MOST_LOOKED_AT = 50_000;

/** Levels of a row: those of more are walked by recursion. */
const MOST_DEPTH = 5_000;

/** The object of a line. Errors: `import_refused`. */
export function objectOf(json: string, line: number): object {
  const tooMuch = (what: string) =>
    refused(`the row has too many ${what}; send what is nested in it as a text of JSON`, `line ${line}`);
  if (whatCostsMuch(json) !== null) throw tooMuch("lists, objects or fields");
  const value = parsed(line, () => JSON.parse(json));
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw refused("a JSON object is expected", `line ${line}`);
  }
  if (!Object.values(value).some(losesText)) return value;
  const { respelled, values, depth } = surveyNested(json);
  if (depth > MOST_DEPTH) throw tooMuch("levels");
  if (!respelled) return value;
  if (values > MOST_LOOKED_AT) throw tooMuch("values beside numbers such as 1.0 or of more than 15 digits");
  return Object(parsed(line, () => JSON.parse(json, withDigits)));
}

function parsed(line: number, parse: () => unknown): unknown {
  try {
    return parse();
  } catch {
    throw refused("a JSON object is expected", `line ${line}`);
  }
}

const QUOTE = 34;
const COMMA = 44;
const MINUS = 45;
const [OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = [91, 93, 123, 125];
const NUMBER = /-?\d[\d.eE+-]*/y;
/** Digits that are written as they are read, if nothing but digits stands there. */
const PLAIN_DIGITS = 15;

interface Nested {
  /** Whether one of its numbers would be written in another way by JavaScript. */
  readonly respelled: boolean;
  /** About how many there are. */
  readonly values: number;
  readonly depth: number;
}

function surveyNested(json: string): Nested {
  let [respelled, values, open, depth] = [false, 1, 0, 0];
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfString(json, at);
    else if (code === COMMA) values++;
    else if (code === OPEN || code === OPEN_LIST) depth = Math.max(depth, ++open);
    else if (code === CLOSE || code === CLOSE_LIST) open--;
    else if (!respelled && (isDigit(code) || code === MINUS)) {
      let end = at + 1;
      while (isDigit(json.charCodeAt(end))) end++;
      // What begins with a minus may be -0.
      if (code !== MINUS && isPlainEnd(json.charCodeAt(end)) && end - at <= PLAIN_DIGITS) {
        at = end - 1;
        continue;
      }
      NUMBER.lastIndex = at;
      const source = NUMBER.exec(json)?.[0] ?? "";
      const value = Number(source);
      respelled = String(value) !== source || isRounded(value);
      at += Math.max(0, source.length - 1);
    }
  }
  return { respelled, values, depth };
}

const isDigit = (code: number) => code >= 48 && code <= 57;
/** No point and no exponent. */
const isPlainEnd = (code: number) => code !== 46 && code !== 69 && code !== 101;

const isRounded = (value: unknown) => Number.isInteger(value) && !Number.isSafeInteger(value);
const losesText = (value: unknown) => (typeof value === "object" && value !== null) || isRounded(value);

/** A number that would be written in another way stays as it is spelled. The third argument is unknown to the compiler yet. */
function withDigits(_key: string, value: unknown, of: { readonly source?: string } = {}): unknown {
  return typeof value === "number" && of.source !== undefined &&
      (String(value) !== of.source || isRounded(value))
    ? JSON.rawJSON(of.source)
    : value;
}

/** An integer of more digits than a JSON number keeps is a text of them, as an export has it. */
function unrounded(value: unknown): unknown {
  if (!JSON.isRawJSON(value)) return value;
  const text = JSON.stringify(value);
  return /^-?\d+$/.test(text) && !Number.isSafeInteger(Number(text)) ? text : Number(text);
}

/**
 * As `/query` takes it, infinite values as it answers them, and in a column of JSON or text an object or a list as its text,
 * and in a column of bytes those that PostgreSQL writes as text. Errors: `import_refused`.
 */
export function jsonValue(
  of: unknown,
  { name, declaredType }: ColumnDefinition,
  line: number,
): SqlParameter {
  const value = unrounded(of);
  if (value === null) return value;
  if (typeof value === "string") {
    const bytes = declaredType !== "" && affinityOf(declaredType) === "BLOB" ? bytesIn(value) : null;
    return bytes ?? infiniteIn(declaredType, value) ?? value;
  }
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value === "boolean") return Number(value);
  const form = typeof value === "object" && Object.keys(value).join() === "$blob"
    ? Reflect.get(value, "$blob")
    : undefined;
  if (typeof form === "string" && isBase64(form)) return { $blob: form };
  if (typeof value === "object" && form === undefined && keepsJson(declaredType)) {
    return JSON.stringify(value);
  }
  throw refused(
    'a text, a number, true, false, null or {"$blob": base64} is expected, and lists and objects in columns of JSON or text',
    `line ${line}, column ${name}`,
  );
}

/** Bytes as PostgreSQL writes them, by `\x` and hexadecimal digits; null for any other text. */
export function bytesIn(text: string): SqlParameter {
  if (!/^\\x(?:[0-9A-Fa-f]{2})*$/.test(text)) return null;
  return { $blob: Uint8Array.fromHex(text.slice(2)).toBase64() };
}

const keepsJson = (declaredType: string) =>
  /^JSONB?\b/i.test(declaredType) || affinityOf(declaredType) === "TEXT";

/** Infinite values as answers and files spell them → a text of which the engine makes one in a column of numbers. */
export const infinities: ReadonlyMap<string, string> = new Map([["Infinity", "9e999"], [
  "-Infinity",
  "-9e999",
]]);

/** Undefined for any other text, and where the column keeps a text: so does ANY in a STRICT table. */
function infiniteIn(declaredType: string, text: string): string | undefined {
  const infinite = infinities.get(text);
  const isKept = infinite === undefined || /^any$/i.test(declaredType);
  return isKept || ["TEXT", "BLOB"].includes(affinityOf(declaredType)) ? undefined : infinite;
}
