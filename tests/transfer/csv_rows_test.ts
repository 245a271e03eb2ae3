// CSV that comes in small pieces and is made to take long.
import { assert, assertEquals, assertThrows } from "@std/assert";
import { CsvReader } from "../../lib/services/transfer/csv_rows.ts";

const PIECE = 64 * 1024;

/** Characters that are looked at, and what is read: the reader asks text for its characters by few methods. */
function read(text: string): { readonly records: number; readonly searches: number } {
  const reader = new CsvReader();
  const { indexOf } = String.prototype;
  let records = 0;
  let searches = 0;
  String.prototype.indexOf = function (this: string, ...args: [string, number?]) {
    searches++;
    return indexOf.apply(this, args);
  };
  try {
    for (let at = 0; at < text.length; at += PIECE) {
      for (const _ of reader.take(text.slice(at, at + PIECE), false)) records++;
    }
    for (const _ of reader.take("", true)) records++;
  } finally {
    String.prototype.indexOf = indexOf;
  }
  return { records, searches };
}

Deno.test("a cell that comes in many pieces is looked through a few times, not with each", () => {
  const quotes = 2 * 1024 * 1024;
  const { records, searches } = read(`"${'""'.repeat(quotes)}"\nx\n`);
  assertEquals(records, 2);
  assert(searches < 4 * quotes, `${searches} searches`);
});

Deno.test("a row of nothing but commas is refused before it fills the memory", () => {
  assertThrows(() => read(",".repeat(100_000)), /cannot be taken/);
});
