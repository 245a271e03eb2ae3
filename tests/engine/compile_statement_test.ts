// What compiling a statement tells of it, on a connection that has just been opened.
import { assertEquals } from "@std/assert";
import { compileStatement } from "../../lib/engine/compile_statement.ts";
import { Connection } from "../../lib/engine/connection.ts";

Deno.test("statements that a virtual table makes by itself are not the statement's, be its text short or long", async () => {
  const path = await Deno.makeTempFile({ suffix: ".db" });
  try {
    const first = new Connection(path);
    first.database.exec("CREATE VIRTUAL TABLE texts USING fts5(body)");
    first.database.exec("CREATE VIRTUAL TABLE places USING rtree(id, min_x, max_x)");
    first.close();
    for (
      const [sql, table] of [
        ["SELECT count(*) FROM texts WHERE texts MATCH 'a'", "texts"],
        ["SELECT count(*) FROM places WHERE id = 1", "places"],
      ] as const
    ) {
      for (const text of [sql, `${sql} /*${"-".repeat(10_000)}*/`]) {
        const connection = new Connection(path);
        const compiled = compileStatement(connection, { sql: text, changesSchema: false }, null);
        connection.close();
        assertEquals(compiled.ok && [compiled.facts.tablesRead, compiled.facts.tablesWritten], [[table], []]);
      }
    }
  } finally {
    await Deno.remove(path);
  }
});
