// Attempts to write a guarded table past its rule: by another way of writing, by another table, by another spelling.
import { assert, assertEquals } from "@std/assert";
import { heldBy, withWrites, type WriteWorld } from "../writes/write_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("attempts to write a guarded table past its rule", run);

const guarded = [
  "CREATE TABLE customers (id INTEGER PRIMARY KEY)",
  "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customers(id) ON DELETE CASCADE ON UPDATE CASCADE, total INTEGER UNIQUE)",
  "CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT)",
  "INSERT INTO customers VALUES (1), (2)",
  "INSERT INTO orders VALUES (1, 1, 10), (2, 1, 20), (3, 2, 30)",
  "INSERT INTO notes VALUES (1, 'n')",
];

async function withGuarded(rule: object, body: (world: WriteWorld) => Promise<void>): Promise<void> {
  await withWrites(async (world) => {
    await world.setup(...guarded);
    await world.rule({ tableGlob: "orders", effect: "deny", ...rule });
    const dump = "SELECT json_group_array(json_array(id, customer, total)) FROM orders";
    const before = await world.rows(dump);
    await body(world);
    assertEquals(await world.rows(dump), before);
  });
}

async function denied({ shop }: WriteWorld, ...statements: string[]): Promise<void> {
  for (const sql of statements) {
    const answer = await shop.query(sql);
    assertEquals([answer.status, answer.body.code], [403, "rule_denied"], `${sql}: ${answer.text}`);
    const { hits, approvalToken } = JSON.parse(answer.text);
    assertEquals([hits.length > 0, approvalToken], [true, undefined]);
  }
}

test("no other way of writing reaches a table that a rule denies", async () => {
  await withGuarded({}, async (world) => {
    await world.setup(
      "CREATE VIEW every AS SELECT * FROM orders",
      "CREATE TRIGGER into_view INSTEAD OF INSERT ON every BEGIN UPDATE orders SET total = 0; END",
      "CREATE TRIGGER from_notes AFTER DELETE ON notes BEGIN DELETE FROM orders; END",
      "CREATE TRIGGER twice AFTER INSERT ON notes BEGIN DELETE FROM notes WHERE id = 1; END",
    );
    await denied(
      world,
      "INSERT INTO every VALUES (9, 9, 9)",
      "DELETE FROM notes",
      "INSERT INTO notes VALUES (5, 'through two triggers')",
      "DELETE FROM customers WHERE id = 1",
      "UPDATE customers SET id = 7 WHERE id = 1",
      "REPLACE INTO customers VALUES (1)",
      "INSERT OR REPLACE INTO orders VALUES (1, 1, 1)",
      "INSERT INTO orders VALUES (1, 1, 1) ON CONFLICT(id) DO UPDATE SET total = 0",
      "INSERT INTO orders SELECT id + 10, 1, NULL FROM orders RETURNING id",
      "UPDATE orders SET total = 0 FROM notes WHERE notes.id = orders.id",
      'WITH x AS (SELECT 1 AS id) UPDATE main."ORDERS" SET total = 0 WHERE id IN (SELECT id FROM x)',
      "WITH orders AS (SELECT 1) DELETE FROM main.orders",
      "DELETE FROM [Orders] -- just looking",
    );
  });
});

test("no change of the schema reaches a table that a rule denies", async () => {
  await withGuarded({}, async (world) => {
    await denied(
      world,
      "DROP TABLE orders",
      'DROP TABLE IF EXISTS "orders"',
      "DROP TABLE customers",
      "ALTER TABLE orders RENAME TO free",
      "ALTER TABLE orders DROP COLUMN customer",
      "ALTER TABLE orders ADD COLUMN x",
      "CREATE INDEX i ON orders (customer)",
      "CREATE TRIGGER t AFTER INSERT ON orders BEGIN SELECT 1; END",
      "REINDEX orders",
      "ANALYZE orders",
    );
  });
});

test("a trigger made while nobody looks is seen through when it fires", async () => {
  await withGuarded({ actions: ["delete"] }, async (world) => {
    await world.setup("CREATE TRIGGER later AFTER UPDATE ON notes BEGIN DELETE FROM orders; END");
    await denied(world, "UPDATE notes SET body = 'x'");
  });
});

test("whatever replaces rows counts as deleting them", async () => {
  await withGuarded({ actions: ["delete"] }, async (world) => {
    await world.setup(
      "CREATE TRIGGER sly AFTER UPDATE ON notes BEGIN INSERT OR/**/REPLACE INTO orders VALUES (1, 1, 99); END",
    );
    await denied(
      world,
      "REPLACE INTO orders VALUES (1, 1, 1)",
      "INSERT OR REPLACE INTO orders VALUES (1, 1, 1)",
      "UPDATE OR REPLACE orders SET total = 30 WHERE id = 1",
      "UPDATE notes SET body = 'x'",
    );
    await world.rule({ tableGlob: "slots", effect: "deny", actions: ["delete"] });
    await world.setup("CREATE TABLE slots (n INTEGER UNIQUE ON CONFLICT REPLACE)");
    await denied(world, "INSERT INTO slots VALUES (1)");
    // The word alone is no reason.
    await world.setup("UPDATE orders SET total = total WHERE replace('a', 'b', 'c') = 'never'");
  });
});

