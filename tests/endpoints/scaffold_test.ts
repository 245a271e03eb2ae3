// The CRUD scaffold: which endpoints a table gets, and that their statements work unchanged.
import { assert, assertEquals } from "@std/assert";
import { columnDefault } from "../../lib/services/endpoints/scaffold/column_default.ts";
import { inputNames, scaffoldSlug } from "../../lib/services/endpoints/scaffold/scaffold_names.ts";
import { singular } from "../../lib/services/singular.ts";
import { type EndpointWorld, endpointWorld } from "./endpoint_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("the CRUD scaffold", run);

interface Created {
  readonly slug: string;
  readonly status: string;
  readonly sql: string;
  readonly kind: string;
  readonly method: string;
  readonly output: string;
  readonly input: readonly Record<string, unknown>[];
}

interface Scaffolded {
  readonly created: readonly Created[];
  readonly skipped: readonly { readonly slug: string; readonly reason: string }[];
}

async function scaffold(world: EndpointWorld, body: unknown): Promise<Scaffolded> {
  const answer = await world.call("POST", "/scaffold-crud", body);
  assertEquals(answer.status, 200, answer.text);
  const { ok, data }: { ok: boolean; data: Scaffolded } = JSON.parse(answer.text);
  assertEquals(ok, true);
  return data;
}

const slugs = (list: readonly { readonly slug: string }[]) => list.map(({ slug }) => slug);
const inputs = (one: Created | undefined) =>
  one?.input.map(({ name, type, required }) => [name, type, ...(required === true ? ["required"] : [])]);

test("a list leaves files out, and the row itself has them, also where an app is made", async () => {
  await using world = await endpointWorld([
    "CREATE TABLE pictures (id INTEGER PRIMARY KEY, name TEXT, bytes BLOB, api_token TEXT)",
    "INSERT INTO pictures (name, bytes) VALUES ('cat', x'ff00')",
    "CREATE TABLE only_bytes (bytes BLOB)",
    "CREATE TABLE hashes (hash BLOB PRIMARY KEY, bytes BLOB NOT NULL)",
    "CREATE TABLE keys (api_key BLOB, api_token TEXT)",
  ]);
  const all = async (body: Record<string, unknown>) => (await scaffold(world, body)).created;
  const sqlOf = async (body: Record<string, unknown>) => (await all(body)).map(({ sql }) => sql);
  const basic = { operations: ["list", "get"] };
  assertEquals(await sqlOf({ table: "pictures", ...basic }), [
    "SELECT id, name, api_token FROM pictures LIMIT ? OFFSET ?",
    "SELECT * FROM pictures WHERE id = ?",
  ]);
  assertEquals(await sqlOf({ table: "only_bytes", operations: ["list"] }), [
    "SELECT * FROM only_bytes LIMIT ? OFFSET ?",
  ]);
  const tested = async (slug: string, input: unknown) =>
    (await world.call("POST", `/${slug}/test`, { input })).text;
  const [list, one] = [await tested("list-pictures", {}), await tested("get-picture", { id: 1 })];
  assertEquals([list.includes("cat"), list.includes("/wA="), one.includes("/wA=")], [true, false, true], one);
  for (const slug of ["list-pictures", "get-picture"]) await world.call("DELETE", `/${slug}`);
  assertEquals(await sqlOf({ table: "pictures", shape: "app", ...basic }), [
    "SELECT id, name FROM pictures",
    "SELECT id, name, bytes FROM pictures WHERE id = :id",
  ]);
  // Pages go on by the key, whatever it is.
  assertEquals(await sqlOf({ table: "hashes", shape: "app", operations: ["list"] }), [
    "SELECT hash FROM hashes",
  ]);
  // Nothing but secrets is nothing to show.
  assertEquals(await sqlOf({ table: "keys", shape: "app", operations: ["create"] }), []);
});

