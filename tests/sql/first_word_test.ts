// The word that a statement begins with, whatever stands before it.
import { assertEquals } from "@std/assert";
import { firstWord } from "../../lib/sql/words/first_word.ts";
import { transactionControl } from "../../lib/sql/tokens/transaction_control.ts";

Deno.test("the first word stands behind white space, semicolons and comments, in capital letters", () => {
  const words = [
    ["select 1", "SELECT"],
    ["\uFEFF ;; \n\t-- a ; b\n/* c */ Begin;", "BEGIN"],
    ["--begin", ""],
    ["/* begin", ""],
    ["/* begin */", ""],
    ["/*/ begin */ end", "END"],
    ["-- a\r\ncommit", "COMMIT"],
    ["'begin'", ""],
    ["(select 1)", ""],
    ["1 begin", ""],
    ["begin_it", "BEGIN_IT"],
    ["", ""],
  ];
  for (const [sql = "", word] of words) assertEquals(firstWord(sql), word, sql);
});

Deno.test("a text takes time by its length, however many comments it has and whatever follows them", () => {
  for (const part of ["/**/", "/* */ ", "-- a\n", "--\n/**/;", "/*", "/*/", " ", ";", "*/"]) {
    const sql = part.repeat(1_000_000 / part.length);
    for (const behind of ["SELECT 1", "BEGI", "'", "*/"]) {
      firstWord(sql + behind);
      assertEquals(transactionControl(sql + behind), null);
    }
  }
  assertEquals(transactionControl(`${"/**/".repeat(1000)}COMMIT`), { verb: "commit" });
});
