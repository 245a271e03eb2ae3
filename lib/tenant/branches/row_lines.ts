// Rows as texts that SQL makes of them, for engines that are far away: one text a row is a fraction of what its values
// take on the way, and most rows need not be read. `quote()` writes no two values the same, but what it writes of a real
// may be read as the one beside it: such rows are asked for by their values.
import type { EngineValue } from "../../engine/result_json.ts";
import type { Row } from "./work.ts";

/** Operands of one expression: a longer one is deeper than engines allow. */
const OPERANDS = 50;

/** SQL of a row's line. */
export function lineOf(select: readonly string[]): string {
  return joined(select.map((one) => `quote(${one})`), " || ',' || ");
}

/** SQL of about how many bytes a row takes. */
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

/** The values of a line. Throws `RangeError` on what is none. */
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

/** No expression over the whole: a text may have millions of characters. */
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

/** Whether the values read from a line are surely those that are stored. */
export function isExact(row: Row): boolean {
  return row.every((value) =>
    typeof value !== "number" || Math.abs(value) === Infinity ||
    (Number.isInteger(value) && Math.abs(value) < 1e15)
  );
}

/** The last value of a line, where it is an integer. */
export function lastInteger(line: string): bigint {
  return BigInt(line.slice(line.lastIndexOf(",") + 1));
}
