// Lists: pages in the order that a caller asks for, with filters, and each page costs no more than its rows.
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type EndpointWorld, endpointWorld } from "../endpoints/endpoint_world.ts";
import { oneStore } from "../testing/cases.ts";
import { isEmbedded } from "../testing/tenant_settings.ts";
import { rowsOf } from "../testing/test_namespace.ts";

const { run, test } = oneStore();
Deno.test("lists", run);

const TASKS = [
  "CREATE TABLE task (id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL, state TEXT, due_at TEXT, weight REAL, note TEXT)",
  "CREATE INDEX task_owner ON task (user_id)",
  "CREATE INDEX task_state ON task (state)",
  "CREATE INDEX task_due ON task (due_at)",
  "CREATE INDEX task_weight ON task (user_id, weight)",
  "CREATE INDEX task_part ON task (note) WHERE note IS NOT NULL",
  "INSERT INTO task WITH RECURSIVE s(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM s WHERE v < 40) SELECT v, v % 2, " +
  "iif(v % 3 = 0, 'done', 'open'), iif(v % 5 = 0, NULL, printf('2026-11-%02d', v % 7)), v / 3.0, 'n' || v FROM s",
];

async function tasks(): Promise<EndpointWorld> {
  const world = await endpointWorld(TASKS);
  await scaffold(world, { table: "task", shape: "app", operations: ["list"] });
  return world;
}

async function scaffold(world: EndpointWorld, body: object): Promise<void> {
  const made = await world.call("POST", "/scaffold-crud", body);
  const { data } = JSON.parse(made.text);
  assertEquals([made.status, data.skipped], [200, []], made.text);
  for (const { slug } of data.created) {
    assertEquals((await world.call("POST", `/${slug}/publish`)).status, 200);
  }
}

interface Page {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  readonly nextCursor: string | null;
  readonly total: number | null;
}

async function pageOf({ app }: EndpointWorld, query: string): Promise<Page> {
  const { status, text } = await app.request("GET", `/p/acme/main/list-task?${query}`);
  assertEquals(status, 200, text);
  return JSON.parse(text);
}

/** Keys of all rows, page by page. */
async function all(
  world: EndpointWorld,
  query: string,
  between = () => Promise.resolve(),
): Promise<unknown[]> {
  const keys: unknown[] = [];
  let cursor: string | null = null;
  do {
    const page: Page = await pageOf(world, `${query}${cursor === null ? "" : `&cursor=${cursor}`}`);
    keys.push(...page.rows.map(([id]) => id));
    cursor = page.nextCursor;
    await between();
  } while (cursor !== null);
  return keys;
}

const keysBy = async ({ tenant }: EndpointWorld, sql: string) =>
  rowsOf(await tenant.query(`SELECT id FROM task ${sql}`)).map(([id]) => id);

test("every order gives every row once, page by page, also where the column has no value", async () => {
  await using world = await tasks();
  for (
    const [sort, order] of [["due_at", "due_at, id"], ["-due_at", "due_at DESC, id DESC"], ["-id", "id DESC"]]
  ) {
    for (const limit of [1, 7, 40]) {
      assertEquals(
        await all(world, `sort=${sort}&limit=${limit}`),
        await keysBy(world, `ORDER BY ${order}`),
        sort,
      );
    }
  }
  const first = await pageOf(world, "");
  assertEquals([first.rows.length, first.nextCursor, first.total], [40, null, null]);
  // As many as there are: nothing is behind them.
  assertEquals((await pageOf(world, "limit=40")).nextCursor, null);
  assertEquals(first.columns, ["id", "user_id", "state", "due_at", "weight", "note"]);
});

test("filters are by value and by range, together, and the total counts what they let through", async () => {
  await using world = await tasks();
  const wanted: readonly (readonly [query: string, sql: string])[] = [
    ["state=done", "WHERE state = 'done'"],
    ["due_at=2026-11-03", "WHERE due_at = '2026-11-03'"],
    [
      "due_at_from=2026-11-03&due_at_to=2026-11-05&state=open",
      "WHERE due_at BETWEEN '2026-11-03' AND '2026-11-05' AND state = 'open'",
    ],
    ["user_id=1&state=done", "WHERE user_id = 1 AND state = 'done'"],
    ["state=%27%20OR%201%3D1%20--", "WHERE 0"],
  ];
  for (const [query, sql] of wanted) {
    const keys = await keysBy(world, sql);
    assertEquals((await all(world, `${query}&limit=3`)).toSorted(), keys.toSorted(), query);
    const { total, rows } = await pageOf(world, `${query}&limit=2&total=true`);
    assertEquals([total, rows.length], [keys.length, Math.min(2, keys.length)]);
  }
});

