// Reads rows of remote engines as one text each, which SQL builds: a text is a fraction of the values' size on the wire,
// and most rows need not be parsed. `quote()` writes different values differently, but a REAL that it writes may be read
// back as the neighbouring number, so rows with a REAL are read again as values.
import type { EngineValue } from "../../sql/words/sql_value.ts";
import type { Row } from "./work.ts";

/** The most operands of one expression; a longer one is deeper than engines allow. */
const OPERANDS = 50;

/** SQL that builds a row's line. */
export function lineOf(select: readonly string[]): string {
  return joined(select.map((one) => `quote(${one})`), " || ',' || ");
}

/** SQL that estimates the bytes of a row. */
export function sizeOf(select: readonly string[]): string {
  return joined(select.map((one) => `ifnull(length(${one}), 4)`), " + ");
}

function joined(operands: readonly string[], operator: string): string {
  const groups = Array.from(
    { length: Math.ceil(operands.length / OPERANDS) },
    (_, at) => `(${operands.slice(at * OPERANDS, (at + 1) * OPERANDS).join(operator)})`,
  );
  return groups.join(operator);
}

/** Reads the values of a line. Throws `RangeError` where the text is no line. */
export function readLine(line: string): Row {
  const row: EngineValue[] = [];
  for (let at = 0; at <= line.length;) {
    const end = line[at] === "'" ? endOfText(line, at) : line.indexOf(",", at);
    const literal = line.slice(at, end < 0 ? line.length : end);
    row.push(valueOf(literal));
    at += literal.length + 1;
  }
  return row;
}

/** Scans step by step, without one regular expression over the whole text, which may have millions of characters. */
function endOfText(line: string, start: number): number {
  for (let at = start + 1;;) {
    const quote = line.indexOf("'", at);
    if (quote < 0) throw new RangeError("a text without end");
    if (line[quote + 1] !== "'") return quote + 1;
    at = quote + 2;
  }
}

function valueOf(literal: string): EngineValue {
  if (literal === "NULL") return null;
  if (literal.startsWith("'")) return literal.slice(1, -1).replaceAll("''", "'");
  if (literal.startsWith("X'")) return Uint8Array.fromHex(literal.slice(2, -1));
  if (/^-?\d+$/.test(literal)) return BigInt(literal);
  const real = Number(literal.replace("Inf", "Infinity"));
  if (literal === "" || Number.isNaN(real)) throw new RangeError("not a literal");
  return real;
}

/** Whether the values read from a line are certain to be the stored values. */
export function isExact(row: Row): boolean {
  return row.every((value) =>
    typeof value !== "number" || Math.abs(value) === Infinity ||
    (Number.isInteger(value) && Math.abs(value) < 1e15)
  );
}

/** The last value of a line, which must be an integer. */
export function lastInteger(line: string): bigint {
  return BigInt(line.slice(line.lastIndexOf(",") + 1));
}
