// Reads the default of a column as a value that an input can carry.
import type { FieldSpec } from "../../../core/endpoint_spec.ts";
import { jsonText } from "../spec/read_value.ts";

const DIGITS = /^[+-]?\d+$/;
/** Takes linear time also for a long run of digits followed by something else. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
/** Characters of a default: the whole specification has a bound of its own. */
const MAX_LENGTH = 2000;
/** After DEFAULT the engine takes double quotes for single ones. */
const QUOTED = /^(?:'(?:[^']|'')*'|"(?:[^"]|"")*")$/;

/**
 * `defaultSql` is the text after DEFAULT in the schema. Null where there is none, and for a default that does not fit
 * the input's type, is long, or can only be computed by the engine. INTEGERs beyond 2^53 are digits, JSON is its
 * text.
 */
export function columnDefault(
  defaultSql: string | null,
  type: FieldSpec["type"],
): string | number | boolean | null {
  const sql = defaultSql?.trim() ?? "";
  if (sql.length > MAX_LENGTH) return null;
  switch (type) {
    case "integer":
      return integerOf(sql);
    case "number":
      return DIGITS.test(sql) && !Number.isSafeInteger(Number(sql)) ? null : numberOf(sql);
    case "boolean": {
      const number = numberOf(sql);
      return number === 0 ? false : number === 1 ? true : null;
    }
    case "text":
      return textOf(sql);
    case "json":
      return jsonText(textOf(sql), "text");
    default:
      return null;
  }
}

/** To the engine, true and false are numbers. */
function numberOf(sql: string): number | null {
  if (/^(true|false)$/i.test(sql)) return sql.length === 4 ? 1 : 0;
  const number = NUMBER.test(sql) ? Number(sql) : Infinity;
  return Number.isFinite(number) ? number : null;
}

function integerOf(sql: string): number | string | null {
  const number = numberOf(sql);
  if (number === null || Number.isSafeInteger(number)) return number;
  if (!Number.isInteger(number)) return null;
  const exact = DIGITS.test(sql) ? BigInt(sql) : BigInt(number);
  return BigInt.asIntN(64, exact) === exact ? String(exact) : null;
}

function textOf(sql: string): string | null {
  const quote = sql.charAt(0);
  return QUOTED.test(sql) ? sql.slice(1, -1).replaceAll(quote + quote, quote) : null;
}
