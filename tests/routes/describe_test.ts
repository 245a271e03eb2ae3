// GET and PUT /describe: the schema in one call, and what is said about it.
import { assertEquals } from "@std/assert";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { isEmbedded } from "../testing/tenant_settings.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("GET and PUT /describe", run);

interface Description {
  readonly databaseDescription: string;
  readonly tables: readonly {
    readonly table: string;
    readonly description: string;
    readonly columns: readonly {
      readonly name: string;
      readonly description: string;
      readonly default?: string;
    }[];
    readonly indexes?: readonly unknown[];
    readonly checks?: readonly string[];
    readonly foreignKeys: readonly { from: string; toTable: string; toColumn: string }[];
  }[];
}

async function describe(app: StartedApp, { database, token }: TestNamespace): Promise<Description> {
  const answer = await app.request("GET", `${database.path}/describe`, { token });
  assertEquals(answer.status, 200, answer.text);
  return answer.body.data as Description;
}

function put(app: StartedApp, { database, token }: TestNamespace, body: unknown) {
  return app.request("PUT", `${database.path}/describe`, { token, body });
}

test("a table and a column whose name is empty show nothing that was said of others", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.batch([['CREATE TABLE "" (a TEXT)'], ['CREATE TABLE t ("" TEXT, b TEXT)']]);
  const said = await put(app, tenant, {
    databaseDescription: "Of the database",
    tables: [{ table: "t", description: "Of the table" }],
  });
  const { databaseDescription, tables } = said.body.data as Description;
  assertEquals([databaseDescription, tables.map(({ table, description }) => [table, description])], [
    "Of the database",
    [["", ""], ["t", "Of the table"]],
  ]);
  assertEquals(tables[1]?.columns.map(({ name, description }) => [name, description]), [["", ""], ["b", ""]]);
  assertEquals((await put(app, tenant, { tables: [{ table: "", description: "x" }] })).status, 400);
});

test("describe shows tables with columns, keys and references, and nothing of the service's", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.batch([
    ["CREATE TABLE b (id INTEGER PRIMARY KEY, a TEXT NOT NULL REFERENCES A, n, twice INT AS (n * 2))"],
    ["CREATE TABLE A (k TEXT, x VARCHAR(20), PRIMARY KEY (k)) WITHOUT ROWID"],
    ["CREATE TABLE c (p INT, q INT, r TEXT, FOREIGN KEY (p, q) REFERENCES d(x, y), FOREIGN KEY (r) REFERENCES a(K))"],
    ["CREATE VIRTUAL TABLE f USING fts5(body)"],
    ["CREATE VIEW v AS SELECT * FROM b"],
    ["CREATE VIEW broken AS SELECT nope FROM b"],
    ["CREATE INDEX i ON b(n)"],
    ...isEmbedded() ? [["ANALYZE"] as const] : [],
  ]);
  const { token } = await tenant.mint("read");
  const answer = await app.request("GET", `${tenant.database.path}/describe`, { token });
  const column = (name: string, type: string, more: object = {}) => ({
    ...{ name, type, pk: false, notNull: false, description: "" },
    ...more,
  });
  assertEquals([answer.status, answer.body.success], [200, true]);
  assertEquals(answer.body.data, {
    databaseDescription: "",
    tables: [
      {
        ...{ table: "A", description: "" },
        columns: [column("k", "TEXT", { pk: true, notNull: true }), column("x", "VARCHAR(20)")],
        foreignKeys: [],
      },
      {
        ...{ table: "b", description: "" },
        columns: [
          column("id", "INTEGER", { pk: true }),
          column("a", "TEXT", { notNull: true }),
          column("n", ""),
          column("twice", "INT", { generated: true }),
        ],
        foreignKeys: [{ from: "a", toTable: "A", toColumn: "k" }],
        indexes: [{ name: "i", columns: ["n"], unique: false, partial: false }],
      },
      {
        ...{ table: "c", description: "" },
        columns: [column("p", "INT"), column("q", "INT"), column("r", "TEXT")],
        foreignKeys: [
          { from: "p", toTable: "d", toColumn: "x" },
          { from: "q", toTable: "d", toColumn: "y" },
          { from: "r", toTable: "A", toColumn: "k" },
        ],
      },
      { table: "f", description: "", columns: [column("body", "")], foreignKeys: [] },
    ],
  });
});