test("a table with one key gets the five endpoints of the specification, as drafts", async () => {
  await using world = await endpointWorld([
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT NOT NULL, total REAL, paid BOOLEAN NOT NULL DEFAULT 0, " +
    "state TEXT DEFAULT 'new', made TEXT DEFAULT CURRENT_TIMESTAMP)",
  ]);
  const { created, skipped } = await scaffold(world, { table: "orders" });
  assertEquals(skipped, []);
  assertEquals(
    created.map(({ slug, kind, method, sql, output, status }) => [slug, kind, method, sql, output, status]),
    [
      ["list-orders", "query", "GET", "SELECT * FROM orders LIMIT ? OFFSET ?", "rows", "draft"],
      ["get-order", "query", "GET", "SELECT * FROM orders WHERE id = ?", "first_row", "draft"],
      [
        ...["create-order", "mutation", "POST"],
        "INSERT INTO orders (customer, total, paid, state, made) VALUES (?, ?, ?, ?, ?)",
        ...["rows_written", "draft"],
      ],
      [
        ...["update-order", "mutation", "POST"],
        "UPDATE orders SET customer = ?, total = ?, paid = ?, state = ?, made = ? WHERE id = ?",
        ...["rows_written", "draft"],
      ],
      ["delete-order", "mutation", "POST", "DELETE FROM orders WHERE id = ?", "rows_written", "draft"],
    ],
  );
  const [list, get, create, update] = created;
  assertEquals(list?.input, [
    { name: "limit", type: "integer", min: 1, max: 500, default: 50 },
    { name: "offset", type: "integer", min: 0, default: 0 },
  ]);
  assertEquals(inputs(get), [["id", "integer", "required"]]);
  assertEquals(create?.input, [
    { name: "customer", type: "text", required: true },
    { name: "total", type: "number" },
    { name: "paid", type: "boolean", required: true },
    { name: "state", type: "text", default: "new" },
    { name: "made", type: "text" },
  ]);
  assertEquals(inputs(update), [
    ["customer", "text", "required"],
    ["total", "number"],
    ["paid", "boolean", "required"],
    ["state", "text"],
    ["made", "text"],
    ["id", "integer", "required"],
  ]);
});

test("a second run skips what exists and replaces nothing", async () => {
  await using world = await endpointWorld(["CREATE TABLE orders (id INTEGER PRIMARY KEY, note TEXT)"]);
  const first = await scaffold(world, { table: "ORDERS", operations: ["get", "list"] });
  assertEquals(slugs(first.created), ["list-orders", "get-order"]);
  const second = await scaffold(world, { table: "orders" });
  assertEquals(slugs(second.created), ["create-order", "update-order", "delete-order"]);
  assertEquals(second.skipped, [
    { slug: "list-orders", reason: "Slug already exists" },
    { slug: "get-order", reason: "Slug already exists" },
  ]);
  assertEquals((await scaffold(world, { table: "orders" })).created, []);
});

test("composite keys are in get, update and delete, all columns in the order of the key", async () => {
  await using world = await endpointWorld([
    "CREATE TABLE order_items (quantity INTEGER NOT NULL, product_id INT, order_id INT, PRIMARY KEY (order_id, product_id))",
  ]);
  const { created } = await scaffold(world, { table: "order_items" });
  assertEquals(slugs(created), [
    ...["list-order-items", "get-order-item", "create-order-item", "update-order-item", "delete-order-item"],
  ]);
  const [, get, create, update, remove] = created;
  assertEquals(get?.sql, "SELECT * FROM order_items WHERE order_id = ? AND product_id = ?");
  assertEquals(remove?.sql, "DELETE FROM order_items WHERE order_id = ? AND product_id = ?");
  assertEquals(
    update?.sql,
    "UPDATE order_items SET quantity = ? WHERE order_id = ? AND product_id = ?",
  );
  // Nobody but the caller knows the key of such a row.
  assertEquals(inputs(create), [
    ["quantity", "integer", "required"],
    ["product_id", "integer", "required"],
    ["order_id", "integer", "required"],
  ]);
});

