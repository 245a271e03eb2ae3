// FILTER, OVER, WINDOW and WITHIN are names wherever they cannot be keywords, as SQLite has it: tables and columns may be called so.
import { assert, assertEquals } from "@std/assert";
import { oneStore, testSteps } from "../testing/cases.ts";
import type { StartedApp } from "../testing/start_app.ts";
import { rowsOf } from "../testing/test_namespace.ts";

const { run, test } = oneStore();
Deno.test("names like keywords", run);

const worldOf = async (app: StartedApp, slug: string) => ({ app, tenant: await app.namespace(slug) });

testSteps("names like keywords", worldOf, {
  "tables and columns called filter, over and window are made, written, read and described": async (
    { app, tenant },
  ) => {
    await tenant.setup(
      "CREATE TABLE over (id INTEGER PRIMARY KEY, filter TEXT, window INTEGER DEFAULT 5, over REAL CHECK (over > 0))",
      "CREATE INDEX filter ON over (filter)",
      "CREATE VIEW window AS SELECT filter, over.over FROM over",
      "CREATE TRIGGER next AFTER UPDATE OF filter ON over BEGIN UPDATE over SET window = window + 1 WHERE id = new.id; END",
      "INSERT INTO over (filter, over) VALUES ('a', 2), ('b', 3)",
      "UPDATE over SET filter = 'c' WHERE window = 5 AND over = 2",
    );
    const answer = await tenant.query("SELECT filter, window w, over AS over FROM over WHERE filter = ?", [
      "c",
    ]);
    assertEquals([answer.status, rowsOf(answer)], [200, [["c", 6, 2]]], answer.text);
    assertEquals(rowsOf(await tenant.query("SELECT filter FROM window ORDER BY over")), [["c"], ["b"]]);
    const described = await app.request("GET", `${tenant.database.path}/describe`, { token: tenant.token });
    const { tables } = described.body.data as {
      readonly tables: readonly {
        readonly table: string;
        readonly columns: readonly { readonly name: string }[];
      }[];
    };
    assertEquals(tables.map(({ table, columns }) => [table, columns.map(({ name }) => name)]), [
      ["over", ["id", "filter", "window", "over"]],
    ]);
    // What the text says is known: a DELETE that names all rows is destructive.
    assert((await tenant.query("DELETE FROM over")).body.meta?.snapshot);
  },
  "they stay keywords where they are": async ({ tenant }) => {
    await tenant.setup("CREATE TABLE t (filter, over)", "INSERT INTO t VALUES (1, 1), (2, 2)");
    const answer = await tenant.query(
      "SELECT over, count(*) FILTER (WHERE filter > 1) OVER window FROM t WINDOW window AS (ORDER BY over)",
    );
    assertEquals([answer.status, rowsOf(answer)], [200, [[1, 0], [2, 1]]], answer.text);
  },
  "WITHIN names a result behind a function, whatever follows": async ({ tenant }) => {
    await tenant.setup("CREATE TABLE t (within)", "INSERT INTO t VALUES (1), (2)");
    const answer = await tenant.query("SELECT sum(within) within, max(within) FROM t WHERE within > 0");
    assertEquals([answer.status, rowsOf(answer)], [200, [[3, 2]]], answer.text);
    const ordered = await tenant.query("SELECT max(within) WITHIN GROUP (ORDER BY within) FROM t");
    assertEquals([ordered.status, ordered.text.includes("Order the values and take one")], [400, true]);
  },
  "what is wrong behind such a name is told as behind any other": async ({ tenant }) => {
    await tenant.setup("CREATE TABLE t (filter)");
    assertEquals((await tenant.query("SELECT?1FILTER", [1])).body.data, {
      ...{ columns: ["FILTER"], rows: [[1]] },
      ...{ rowsRead: 0, rowsWritten: 0 },
    });
    const wrong: readonly (readonly [string, string, string])[] = [
      ["SELECT filter FROM t; SELECT 2", "multiple_statements", "Send one statement; use batch for several"],
      ["SELECT filter FROM t WHERE )", "sql_error", 'near ")": syntax error'],
      ["SELECT filter FROM t WHERE", "sql_error", "incomplete input"],
      ["SELECT filter FROM t WHERE 'hidden", "sql_error", "unrecognized token"],
      [
        "SELECT filter, $name FROM t",
        "sql_error",
        "Use ? or ?N for parameters; named ones are not available",
      ],
    ];
    for (const [sql, code, error] of wrong) {
      const { status, body } = await tenant.query(sql);
      assertEquals([status, body.code, body.error], [400, code, error], sql);
    }
  },
}, test);