test("rows that come and go meanwhile neither move nor repeat others", async () => {
  await using world = await tasks();
  let [added, removed] = [40, 41];
  const keys = await all(world, "sort=-id&limit=9", async () => {
    await world.tenant.setup(
      `INSERT INTO task (id, user_id) VALUES (${++added}, 1)`,
      `DELETE FROM task WHERE id = ${--removed}`,
    );
  });
  assertEquals(keys, Array.from({ length: 40 }, (_, at) => 40 - at));
});

test("each order and each filter is read by an index, and what is not asked for costs nothing", async () => {
  await using world = await tasks();
  const read = async (query: string): Promise<string> => {
    await pageOf(world, query);
    const log = await world.tenant.query(
      "SELECT sql FROM _service_meta_query_log WHERE operation = 'endpoint' ORDER BY ts DESC, id DESC LIMIT 1",
    );
    const texts = String(rowsOf(log)[0]?.[0]).split(";\nSELECT").map((text, n) =>
      n === 0 ? text : `SELECT${text}`
    );
    const plans: string[] = [];
    for (const sql of texts) {
      const count = Math.max(0, ...[...sql.matchAll(/\?(\d+)/g)].map(([, number]) => Number(number)));
      const plan = await world.tenant.query(`EXPLAIN QUERY PLAN ${sql}`, Array(count).fill(null));
      plans.push(rowsOf(plan).map((row) => row[3]).join("; "));
    }
    return plans.join(" | ");
  };
  const cursor = async (query: string) => `${query}&cursor=${(await pageOf(world, query)).nextCursor}`;
  const wanted: readonly (readonly [query: string, index: RegExp])[] = [
    ["limit=5", /^SCAN task$/],
    [await cursor("limit=5"), /^SEARCH task USING INTEGER PRIMARY KEY \(rowid>\?\)$/],
    ["limit=5&sort=due_at", /^SCAN task USING INDEX task_due$/],
    [
      await cursor("limit=12&sort=due_at"),
      /^SEARCH task USING INDEX task_due \(due_at>\?\)$|^SEARCH task USING INDEX task_due \(\(due_at,rowid\)>\(\?,\?\)\)$/,
    ],
    [
      await cursor("limit=5&sort=-due_at"),
      /^SEARCH task USING INDEX task_due [^|;]* \| SEARCH task USING INDEX task_due \(due_at=\?\) \| [^|]*SEARCH task [^|;]*$/,
    ],
    ["limit=5&state=done", /^SEARCH task USING INDEX task_state \(state=\?\)$/],
    ["limit=5&user_id=1", /^SEARCH task USING INDEX task_(?:owner|weight) \(user_id=\?\)/],
    ["limit=5&due_at_from=2026-11-05&sort=due_at", /^SEARCH task USING INDEX task_due \(due_at>\?\)$/],
  ];
  for (const [query, index] of wanted) {
    const plan = await read(query);
    assert(index.test(plan), `${query}: ${plan}`);
  }
});

test("an owner's list has the rows of that user whatever is asked, by an index that begins with the owner", async () => {
  await using world = await endpointWorld([
    "CREATE TABLE people (id INTEGER PRIMARY KEY, email TEXT UNIQUE NOT NULL, password_hash TEXT NOT NULL)",
    "CREATE TABLE task (id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES people, due_at TEXT, sort INTEGER)",
    "CREATE INDEX task_due ON task (user_id, due_at)",
    "CREATE INDEX task_sort ON task (sort)",
  ]);
  await scaffold(world, { table: "people", shape: "app" });
  await scaffold(world, { table: "task", owner: "user_id" });
  const signUp = async (email: string) =>
    JSON.parse(
      (await world.app.request("POST", "/p/acme/main/signup-person", {
        body: { email, password: "correct horse" },
      })).text,
    ).token;
  const [ada, bob] = [await signUp("a@b.example"), await signUp("b@b.example")];
  for (const token of [ada, bob, ada]) {
    const body = { due_at: "2026-11-22", sort: 7 };
    assertEquals((await world.app.request("POST", "/p/acme/main/create-task", { token, body })).status, 200);
  }
  const list = async (query: string, token?: string) => {
    const answer = await world.app.request(
      "GET",
      `/p/acme/main/list-task?${query}`,
      token === undefined ? {} : { token },
    );
    return { ...JSON.parse(answer.text), status: answer.status };
  };
  assertEquals((await list("")).status, 401);
  const mine = await list("due_at=2026-11-22&sort=-due_at&limit=1&total=true&sort_is=7", ada);
  assertEquals([mine.rows.map(([id]: number[]) => id), mine.total], [[3], 2]);
  const forged = (await list("sort=-due_at&limit=1", ada)).nextCursor;
  assertEquals((await list(`sort=-due_at&limit=1&cursor=${forged}`, bob)).rows, [[2, 2, "2026-11-22", 7]]);
  assertEquals((await list("user_id=2", ada)).issues[0].path, "user_id");
});