test("without a key there are list and create, and the rest is skipped with the reason", async () => {
  await using world = await endpointWorld([
    "CREATE TABLE notes (body TEXT)",
    "CREATE VIEW latest AS SELECT body FROM notes",
    "CREATE TABLE marks (id INTEGER PRIMARY KEY)",
  ]);
  const notes = await scaffold(world, { table: "notes" });
  assertEquals(slugs(notes.created), ["list-notes", "create-note"]);
  assertEquals(slugs(notes.skipped), ["get-note", "update-note", "delete-note"]);
  assert(notes.skipped.every(({ reason }) => reason.includes("no primary key")));
  const latest = await scaffold(world, { table: "latest" });
  assertEquals(slugs(latest.created), ["list-latest"]);
  assertEquals(latest.skipped.length, 4);
  const create = latest.skipped.find(({ slug }) => slug === "create-latest");
  assertEquals(create?.reason, "Correct the statement: cannot modify latest because it is a view");
  const { skipped: [list] } = await scaffold(world, { table: "latest", shape: "app", operations: ["list"] });
  assertEquals(
    list?.reason,
    "The view has no primary key, by which pages go on; without shape and owner a list needs none",
  );
  const marks = await scaffold(world, { table: "marks" });
  assertEquals(slugs(marks.created), ["list-marks", "get-mark", "create-mark", "delete-mark"]);
});

test("types follow the declared ones", async () => {
  await using world = await endpointWorld([
    "CREATE TABLE things (a INTEGER, b BIGINT, c REAL, d NUMERIC, e TEXT, f CLOB, g BOOLEAN, h JSON, i VARCHAR(9), j DATETIME, k BLOB, l)",
  ]);
  const { created } = await scaffold(world, { table: "things", operations: ["create"] });
  assertEquals(inputs(created[0])?.map(([, type]) => type), [
    ...[
      "integer",
      "integer",
      "number",
      "number",
      "text",
      "text",
      "boolean",
      "json",
      "text",
      "text",
      "blob",
      "text",
    ],
  ]);
});

/** Tables whose endpoints are published and used below, with the inputs of a row. */
const odd: readonly (readonly [table: string, ddl: string, row: Record<string, unknown>])[] = [
  ["order", 'CREATE TABLE "order" (id INTEGER PRIMARY KEY, "group" TEXT NOT NULL, "from" TEXT)', {
    group: "a",
  }],
  ["Old Things!", 'CREATE TABLE "Old Things!" ("The Key" INTEGER PRIMARY KEY, "Größe" TEXT NOT NULL)', {
    grosse: "a",
  }],
  ["1st", 'CREATE TABLE "1st" (id INTEGER PRIMARY KEY, "2nd" TEXT, "a""b" TEXT)', { c_2nd: "a", a_b: "b" }],
  ["left", 'CREATE TABLE "left" (id INTEGER PRIMARY KEY, "true" TEXT, "rowid" TEXT)', {
    true: "a",
    rowid: "b",
  }],
  [
    "made",
    "CREATE TABLE made (id INTEGER PRIMARY KEY, n INTEGER NOT NULL, twice INTEGER AS (n * 2) STORED)",
    { n: 2 },
  ],
  [
    "presets",
    "CREATE TABLE presets (id INTEGER PRIMARY KEY, a TEXT DEFAULT 'it''s', b INTEGER DEFAULT -3, " +
    "c TEXT DEFAULT CURRENT_TIMESTAMP, d TEXT DEFAULT (upper('x')), e BOOLEAN NOT NULL DEFAULT TRUE)",
    { a: "it's", b: -3, e: true },
  ],
  ["keyed", "CREATE TABLE keyed (code TEXT PRIMARY KEY, n INTEGER) WITHOUT ROWID", { code: "a", n: 1 }],
  ["counted", "CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT)", {}],
];

