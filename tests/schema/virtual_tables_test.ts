// Virtual tables compile statements of their own when they are first touched, and a PRAGMA may be what touches them.
import { assert, assertEquals } from "@std/assert";
import { oneStore } from "../testing/cases.ts";
import { isEmbedded } from "../testing/tenant_settings.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";

const { run, test } = oneStore();
Deno.test("virtual tables", run);

const TABLES = [
  "CREATE VIRTUAL TABLE places USING rtree(id, min_x, max_x, +label)",
  "CREATE VIRTUAL TABLE cells USING rtree_i32(id, min_x, max_x)",
  "CREATE VIRTUAL TABLE notes USING fts5(body)",
  "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)",
];

/** Each in a database of its own, where nothing has touched the tables before. */
async function untouched(app: StartedApp): Promise<TestNamespace> {
  const tenant = await app.namespace();
  const made = await tenant.batch(TABLES.map((sql) => [sql] as const));
  assertEquals(made.status, 200, made.text);
  return tenant;
}

const columns = (name: string) => `SELECT name FROM pragma_table_info('${name}') ORDER BY cid`;

test("a reader looks at rtree and fts5 tables that nobody has touched, in every way", async () => {
  await using app = await startApp();
  const tenant = await untouched(app);
  const { token } = await tenant.mint("read");
  const ask = async () => {
    for (const path of ["describe", "doctor", "search?q=place", "tables"]) {
      const answer = await app.request("GET", `${tenant.database.path}/${path}`, { token });
      assertEquals(answer.status, 200, `${path}: ${answer.text}`);
    }
  };
  const change = async () => assertEquals((await tenant.query("ALTER TABLE t ADD COLUMN b")).status, 200);
  await ask();
  await change();
  const info = await tenant.query("PRAGMA table_info(places)", [], { token });
  assertEquals([info.status, rowsOf(info).map((row) => row[1])], [
    200,
    ["id", "min_x", "max_x", "label"],
  ], info.text);
  await tenant.query("ALTER TABLE t DROP COLUMN b");
  assertEquals(rowsOf(await tenant.query(columns("cells"), [], { token })), [["id"], ["min_x"], ["max_x"]]);
  await change();
  const list = await tenant.query(
    "SELECT name, ncol FROM pragma_table_list WHERE type = 'virtual' ORDER BY name",
    [],
    {
      token,
    },
  );
  assertEquals(list.status, 200, list.text);
  assertEquals(rowsOf(list).map(([name]) => name), ["cells", "notes", "places"]);
  assert(rowsOf(list).every(([, count]) => Number(count) > 0), list.text);
  await tenant.query("ALTER TABLE t DROP COLUMN b");
  await ask();
});

test("ANALYZE counts no shadow table as written, whatever letters its name has", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const made = await tenant.batch([
    ['CREATE VIRTUAL TABLE "Épées" USING fts5(body)'],
    ['INSERT INTO "Épées" VALUES (?)', "a foil"],
    ["CREATE TABLE t (id INTEGER PRIMARY KEY)"],
  ]);
  assertEquals(made.status, 200, made.text);
  // sqld runs no ANALYZE.
  assertEquals((await tenant.query("ANALYZE")).status, isEmbedded() ? 200 : 400);
  if (!isEmbedded()) return;
  const audit = await tenant.query("SELECT tables FROM _service_meta_audit ORDER BY id DESC LIMIT 1");
  assertEquals(rowsOf(audit), [['["t"]']]);
});

test("looking at untouched virtual tables among writes sees them, and the shadow tables stay closed", async () => {
  await using app = await startApp();
  const tenant = await untouched(app);
  const mixed = await tenant.batch([
    ["INSERT INTO t (a) VALUES ('x')"],
    [columns("places")],
    ["PRAGMA table_info(notes)"],
    ["INSERT INTO t (a) SELECT name FROM pragma_table_info('cells')"],
  ]);
  assertEquals(mixed.status, 200, mixed.text);
  assertEquals(rowsOf(mixed, 1).length, 4);
  assertEquals(rowsOf(await tenant.query("SELECT count(*) FROM t")), [[4]]);
  const reader = await tenant.mint("read");
  for (const token of [reader.token, tenant.token]) {
    for (
      const sql of [
        "INSERT INTO places_rowid VALUES (1, 1, 'x')",
        "DELETE FROM places_node",
        "UPDATE cells_parent SET parentnode = 1",
        "DELETE FROM notes_config",
      ]
    ) {
      const answer = await tenant.query(sql, [], { token });
      assertEquals([answer.status, answer.body.success], [403, false], `${sql}: ${answer.text}`);
    }
  }
  const write = await tenant.query("INSERT INTO places VALUES (1, 0, 1, 'x')", [], { token: reader.token });
  assertEquals([write.status, write.body.code], [403, "role_too_low"]);
  assertEquals((await tenant.query("INSERT INTO places VALUES (1, 0, 1, 'x')")).status, 200);
  assertEquals(rowsOf(await tenant.query("SELECT label FROM places WHERE max_x > 0.5")), [["x"]]);
});
