// Where statements of a dump end, also where the text is read in two pieces.
import { assertEquals } from "@std/assert";
import { dumpStatements, leadLength } from "../../lib/tenant/transfer/child/dump_text.ts";

/** Bytes that are read at a time. */
const CHUNK = 1024 * 1024;

Deno.test("dumpStatements() finds each end wherever the text is cut in two", async () => {
  const statements = [
    'CREATE TABLE t (v, "a;b", [c;d], `e;f`)',
    "INSERT INTO t VALUES ('x;''y', 1) /* ; ' */",
    "-- it's; here\nINSERT INTO t VALUES ('', '''')",
    "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT ';'; SELECT 2; END",
    "CREATE TEMP TRIGGER r AFTER INSERT ON t BEGIN SELECT CASE 1 WHEN 1 THEN 2 END; SELECT 3;/* ;;*/ END /* ; */",
  ];
  const end = `${statements.join(";\n")};\n`;
  const path = await Deno.makeTempFile({ prefix: "cubby_dump_" });
  try {
    for (let before = 0; before <= end.length; before++) {
      // The first piece ends behind so many characters of the statements.
      const filler = `-- ${"x".repeat(CHUNK - before - 4)}\n`;
      await Deno.writeTextFile(path, filler + end);
      const found = [...dumpStatements(path)];
      assertEquals(
        found.map(({ sql }) => sql.replace(filler, "").trim()),
        [...statements, ""],
        String(before),
      );
      assertEquals(found.map(({ line }) => line), [2, 3, 5, 6, 7, 8], String(before));
    }
  } finally {
    await Deno.remove(path);
  }
});

Deno.test("a trigger of many statements is not read anew for each of them", async () => {
  const path = await Deno.makeTempFile({ prefix: "cubby_dump_" });
  try {
    const trigger = `CREATE TRIGGER r AFTER INSERT ON t BEGIN ${
      "SELECT CASE 1 WHEN 1 THEN 2 END;".repeat(60_000)
    } END`;
    await Deno.writeTextFile(path, `${trigger};\nSELECT 1;\n`);
    assertEquals([...dumpStatements(path)].map(({ sql }) => sql.trim()), [trigger, "SELECT 1", ""]);
  } finally {
    await Deno.remove(path);
  }
});

Deno.test("a statement may stand behind millions of empty lines", async () => {
  const path = await Deno.makeTempFile({ prefix: "cubby_dump_" });
  const lines = 17_000_000;
  try {
    await Deno.writeTextFile(path, `${"\n".repeat(lines)}-- one\n/* two\n */ SELECT 1;\n`);
    const [first] = dumpStatements(path);
    assertEquals(first?.line, lines + 3);
    assertEquals(first?.sql.slice(leadLength(first.sql)), "SELECT 1");
  } finally {
    await Deno.remove(path);
  }
});