test("a bound that bounds nothing is none", async () => {
  await withGuarded({ unboundedOnly: true }, async (world) => {
    await denied(
      world,
      "DELETE FROM orders",
      "DELETE FROM orders WHERE 1",
      "DELETE FROM orders WHERE TRUE OR 1 = 2",
      "UPDATE orders SET total = 1 WHERE (1 = 1)",
      "UPDATE orders SET total = 1 FROM notes",
      "WITH x AS (SELECT 1) DELETE FROM orders RETURNING id",
      "DROP TABLE orders",
      "DELETE FROM orders WHERE id = id",
      "DELETE FROM orders WHERE orders.id IS +(ID)",
      "DELETE FROM orders WHERE orders.id = ORDERS.id",
      "DELETE FROM orders WHERE id <= id COLLATE nocase AND 1",
      "DELETE FROM orders WHERE id = 1 OR 1",
      "DELETE FROM orders WHERE 'a' = 'a' OR id = 1",
      "DELETE FROM orders WHERE NOT (id <> id)",
      "DELETE FROM orders WHERE (SELECT 1)",
      "DELETE FROM orders WHERE EXISTS (SELECT 1) AND NOT EXISTS (SELECT 1 WHERE 0)",
      "DELETE FROM orders WHERE 1 IN (SELECT 1)",
      "DELETE FROM orders WHERE id = 1 OR abs(-1)",
      "DELETE FROM orders WHERE id = 1 OR NOT 1 > 2",
      "DELETE FROM orders WHERE NOT (id = 1 AND abs(0))",
      "DELETE FROM orders WHERE NOT (NOT (id = 1 OR NOT -1 + 1))",
    );
    await world.setup(
      "UPDATE orders SET total = 10 WHERE id = 1",
      "DELETE FROM orders WHERE id = 77 OR 0 OR 'a' = 'b'",
      "DELETE FROM orders WHERE id = 77 AND 1",
      "DELETE FROM orders WHERE id = 77 AND NOT abs(0)",
      "DELETE FROM orders WHERE NOT (id <> 77 OR 1 > 2)",
      "DELETE FROM orders WHERE id = customer + 1000",
      "DELETE FROM orders WHERE id = -id",
      "DELETE FROM orders WHERE EXISTS (SELECT 1 FROM notes WHERE 0)",
      "UPDATE orders SET total = 1 FROM (SELECT 77 AS id) AS other WHERE orders.id = other.id",
      "DELETE FROM orders WHERE EXISTS (SELECT 1 WHERE id = 77)",
    );
    // Whether the first half holds is known when it runs.
    const optional = await world.shop.query("DELETE FROM orders WHERE ? IS NULL AND 0 OR id = ?", [null, 77]);
    assertEquals(optional.status, 200, optional.text);
    const either = await world.shop.query("DELETE FROM orders WHERE (?1 IS NULL OR id = ?1) AND id > 77", [
      5,
    ]);
    assertEquals(either.status, 200, either.text);
    const idiom = await world.shop.query("DELETE FROM orders WHERE ?1 IS NULL OR id = ?1", [77]);
    assertEquals(idiom.status, 200, idiom.text);
  });
});

test("globs match whole names, whatever the case, and nothing in them is a pattern but * and ?", async () => {
  await withWrites(async (world) => {
    const { rule, setup, shop } = world;
    const tables = [
      "Ärger",
      "a.b",
      "a\nb",
      "a😀b",
      "axb",
      "axxb",
      "p%q",
      "pxq",
      "x_orders_x",
      "a+b",
      "a\\b",
      "[a]",
    ];
    for (const name of tables) await setup(`CREATE TABLE "${name}" (v)`);
    const globs: Record<string, readonly string[]> = {
      "ärGER": ["Ärger"],
      "a.b": ["a.b"],
      "A?B": ["a.b", "a\nb", "a😀b", "axb", "a+b", "a\\b"],
      "p%q": ["p%q"],
      "orders": [],
      "*ORDERS*": ["x_orders_x"],
      "a+b": ["a+b"],
      "a\\b": ["a\\b"],
      "[a]": ["[a]"],
      "[ax]*": [],
      "**": tables,
    };
    for (const [tableGlob, expected] of Object.entries(globs)) {
      const id = await rule({ tableGlob, effect: "deny" });
      const found: string[] = [];
      for (const name of tables) {
        const answer = await shop.query(`DELETE FROM "${name}" WHERE v = 1`);
        if (answer.status === 403) found.push(name);
      }
      assertEquals(found, expected, tableGlob);
      const path = `/api/namespaces/${shop.slug}/databases/main/rules/${id}`;
      assertEquals((await world.app.request("DELETE", path, { token: shop.token })).status, 200);
    }
  });
});