test("what is no cursor, or one of another order, is refused by its name", async () => {
  await using world = await tasks();
  const { nextCursor } = await pageOf(world, "limit=5&sort=due_at");
  const encode = (value: unknown) =>
    new TextEncoder().encode(JSON.stringify(value)).toBase64({ alphabet: "base64url" });
  const wrong = [
    `sort=-due_at&cursor=${nextCursor}`,
    "cursor=x",
    `cursor=${encode(["id", 1, 2])}`,
    `cursor=${encode(["id", { $integer: "99999999999999999999" }])}`,
    `cursor=${encode(["id", { $blob: 1 }])}`,
    `cursor=${encode(["id", { $infinity: "constructor" }])}`,
    `cursor=${encode(["id", "\u0000"])}`,
    `cursor=${encode({})}`,
  ];
  for (const query of wrong) {
    const { status, body } = await world.app.request("GET", `/p/acme/main/list-task?${query}`);
    assertEquals([status, body.issues?.map(({ path }) => path)], [400, ["cursor"]], query);
  }
  for (const query of ["sort=note", "sort=id;--", "limit=0", "limit=501", "note=n1", "after=3"]) {
    assertEquals((await world.app.request("GET", `/p/acme/main/list-task?${query}`)).status, 400, query);
  }
});

test("rows without a key are refused where a page would leave them out", async () => {
  await using world = await endpointWorld([
    "CREATE TABLE task (id TEXT PRIMARY KEY, due_at TEXT)",
    "CREATE INDEX task_due ON task (due_at)",
    "INSERT INTO task VALUES ('a', 'x'), ('b', 'x'), (NULL, 'x'), ('c', 'y')",
  ]);
  await scaffold(world, { table: "task", shape: "app", operations: ["list"] });
  const next = async (query: string, limit: number) => {
    const { nextCursor } = await pageOf(world, `${query}&limit=${limit}`);
    return await world.app.request(
      "GET",
      `/p/acme/main/list-task?${query}&limit=${limit}&cursor=${nextCursor}`,
    );
  };
  assertEquals((await pageOf(world, "limit=4")).rows.length, 4);
  assertEquals(JSON.parse((await next("", 3)).text).rows, [["c", "y"]]);
  assertEquals(JSON.parse((await next("sort=due_at", 2)).text).rows, [["b", "x"], ["c", "y"]]);
  for (const [query, limit] of [["sort=-id", 1], ["sort=-due_at", 2]] as const) {
    const { status, body } = await next(query, limit);
    assertEquals([status, body.code], [400, "sql_error"], query);
  }
  for (const query of ["limit=1", "limit=1&sort=due_at"]) {
    const { status, body } = await world.app.request("GET", `/p/acme/main/list-task?${query}`);
    assertEquals([status, body.code], [400, "sql_error"], query);
    assertEquals(body.error, "Tell the owner of this endpoint; rows of this list cannot be told apart");
  }
  const path = "/api/namespaces/acme/databases/main/endpoints/list-task/test";
  const tested = await world.app.request("POST", path, {
    token: world.tenant.token,
    body: { input: { limit: 1 } },
  });
  assertStringIncludes(JSON.parse(tested.text).data.cause.error, "in each column of list.key");
  await world.tenant.setup("UPDATE task SET id = 'd' WHERE id IS NULL");
  assertEquals(await all(world, "sort=-due_at&limit=1"), ["c", "d", "b", "a"]);
});

