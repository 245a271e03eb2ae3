// Rows that travel as one text each: every value comes out of it as it went in, and no two values give one text.
import { assertEquals, assertThrows } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { lastInteger, lineOf, readLine } from "../../lib/tenant/branches/row_lines.ts";

const values = [
  ...[null, 0n, -1n, 9223372036854775807n, -9223372036854775808n, 9007199254740993n],
  ...[0.1, 1, -1.5, 1e20, 1e-300, 5e-324, 1.7976931348623157e308, 123456789.123456789, Infinity, -Infinity],
  ...["", "a", "it's", "''", "'", ",", "NULL", "1", "X'00'", "line\nline", "ä😀", "\u0001", '"', "\\"],
  ...[new Uint8Array(), new Uint8Array([0, 255, 39, 44])],
];

function lines(rows: readonly (readonly (typeof values)[number][])[]): string[] {
  const database = new DatabaseSync(":memory:");
  try {
    return rows.map((row) => {
      const select = `SELECT ${lineOf(row.map((_, at) => `?${at + 1}`))} AS line`;
      return String(database.prepare(select).get(...row)?.["line"]);
    });
  } finally {
    database.close();
  }
}

Deno.test("a line gives back every value of its row, next to every other one", () => {
  const rows = values.flatMap((one) => values.map((other) => [one, other, 7n]));
  for (const [at, line] of lines(rows).entries()) {
    assertEquals(readLine(line), rows[at]);
    assertEquals(lastInteger(line), 7n);
  }
});

Deno.test("lines of different rows are different", () => {
  const rows = values.flatMap((one) => values.map((other) => [one, other]));
  assertEquals(new Set(lines(rows)).size, rows.length);
});

Deno.test("a line of a thousand columns, or with a text of millions of characters, is no trouble", () => {
  const wide = Array.from({ length: 1000 }, (_, at) => BigInt(at));
  const long = [`it's ${"'x,".repeat(1_000_000)}`, 1n];
  const [wideLine = "", longLine = ""] = lines([wide, long]);
  assertEquals(readLine(wideLine), wide);
  assertEquals(readLine(longLine), long);
});

Deno.test("what is no line is refused, not guessed at", () => {
  for (const text of ["", "'a", "1,", "x", "1.2.3"]) assertThrows(() => readLine(text));
});