test("a glob of stars takes no time to be refuted", async () => {
  await withWrites(async ({ rule, setup, shop }) => {
    const name = "a".repeat(1000);
    await setup(`CREATE TABLE ${name} (v)`);
    await rule({ tableGlob: "a*".repeat(99) + "b", effect: "deny" });
    const started = performance.now();
    assertEquals((await shop.query(`DELETE FROM ${name}`)).status, 200);
    assert(performance.now() - started < 20_000);
  });
});

test("deny beats approval, a disabled rule is none, and a change holds for the next statement", async () => {
  await withWrites(async (world) => {
    const { app, rule, setup, shop } = world;
    await setup(...guarded);
    const path = `/api/namespaces/${shop.slug}/databases/main/rules`;
    const change = async (id: string, body: object) => {
      assertEquals((await app.request("PATCH", `${path}/${id}`, { token: shop.token, body })).status, 200);
    };
    const code = async () => (await shop.query("DELETE FROM orders WHERE id = 99")).body.code;
    const approval = await rule({ tableGlob: "*", effect: "require_approval" });
    const deny = await rule({ tableGlob: "ord*", effect: "deny" });
    assertEquals(await code(), "rule_denied");
    await change(deny, { enabled: false });
    assertEquals(await code(), "approval_required");
    await change(approval, { actions: ["insert"] });
    assertEquals(await code(), undefined);
    await change(approval, { actions: null });
    assertEquals(await code(), "approval_required");
    await app.request("DELETE", `${path}/${approval}`, { token: shop.token });
    assertEquals(await code(), undefined);
    const writer = await shop.mint("write");
    for (const [method, at] of [["GET", path], ["POST", path], ["DELETE", `${path}/${deny}`]] as const) {
      const body = method === "POST" ? { tableGlob: "x", effect: "deny" } : undefined;
      const asked = await app.request(method, at, { token: writer.token, ...(body ? { body } : {}) });
      assertEquals(asked.status, 403, `${method}: ${asked.text}`);
    }
  });
});

test("rows that arrive between the look and the write do not slip below a row threshold", async () => {
  await withWrites(async ({ rule, rows, setup, shop }) => {
    await setup("CREATE TABLE queue (id INTEGER PRIMARY KEY, done INTEGER DEFAULT 0)");
    await rule({ tableGlob: "queue", effect: "require_approval", actions: ["update"], minRows: 3 });
    for (let round = 0; round < 15; round++) {
      await setup("DELETE FROM queue", "INSERT INTO queue (done) VALUES (0), (0)");
      const [update] = await Promise.all([
        shop.query("UPDATE queue SET done = 1 WHERE done = 0"),
        shop.query("INSERT INTO queue (done) VALUES (0)"),
        shop.query("INSERT INTO queue (done) VALUES (0)"),
      ]);
      const [[changed]] = await rows("SELECT count(*) FROM queue WHERE done = 1") as [[number]];
      assert(changed <= 2, `${changed} rows were changed`);
      if (update?.status !== 200) {
        assertEquals([update?.body.code, changed], ["approval_required", 0]);
      }
    }
  });
});

test("a batch is held as a whole, and what was approved runs as it was asked for", async () => {
  for (const transaction of [true, false]) {
    await withWrites(async ({ decide, redeem, rows, rule, setup, shop }) => {
      await setup(...guarded);
      await rule({ tableGlob: "orders", effect: "require_approval" });
      const held = heldBy(
        await shop.batch([
          ["INSERT INTO notes VALUES (2, 'first')"],
          ["DELETE FROM orders WHERE id = ?", 1],
          ["SELECT count(*) FROM orders"],
        ], { transaction }),
      );
      assertEquals(await rows("SELECT count(*) FROM notes"), [[1]]);
      const { statements } = JSON.parse((await decide(held.id, "approve")).text).data;
      assertEquals(statements.map(({ sql }: { sql: string }) => sql.slice(0, 6)), [
        "INSERT",
        "DELETE",
        "SELECT",
      ]);
      const ran = await redeem(held.approvalToken);
      assertEquals([ran.status, ran.body.data instanceof Array], [200, true], ran.text);
      assertEquals(await rows("SELECT count(*) FROM orders"), [[2]]);
    });
  }
});

test("a repeated call is answered as it was, whatever rules there are by now", async () => {
  await withWrites(async ({ rows, rule, setup, shop }) => {
    await setup("CREATE TABLE t (v)");
    const options = { headers: { "idempotency-key": "once" } };
    assertEquals((await shop.query("INSERT INTO t VALUES (1)", [], options)).status, 200);
    await rule({ tableGlob: "t", effect: "require_approval" });
    const again = await shop.query("INSERT INTO t VALUES (1)", [], options);
    assertEquals([again.status, again.headers.get("idempotency-replayed")], [200, "true"], again.text);
    heldBy(await shop.query("INSERT INTO t VALUES (1)"));
    assertEquals(await rows("SELECT count(*) FROM t"), [[1]]);
  });
});