test("endpoints of odd tables work when they are published, unchanged", async () => {
  await using world = await endpointWorld(odd.map(([, ddl]) => ddl));
  for (const [table, , row] of odd) {
    const { created } = await scaffold(world, { table });
    const run = async (kind: string, given: Readonly<Record<string, unknown>>): Promise<Answered> => {
      const one = created.find(({ slug }) => slug.startsWith(`${kind}-`));
      if (one === undefined) return {};
      await world.call("POST", `/${one.slug}/publish`);
      const names = new Set(one.input.map(({ name }) => String(name)));
      const input = Object.fromEntries(Object.entries(given).filter(([name]) => names.has(name)));
      const query = new URLSearchParams(Object.entries(input).map(([name, value]) => [name, String(value)]));
      const path = `/p/acme/main/${one.slug}`;
      const answer = one.method === "GET"
        ? await world.app.request("GET", `${path}?${query}`)
        : await world.app.request("POST", path, { body: input });
      assertEquals(answer.status, 200, `${table}: ${one.sql} ${answer.text}`);
      return JSON.parse(answer.text);
    };
    assertEquals((await run("create", row)).rowsWritten, 1, table);
    const { rows: [first = []] = [], columns = [] } = await run("list", {});
    const keys = created.find(({ slug }) => slug.startsWith("get-"))?.input.map(({ name }) => name) ?? [];
    const key = Object.fromEntries(keys.map((name) => [String(name), first[0]]));
    const got = (await run("get", key)).row ?? {};
    assertEquals(columns.map((column) => got[column]), first, table);
    await run("update", { ...row, ...key });
    assertEquals(Object.values((await run("get", key)).row ?? {}), first, table);
    assertEquals((await run("delete", key)).rowsWritten, 1, table);
    assertEquals((await run("list", {})).rows, [], table);
  }
});

interface Answered {
  readonly rowsWritten?: number;
  readonly columns?: readonly string[];
  readonly rows?: readonly unknown[][];
  readonly row?: Readonly<Record<string, unknown>> | null;
}

test("what create leaves out is the column's default, however a plain one is written", async () => {
  const defaults = [
    ...["INTEGER DEFAULT TRUE", "INTEGER DEFAULT false", "INTEGER DEFAULT 9223372036854775807"],
    ...[
      "INTEGER DEFAULT -9223372036854775808",
      "INTEGER DEFAULT +0009007199254740993",
      "INTEGER DEFAULT 1e3",
    ],
    ...[
      "INTEGER DEFAULT 1E18",
      "REAL DEFAULT 1e3",
      "REAL DEFAULT .5",
      "REAL DEFAULT -5.",
      "REAL DEFAULT 1.5e-3",
    ],
    ...["BOOLEAN DEFAULT 0", "JSON DEFAULT '{\"a\": [1]}'", "JSON DEFAULT '[]'", 'TEXT DEFAULT "d ""q"""'],
    ...["TEXT DEFAULT 'it''s'", "TEXT DEFAULT 'TRUE'"],
  ];
  const columns = defaults.map((one, at) => `c${at} ${one}`).join(", ");
  await using world = await endpointWorld([`CREATE TABLE presets (id INTEGER PRIMARY KEY, ${columns})`]);
  const rows = async (sql: string) => JSON.parse((await world.tenant.query(sql)).text).data.rows;
  await world.tenant.query("INSERT INTO presets DEFAULT VALUES");
  await scaffold(world, { table: "presets", operations: ["create"] });
  await world.call("POST", "/create-preset/publish");
  const answer = await world.app.request("POST", "/p/acme/main/create-preset", { body: {} });
  assertEquals(answer.status, 200, answer.text);
  for (const [at, one] of defaults.entries()) {
    const [[own], [made]] = await rows(`SELECT quote(c${at}) || typeof(c${at}) FROM presets ORDER BY id`);
    assertEquals(made, own, one);
  }
});