test("a table of two keys is listed and filtered by either of them", async () => {
  await using world = await endpointWorld([
    "CREATE TABLE place (guest INTEGER NOT NULL, meal INTEGER NOT NULL, PRIMARY KEY (guest, meal))",
    "CREATE INDEX place_meal ON place (meal)",
    "INSERT INTO place WITH RECURSIVE s(v) AS (SELECT 0 UNION ALL SELECT v + 1 FROM s WHERE v < 11) SELECT v / 3, v % 3 FROM s",
  ]);
  await scaffold(world, { table: "place", shape: "app", operations: ["list"] });
  for (
    const [sort, order] of [
      ["guest", "guest, meal"],
      ["-guest", "guest DESC, meal DESC"],
      ["meal", "meal, guest"],
      ["-meal", "meal DESC, guest DESC"],
    ]
  ) {
    const rows: unknown[] = [];
    let cursor: string | null = "";
    for (let turn = 0; cursor !== null && turn < 20; turn++) {
      const query = `sort=${sort}&limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`;
      const { status, text } = await world.app.request("GET", `/p/acme/main/list-place?${query}`);
      assertEquals(status, 200, text);
      const page: Page = JSON.parse(text);
      rows.push(...page.rows);
      cursor = page.nextCursor;
    }
    assertEquals(rows, rowsOf(await world.tenant.query(`SELECT * FROM place ORDER BY ${order}`)), sort);
  }
  for (const [filter, condition] of [["guest=2", "guest = 2"], ["meal=1&total=true", "meal = 1"]]) {
    const { text } = await world.app.request("GET", `/p/acme/main/list-place?${filter}`);
    const expected = rowsOf(await world.tenant.query(`SELECT * FROM place WHERE ${condition}`));
    assertEquals(JSON.parse(text).rows, expected, text);
  }
});

test("values come as in every other answer, and whole numbers as digits where that is asked", async () => {
  await using world = await endpointWorld([
    "CREATE TABLE v (id INTEGER PRIMARY KEY, x, done INTEGER)",
    "INSERT INTO v VALUES (1, 9007199254740993, 1), (2, 3.0, 0), (3, x'00ff', NULL), (4, '9007199254740993', 2), (5, 9e999, 1), (6, -9e999, 1)",
  ]);
  const spec = {
    ...{ slug: "values", name: "v", kind: "query", method: "GET", output: "page" },
    sql: "SELECT id, x, done FROM v WHERE id <= :most -- all of them",
    input: [
      { name: "most", type: "integer", default: 9 },
      { name: "sort", type: "text", enum: ["x", "-x"], default: "x" },
      { name: "limit", type: "integer", min: 1, max: 10 },
      { name: "cursor", type: "text" },
    ],
    list: { key: ["id"] },
    outputTypes: { done: "boolean" },
  };
  assertEquals((await world.call("POST", "", spec)).status, 201);
  assertEquals((await world.call("POST", "/values/publish")).status, 200);
  const call = async (query: string, headers = {}) =>
    JSON.parse((await world.app.request("GET", `/p/acme/main/values?${query}`, { headers })).text);
  const rows: unknown[] = [];
  for (let cursor = ""; rows.length < 6;) {
    const page = await call(`limit=1&most=6${cursor}`);
    rows.push(...page.rows);
    cursor = `&cursor=${page.nextCursor}`;
  }
  assertEquals(rows, [
    [6, "-Infinity", true],
    [2, 3, false],
    [1, "9007199254740993", true],
    [5, "Infinity", true],
    [4, "9007199254740993", true],
    [3, { $blob: "AP8=" }, null],
  ]);
  assertEquals((await call("most=2", { "x-integers": "string" })).rows, [["2", 3, false], [
    "1",
    "9007199254740993",
    true,
  ]]);
  const sent = JSON.parse((await world.call("GET", "/values")).text).data;
  assertEquals((await world.call("PUT", "/values", sent)).status, 200);
});

test("the validator names what does not fit a list", async () => {
  await using world = await tasks();
  const spec = {
    ...{
      slug: "x",
      name: "x",
      kind: "query",
      method: "GET",
      output: "page",
      sql: "SELECT id, state FROM task",
    },
    input: [{ name: "state", type: "text" }],
    list: { key: ["id"], filters: [{ input: "state", column: "state" }] },
  };
  const wrong: readonly (readonly [over: object, said: string])[] = [
    [{ list: undefined }, "Add this; a page is one of a list"],
    [{ output: "rows" }, "Remove this; it is for the output page"],
    [{ list: { ...spec.list, key: ["nope"] } }, "Name a column of the answer"],
    [{ list: { key: ["id"], filters: [{ input: "state", column: "due_at" }] } }, "list.filters[0].column"],
    [{ list: { key: ["id"], filters: [{ input: "other", column: "state" }] } }, "list.filters[0].input"],
    [{ sql: "SELECT id, state FROM task WHERE state = :state" }, "Add an input for :state"],
    [{
      sql: "SELECT id, state FROM task WHERE id > ?",
      input: [...spec.input, { name: "a", type: "integer" }],
    }, "Write :name for every input"],
    [{ input: [...spec.input, { name: "sort", type: "text", enum: ["-due_at"] }] }, "due_at is none"],
    [{ input: [...spec.input, { name: "sort", type: "text" }] }, "Make sort a text with an enum"],
    [{
      input: [...spec.input, {
        name: "sort",
        type: "text",
        enum: Array.from({ length: 201 }, (_, n) => `${"-".repeat(n % 2)}c${n}`),
      }],
    }, "an enum of up to 200 columns"],
    [{ input: [...spec.input, { name: "limit", type: "integer", min: 1 }] }, "Make limit an integer"],
    [
      { sql: "EXPLAIN SELECT id, state FROM task", list: { key: ["addr"] }, input: [] },
      "Write a SELECT that can stand in FROM",
    ],
  ];
  for (const [over, said] of wrong) {
    const answer = await world.call("POST", "", { ...spec, ...over });
    assertEquals(answer.status, 400, said);
    assertStringIncludes(answer.text, said);
  }
  assertEquals((await world.call("POST", "", spec)).status, 201);
});

