// Texts as people type them: cut into statements, coloured, marked where they fail, and typed values.
import { assertEquals } from "@std/assert";
import type { ErrorDetail } from "../../lib/core/errors.ts";
import { colouredTokens } from "../../lib/sql/grammar/coloured_tokens.ts";
import { failedSpan } from "../../lib/sql/hints/failed_span.ts";
import { splitStatements } from "../../lib/sql/tokens/split_statements.ts";
import { readTypedValue, type TypedValue } from "../../lib/sql/words/typed_value.ts";

const TRIGGER = "CREATE TRIGGER a AFTER INSERT ON t BEGIN " +
  "UPDATE t SET b = CASE WHEN 1 THEN 2 END; DELETE FROM u; END";

Deno.test("a text is cut where its statements end, and nowhere inside of one", () => {
  const cases: [text: string, statements: string[]][] = [
    ["", []],
    [" ;; -- nothing\n", []],
    ["SELECT 1", ["SELECT 1"]],
    ["SELECT ';' ; SELECT \";\" -- ;\n; /* ; */ SELECT [;]", [
      "SELECT ';'",
      'SELECT ";" -- ;',
      "/* ; */ SELECT [;]",
    ]],
    [`${TRIGGER}; SELECT 2;`, [TRIGGER, "SELECT 2"]],
    [`EXPLAIN ${TRIGGER}; SELECT 2;`, [`EXPLAIN ${TRIGGER}`, "SELECT 2"]],
    ["CREATE TEMP TRIGGER a BEGIN SELECT 1; SELECT 2", ["CREATE TEMP TRIGGER a BEGIN SELECT 1; SELECT 2"]],
    ["SELECT 'unfinished; SELECT 2", ["SELECT 'unfinished; SELECT 2"]],
  ];
  for (const [text, statements] of cases) {
    const parts = splitStatements(text);
    assertEquals(parts.map(({ sql }) => sql), statements, text);
    for (const { sql, at } of parts) assertEquals(text.slice(at, at + sql.length), sql);
  }
});

Deno.test("coloured pieces are the whole text, whatever it is", () => {
  const texts = ["SELECT 'x' FROM t WHERE a = ?1 -- c", "'", "SELECT \u0001 # € /* x", "a\u{1F600}b <b>", ""];
  for (const text of texts) assertEquals(colouredTokens(text).map((one) => one.text).join(""), text);
  const [first, , last] = colouredTokens("SELECT 1.5");
  assertEquals([first?.colour, last?.colour ?? colouredTokens("SELECT 1.5").at(-1)?.colour], [
    "keyword",
    "number",
  ]);
});

Deno.test("a failure is marked at the word that it is about", () => {
  const cases: [kind: ErrorDetail["kind"], sql: string, marked: string | null, message?: string][] = [
    ["syntax_error", "SELECT a FRM t WHERE 1", "t"],
    ["syntax_error", "SELECT a FROM t WHERE a = = 1", "="],
    ["unknown_column", "SELECT o.nme FROM orders o", "nme"],
    ["unknown_table", 'SELECT 1 FROM "no such"', '"no such"'],
    ["unknown", "SELECT lenght(a) FROM t", "lenght", "no such function: lenght"],
    ["check_violation", "INSERT INTO t VALUES (1)", null],
  ];
  for (const [kind, sql, marked, message = ""] of cases) {
    const column = kind === "unknown_column" ? "nme" : null;
    const table = kind === "unknown_table" ? "no such" : null;
    const span = failedSpan(sql, { kind, table, column, message });
    assertEquals(span && sql.slice(span.from, span.to), marked, sql);
  }
});

Deno.test("a typed value is exact, or what is wrong with it is said", () => {
  const cases: [typed: TypedValue, value: unknown][] = [
    [{ type: "text", text: "01" }, "01"],
    [{ type: "integer", text: " 42 " }, 42],
    [{ type: "integer", text: "9007199254740993" }, { $integer: "9007199254740993" }],
    [{ type: "integer", text: "-9223372036854775808" }, { $integer: "-9223372036854775808" }],
    [{ type: "integer", text: "9223372036854775808" }, null],
    [{ type: "integer", text: "-9223372036854775809" }, null],
    [{ type: "integer", text: "1.5" }, null],
    [{ type: "number", text: "1e3" }, 1000],
    [{ type: "number", text: "9007199254740993" }, { $integer: "9007199254740993" }],
    [{ type: "number", text: "" }, null],
    [{ type: "number", text: "1e999" }, null],
    [{ type: "blob", text: "00 ff" }, { $blob: "AP8=" }],
    [{ type: "blob", text: "0" }, null],
  ];
  for (const [typed, value] of cases) {
    const read = readTypedValue(typed);
    assertEquals(read.ok ? read.value : null, value, `${typed.type} ${typed.text}`);
  }
  assertEquals(readTypedValue({ type: "null", text: "x" }), { ok: true, value: null });
});