test("describe shows defaults, unique columns, indexes and checks, each only where there is one", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.batch([
    [
      "CREATE TABLE goods (id INTEGER PRIMARY KEY, sku TEXT UNIQUE, price INT DEFAULT (10 * 2) CHECK (price >= 0), " +
      "at TEXT DEFAULT CURRENT_TIMESTAMP, CONSTRAINT cheap CHECK (price < 1000 OR sku IS NULL))",
    ],
    ["CREATE INDEX dear ON goods (lower(sku), price) WHERE price > 100"],
  ]);
  const [goods] = (await describe(app, tenant)).tables;
  assertEquals(goods?.columns.map(({ name, default: byDefault }) => [name, byDefault]), [
    ["id", undefined],
    ["sku", undefined],
    ["price", "10 * 2"],
    ["at", "CURRENT_TIMESTAMP"],
  ]);
  assertEquals(goods?.indexes, [
    { name: "dear", columns: [null, "price"], unique: false, partial: true },
    { name: "sqlite_autoindex_goods_1", columns: ["sku"], unique: true, partial: false },
  ]);
  // A table whose definition is larger than what is looked through says nothing of its checks, and describe goes on.
  const filler = Array.from({ length: 1000 }, (_, at) => `c${at} INT CHECK (c${at} <> ${"9".repeat(200)})`);
  await tenant.setup(`CREATE TABLE large (${filler.join(", ")})`);
  const [still, large] = (await describe(app, tenant)).tables;
  assertEquals([still?.checks?.length, large?.checks, large?.columns.length], [2, undefined, 1000]);
  assertEquals(goods?.checks, ["price >= 0", "price < 1000 OR sku IS NULL"]);
});

test("describe of an empty database has no tables", async () => {
  await using app = await startApp();
  assertEquals(await describe(app, await app.namespace()), { databaseDescription: "", tables: [] });
});

test("PUT describe changes what is supplied and leaves the rest; names count in any case", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE Orders (Id INTEGER PRIMARY KEY, total INT)");
  const first = await put(app, tenant, {
    databaseDescription: "A shop",
    tables: [{
      table: "orders",
      description: "One row an order",
      columns: [{ column: "ID", description: "Number" }],
    }],
  });
  assertEquals(first.status, 200, first.text);
  assertEquals(first.body.data, await describe(app, tenant));
  const second = await put(app, tenant, {
    tables: [{ table: "Orders", columns: [{ column: "total", description: "Cents" }] }],
  });
  assertEquals(second.status, 200, second.text);
  const { databaseDescription, tables: [orders] } = await describe(app, tenant);
  assertEquals([databaseDescription, orders?.table, orders?.description], [
    "A shop",
    "Orders",
    "One row an order",
  ]);
  assertEquals(orders?.columns.map(({ description }) => description), ["Number", "Cents"]);
  assertEquals((await put(app, tenant, {})).status, 200);
  assertEquals((await put(app, tenant, { databaseDescription: "" })).status, 200);
  assertEquals((await describe(app, tenant)).databaseDescription, "");
  assertEquals(rowsOf(await tenant.query("SELECT count(*) FROM _service_meta_description")), [[3]]);
});

test("PUT describe keeps any text exactly", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup(`CREATE TABLE "t 'q"" ☃" ("c, d" INT)`);
  const text = `"quotes" 'single' \\ back\nline ☃😀 {"json":[1]} -- ; DROP TABLE t`;
  const table = `t 'q" ☃`;
  const stored = await put(app, tenant, {
    databaseDescription: text,
    tables: [{ table, description: text, columns: [{ column: "c, d", description: text }] }],
  });
  assertEquals(stored.status, 200, stored.text);
  const { databaseDescription, tables: [only] } = await describe(app, tenant);
  assertEquals([databaseDescription, only?.description, only?.columns[0]?.description], [text, text, text]);
});

test("PUT describe names what is unknown by its path, and stores nothing then", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (a INT)");
  await tenant.setup("CREATE VIEW v AS SELECT a FROM t");
  const answer = await put(app, tenant, {
    databaseDescription: "x",
    tables: [
      { table: "t", columns: [{ column: "a", description: "y" }, { column: "b", description: "z" }] },
      { table: "nope" },
      { table: "_service_meta_audit", description: "z" },
      { table: "v", description: "z" },
    ],
  });
  assertEquals([answer.status, answer.body.code], [400, "validation_failed"]);
  assertEquals(answer.body.issues?.map(({ path }) => path), [
    ...["tables[0].columns[1].column", "tables[1].table", "tables[2].table", "tables[3].table"],
  ]);
  const { databaseDescription, tables } = await describe(app, tenant);
  assertEquals([databaseDescription, tables[0]?.columns[0]?.description], ["", ""]);
});