test("keys and orders whose texts hold U+0000 or bytes that are no UTF-8 give every row once", async () => {
  // sqld answers no row with a text that is no UTF-8.
  const broken = isEmbedded() ? ["61e8", "61e9", "61f0", "61f09f98", "61f09f9f"] : [];
  const texts = ["61", "6100", "610062", "610063", ...broken, "62", "", "c3a9", "e697a5", "efbbbf61"];
  const values = texts.map((hex) => `(CAST(x'${hex}' AS TEXT))`).join(", ");
  await using world = await endpointWorld([
    "CREATE TABLE k (s TEXT PRIMARY KEY) WITHOUT ROWID",
    `INSERT INTO k VALUES ${values}`,
    "CREATE TABLE mixed (id INTEGER PRIMARY KEY, v)",
    "INSERT INTO mixed (v) SELECT s FROM k UNION ALL VALUES (NULL), (1), (2.5), (-1e999), (x'61'), (x'6100'), ('7'), (70)",
    "CREATE INDEX mixed_v ON mixed (v)",
  ]);
  for (
    const [slug, table, column, sorts] of [["by-key", "k", "s", []], ["by-value", "mixed", "id", [
      "v",
    ]]] as const
  ) {
    const controls = [{ name: "limit", type: "integer", min: 1, max: 100, default: 50 }, {
      name: "cursor",
      type: "text",
    }];
    const sort = { name: "sort", type: "text", enum: sorts.flatMap((one) => [one, `-${one}`]) };
    const made = await world.call("POST", "", {
      ...{ slug, name: slug, kind: "query", method: "GET", output: "page" },
      sql: table === "k" ? "SELECT hex(s) AS h, s FROM k" : "SELECT id, v FROM mixed",
      input: [...controls, ...(sorts.length > 0 ? [sort] : [])],
      list: { key: [column] },
    });
    assertEquals(made.status, 201, made.text);
    assertEquals((await world.call("POST", `/${slug}/publish`)).status, 200);
  }
  const walk = async (path: string) => {
    const seen: unknown[] = [];
    for (let cursor = ""; seen.length < 50;) {
      const { status, text } = await world.app.request("GET", `/p/acme/main/${path}${cursor}`);
      assertEquals(status, 200, text);
      const { columns, rows, nextCursor } = JSON.parse(text);
      assertEquals(columns.length, 2);
      seen.push(...rows.map(([first]: unknown[]) => first));
      if (nextCursor === null) break;
      cursor = `&cursor=${nextCursor}`;
    }
    return seen;
  };
  const wanted = async (sql: string) => rowsOf(await world.tenant.query(sql)).map(([first]) => first);
  for (const limit of [1, 2, 3]) {
    assertEquals(await walk(`by-key?limit=${limit}`), await wanted("SELECT hex(s) FROM k ORDER BY s"));
    for (const [sort, order] of [["v", "v, id"], ["-v", "v DESC, id DESC"]]) {
      const keys = await wanted(`SELECT id FROM mixed ORDER BY ${order}`);
      assertEquals(await walk(`by-value?limit=${limit}&sort=${sort}`), keys, sort);
    }
  }
});

test("a REAL beyond 2^53 has an exponent in a list, as in every answer", async () => {
  await using world = await tasks();
  await world.tenant.setup("UPDATE task SET weight = 1.2345678901234568e18 WHERE id = 1");
  const { text } = await world.app.request("GET", "/p/acme/main/list-task?limit=1");
  assertStringIncludes(text, ",1.2345678901234568e+18,");
});