test("defaults that do not fit the input, or that only the engine can work out, are left out", () => {
  for (
    const [sql, type] of [
      ["'x'", "integer"],
      ["9223372036854775808", "integer"],
      ["1.5", "integer"],
      ["1e999", "number"],
      ["2", "boolean"],
      ["'{'", "json"],
      ["CURRENT_TIMESTAMP", "text"],
      ["'a' || 'b'", "text"],
      ["NULL", "number"],
      [".", "number"],
      [`${"1".repeat(1500)} || 'x'`, "number"],
      ["9007199254740993", "number"],
      [`'${"x".repeat(2000)}'`, "text"],
    ] as const
  ) {
    assertEquals(columnDefault(sql, type), null, sql);
  }
});

test("a table that is not there or is not the caller's is refused", async () => {
  await using world = await endpointWorld();
  for (const table of ["none", "_service_meta_audit", "sqlite_schema"]) {
    const { status, body } = await world.call("POST", "/scaffold-crud", { table });
    assertEquals([status, body.issues?.[0]?.path], [400, "table"]);
  }
  const { body } = await world.call("POST", "/scaffold-crud", { table: "none", operations: ["drop"] });
  assertEquals(body.issues?.[0]?.path, "operations[0]");
});

test("singulars follow English, for the last word", () => {
  const words = {
    ...{ orders: "order", categories: "category", boxes: "box", people: "person", status: "status" },
    ...{ statuses: "status", addresses: "address", order_items: "order_item", news: "news", sheep: "sheep" },
    ...{ bus: "bus", classes: "class", analyses: "analysis", children: "child", person: "person" },
    ...{ cookies: "cookie", movies: "movie", calories: "calorie", companies: "company", ties: "tie" },
    ...{ caches: "cache", http_caches: "http_cache", branches: "branch", avalanches: "avalanche" },
    ...{ canvas: "canvas", canvases: "canvas", lens: "lens", lenses: "lens", bias: "bias", biases: "bias" },
    ...{ sms: "sms", dns: "dns", ios: "ios", bonus: "bonus", bonuses: "bonus", campus: "campus", gas: "gas" },
    ...{ series: "series", species: "species", corps: "corps", chassis: "chassis", metadata: "metadata" },
    ...{ basis: "basis", bases: "base", databases: "database", crises: "crisis", oases: "oasis" },
    ...{ houses: "house", responses: "response", excuses: "excuse", expenses: "expense", buses: "bus" },
    ...{ alias: "alias", aliases: "alias", indices: "index", matrices: "matrix", criteria: "criterion" },
    ...{ skus: "sku", menus: "menu", photos: "photo", heroes: "hero", leaves: "leaf", quizzes: "quiz" },
    ...{ formulae: "formula", formulas: "formula", goods: "goods", physics: "physics", topics: "topic" },
    ...{ access: "access", process: "process", processes: "process", taxes: "tax", Cookies: "Cookie" },
    ...{ posts_fts: "posts_fts" },
  };
  for (const [plural, expected] of Object.entries(words)) assertEquals(singular(plural), expected, plural);
});

test("slugs and input names keep to their form however long or odd the name", () => {
  const names = [
    "a".repeat(90),
    "a".repeat(89) + "b",
    "ÄÖÜ",
    "日本",
    "_",
    "OrderItems",
    "x y",
    "-",
    "a_".repeat(30),
  ];
  const made = names.flatMap((name) => [scaffoldSlug("list", name), scaffoldSlug("get", name)]);
  assertEquals(new Set(made).size, made.length);
  for (const slug of made) assert(/^[a-z][a-z0-9-]{0,40}$/.test(slug), slug);
  assertEquals(scaffoldSlug("get", "OrderItems"), "get-order-item");
  const fields = inputNames([...names, "a_b", "a b", "A B", "id"], new Set(["id2"]));
  assertEquals(new Set(fields).size, fields.length);
  for (const name of fields) assert(/^[a-z][a-z0-9_]{0,40}$/.test(name), name);
});