test("PUT describe refuses text that could not be kept, and unknown fields", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const bodies: readonly (readonly [body: unknown, path: string])[] = [
    [{ databaseDescription: "a\u0000b" }, "databaseDescription"],
    ['{"databaseDescription":"\\ud800"}', "databaseDescription"],
    [{ databaseDescription: 1 }, "databaseDescription"],
    [{ databaseDescription: "x".repeat(10_001) }, "databaseDescription"],
    [{ tables: [{ description: "x" }] }, "tables[0].table"],
    [{ tables: [{ table: "t", columns: [{ name: "x" }] }] }, "tables[0].columns[0].column"],
  ];
  for (const [body, path] of bodies) {
    const answer = await put(app, tenant, body);
    assertEquals([answer.status, answer.body.issues?.[0]?.path], [400, path], answer.text);
  }
});

test("PUT describe needs the role admin; reading does not, and neither is billed or logged", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  for (const role of ["read", "write"] as const) {
    const { token } = await tenant.mint(role);
    const refused = await put(app, { ...tenant, token }, { databaseDescription: "x" });
    assertEquals([refused.status, refused.body.code], [403, "role_too_low"]);
    assertEquals((await app.request("GET", `${tenant.database.path}/describe`, { token })).status, 200);
  }
  assertEquals((await put(app, tenant, { databaseDescription: "x" })).status, 200);
  const log = await app.request("GET", `${tenant.database.path}/query_log`, { token: tenant.token });
  assertEquals(log.body.data, { entries: [], nextCursor: null });
});

test("describe follows a change of the schema at once, and keeps what is said about what stays", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (a INT, b INT)");
  await put(app, tenant, {
    tables: [{ table: "t", description: "T", columns: [{ column: "a", description: "A" }] }],
  });
  await tenant.query("ALTER TABLE t DROP COLUMN b");
  await tenant.query("ALTER TABLE t ADD COLUMN c TEXT");
  const { tables: [t] } = await describe(app, tenant);
  assertEquals([t?.description, t?.columns.map(({ name, description }) => [name, description])], [
    "T",
    [["a", "A"], ["c", ""]],
  ]);
});

test("what is said about tables and columns follows their renames, in the same transaction", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.batch([["CREATE TABLE t (a INT, b INT)"], ["CREATE TABLE gone (a INT)"]]);
  const said = async () => {
    const { tables } = await describe(app, tenant);
    return tables.map(({ table, description, columns }) => [
      table,
      description,
      ...columns.map((column) => `${column.name}: ${column.description}`),
    ]);
  };
  await put(app, tenant, {
    tables: [
      { table: "t", description: "T", columns: [{ column: "a", description: "A" }] },
      { table: "gone", description: "of another table" },
    ],
  });
  const renamed = await tenant.query('ALTER TABLE T RENAME A TO "the a"');
  assertEquals([renamed.status, (await said())[1]], [200, ["t", "T", "the a: A", "b: "]]);
  await tenant.query("DROP TABLE gone");
  assertEquals((await tenant.query("ALTER TABLE main.t RENAME TO gone")).status, 200);
  assertEquals(await said(), [["gone", "T", "the a: A", "b: "]]);
  const undone = await tenant.batch([["ALTER TABLE gone RENAME TO u"], ["INSERT INTO u VALUES (1)"]], {
    transaction: true,
  });
  assertEquals([undone.status, await said()], [400, [["gone", "T", "the a: A", "b: "]]]);
  const both = await tenant.batch([
    ["ALTER TABLE gone RENAME TO u"],
    ["INSERT INTO u VALUES (1, 2)"],
    ["ALTER TABLE u RENAME COLUMN b TO a"],
    ['ALTER TABLE u RENAME COLUMN "the a" TO b'],
  ], { transaction: false });
  assertEquals(both.status, 200, both.text);
  assertEquals([rowsOf(both, 0), both.body.meta?.rowsWritten], [[], 1]);
  assertEquals(await said(), [["u", "T", "b: A", "a: "]]);
  const looked = await tenant.query("ALTER TABLE u RENAME TO v", [], { headers: { "x-dry-run": "1" } });
  assertEquals([looked.status, (await said())[0]?.[0]], [200, "u"]);
});

test("describe is not cut by the bounds on a caller's results", async () => {
  await using app = await startApp({ settings: { MAX_RESULT_ROWS: "2" } });
  const tenant = await app.namespace();
  await tenant.batch(["a", "b", "c"].map((name) => [`CREATE TABLE ${name} (x INT, y INT)`] as const));
  assertEquals((await describe(app, tenant)).tables.length, 3);
});
