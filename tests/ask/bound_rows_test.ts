// The LIMIT that every statement of a language model gets.
import { assertEquals } from "@std/assert";
import { FactsCache } from "../../lib/query/facts_cache.ts";
import { boundRows } from "../../lib/services/ask/check_statement.ts";

Deno.test("boundRows() appends a LIMIT or wraps the statement, whatever stands at its end", () => {
  const syntaxes = new FactsCache();
  for (
    const [sql, bounded] of [
      ["SELECT 1", "SELECT 1\nLIMIT 5"],
      ["SELECT 1 ; \n", "SELECT 1\nLIMIT 5"],
      ["SELECT 1 -- one", "SELECT 1 -- one\nLIMIT 5"],
      ["SELECT 1 LIMIT 2;", "SELECT * FROM (\nSELECT 1 LIMIT 2\n)\nLIMIT 5"],
      ["SELECT 1 /* open", null],
      ["DELETE FROM t", null],
    ] as const
  ) {
    assertEquals(boundRows(syntaxes, sql, 5), bounded, sql);
  }
});

Deno.test("boundRows() is done with many spaces, which a pattern that looks for the end at each would not be", () => {
  const sql = `SELECT 1${" ".repeat(50_000)}+ 1`;
  assertEquals(boundRows(new FactsCache(), `${sql} ;\n`, 5), `${sql}\nLIMIT 5`);
});
