// A line of NDJSON as values for columns. What `JSON.parse` would round, and what a column of JSON keeps, comes as its own text.
import { affinityOf, type SqlParameter } from "../../sql/sql_value.ts";
import type { ColumnDefinition } from "../schema/read_table.ts";
import { refused } from "./check_item.ts";

declare global {
  /** Of ECMAScript, unknown to the compiler yet (tc39.es/proposal-json-parse-with-source). */
  interface JSON {
    isRawJSON(value: unknown): boolean;
  }
}

/** The object of a line. Errors: `import_refused`. */
export function objectOf(json: string, line: number): object {
  const value = parsed(line, () => JSON.parse(json));
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw refused("a JSON object is expected", `line ${line}`);
  }
  if (!Object.values(value).some(losesText)) return value;
  return Object(parsed(line, () => JSON.parse(json, withDigits)));
}

function parsed(line: number, parse: () => unknown): unknown {
  try {
    return parse();
  } catch {
    throw refused("a JSON object is expected", `line ${line}`);
  }
}

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

/** Whether a text is bytes in base64, with its padding. */
export function isBase64(text: string): boolean {
  return /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0;
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
