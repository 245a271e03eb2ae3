// `errorDetail` kinds one by one: what went wrong, where, and a hint that says what to do next.
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { ErrorDetail } from "../../lib/core/errors.ts";
import type { ApiAnswer } from "../testing/call_api.ts";
import { testSteps } from "../testing/cases.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { isEmbedded } from "../testing/tenant_settings.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("details of errors", run);

const schema = [
  "CREATE TABLE customers (id INTEGER PRIMARY KEY, email TEXT UNIQUE, name TEXT NOT NULL)",
  "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), " +
  "total INTEGER CHECK (total >= 0), shelf TEXT, place TEXT, UNIQUE (shelf, place))",
  "CREATE TABLE strict_one (id INTEGER PRIMARY KEY, n INTEGER) STRICT",
  "INSERT INTO customers VALUES (1, 'a@x', 'Ada'), (2, 'b@x', 'Ben')",
  "INSERT INTO orders VALUES (1, 1, 5, 'A', '1')",
];

async function shop(app: StartedApp, slug: string): Promise<TestNamespace> {
  const tenant = await app.namespace(slug);
  const made = await tenant.batch(schema.map((sql) => [sql] as const));
  assertEquals(made.status, 200, made.text);
  return tenant;
}

function sqlError(answer: ApiAnswer): ErrorDetail {
  assertEquals([answer.status, answer.body.code], [400, "sql_error"], answer.text);
  const { errorDetail } = answer.body;
  assert(errorDetail, answer.text);
  for (const name of ["kind", "table", "column", "hint"]) assert(name in errorDetail, answer.text);
  assertMatch(errorDetail.hint, /^[A-Z][^.]+[^.]$/);
  return errorDetail;
}

function place({ kind, table, column }: ErrorDetail): unknown[] {
  return [kind, table, column];
}

testSteps("what errorDetail says", shop, {
  "unique_violation names table and column, its hint depends on the verb": async (tenant) => {
    const insert = sqlError(await tenant.query("INSERT INTO customers VALUES (3, 'a@x', 'Cy')"));
    assertEquals(place(insert), ["unique_violation", "customers", "email"]);
    assertStringIncludes(insert.hint, "ON CONFLICT");
    const update = sqlError(await tenant.query("UPDATE customers SET email = 'a@x' WHERE id = 2"));
    assertEquals(place(update), ["unique_violation", "customers", "email"]);
    assertNotIncludes(update.hint, "ON CONFLICT");
    const key = sqlError(await tenant.query("INSERT INTO customers VALUES (1, 'c@x', 'Cy')"));
    assertEquals(place(key), ["unique_violation", "customers", "id"]);
  },
  "unique_violation over several columns names them all": async (tenant) => {
    const detail = sqlError(await tenant.query("INSERT INTO orders VALUES (2, 1, 1, 'A', '1')"));
    assertEquals(place(detail), ["unique_violation", "orders", "shelf"]);
    assertEquals(detail.columns, ["shelf", "place"]);
  },
  "unique_violation and not_null_violation tell names apart that hold dots and commas": async (tenant) => {
    await tenant.setup('CREATE TABLE "a.b" ("c.d" UNIQUE, "e, f.g" NOT NULL, x, UNIQUE (x, "e, f.g"))');
    await tenant.query(`INSERT INTO "a.b" VALUES (1, 2, 3)`);
    const one = sqlError(await tenant.query(`INSERT INTO "a.b" VALUES (1, 4, 5)`));
    assertEquals(place(one), ["unique_violation", "a.b", "c.d"]);
    const several = sqlError(await tenant.query(`INSERT INTO "a.b" VALUES (2, 2, 3)`));
    assertEquals(place(several), ["unique_violation", "a.b", "x"]);
    assertEquals(several.columns, ["x", "e, f.g"]);
    const missing = await tenant.query(`INSERT INTO "a.b" VALUES (3, NULL, 3)`);
    const { kind, table, column } = missing.body.errorDetail ?? {};
    assertEquals([kind, table, column], ["not_null_violation", "a.b", "e, f.g"]);
  },
  "not_null_violation names table and column": async (tenant) => {
    const detail = sqlError(await tenant.query("INSERT INTO customers (id) VALUES (3)"));
    assertEquals(place(detail), ["not_null_violation", "customers", "name"]);
    const update = sqlError(await tenant.query("UPDATE customers SET name = NULL"));
    assertEquals(place(update), ["not_null_violation", "customers", "name"]);
    assertStringIncludes(update.hint, "name");
  },
  "foreign_key_violation names the table that the statement writes": async (tenant) => {
    const insert = sqlError(await tenant.query("INSERT INTO orders (customer_id) VALUES (99)"));
    assertEquals(place(insert), ["foreign_key_violation", "orders", null]);
    assertEquals(
      insert.hint,
      "Insert the row that is referred to first, or correct the reference: customer_id of orders refers to id of customers",
    );
    const remove = sqlError(await tenant.query("DELETE FROM customers WHERE id = 1"));
    assertEquals(place(remove), ["foreign_key_violation", "customers", null]);
    assertEquals(
      remove.hint,
      "Delete or change the rows that refer to this one first: customer_id of orders refers to id of customers",
    );
    await tenant.setup(
      "CREATE TABLE a (id INTEGER PRIMARY KEY)",
      "CREATE TABLE b (id INTEGER PRIMARY KEY, a REFERENCES A ON DELETE CASCADE)",
      "CREATE TABLE c (a REFERENCES a ON DELETE SET NULL)",
      "CREATE TABLE d (b REFERENCES b ON DELETE RESTRICT)",
      "INSERT INTO a VALUES (1)",
      "INSERT INTO b VALUES (2, 1)",
      "INSERT INTO d VALUES (2)",
    );
    const along = sqlError(await tenant.query("DELETE FROM a"));
    assertEquals(along.hint, "Delete or change the rows that refer to this one first: b of d refers to b");
  },
  "foreign_key_violation is what every action of a foreign key says that refuses, with the table written":
    async (tenant) => {
      await tenant.setup("CREATE TABLE shelves (id INTEGER PRIMARY KEY)");
      await tenant.query(
        "CREATE TABLE boxes (shelf REFERENCES shelves ON DELETE RESTRICT ON UPDATE RESTRICT)",
      );
      await tenant.setup("CREATE TRIGGER clear AFTER DELETE ON customers BEGIN DELETE FROM shelves; END");
      await tenant.query("INSERT INTO shelves VALUES (1)");
      await tenant.query("INSERT INTO boxes VALUES (1)");
      const refused: readonly (readonly [sql: string, table: string])[] = [
        ["DELETE FROM shelves", "shelves"],
        ["UPDATE shelves SET id = 2", "shelves"],
        ["REPLACE INTO shelves VALUES (1)", "shelves"],
        ["DELETE FROM customers WHERE id = 2", "customers"],
      ];
      for (const [sql, table] of refused) {
        const detail = sqlError(await tenant.query(sql));
        assertEquals([sql, ...place(detail)], [sql, "foreign_key_violation", table, null]);
      }
    },
  "a deferred foreign key that is still broken at the end is a foreign_key_violation and not kept": async (
    tenant,
  ) => {
    await tenant.setup("CREATE TABLE d (p INTEGER REFERENCES customers(id) DEFERRABLE INITIALLY DEFERRED)");
    const single = await tenant.query("INSERT INTO d VALUES (99)");
    assertEquals([single.status, single.body.errorDetail?.kind], [400, "foreign_key_violation"], single.text);
    const batch = await tenant.batch([["INSERT INTO d VALUES (98)"], ["SELECT 1"]], { transaction: true });
    assertEquals([batch.status, batch.body.errorDetail?.kind], [400, "foreign_key_violation"], batch.text);
    const repaired = await tenant.batch([
      ["INSERT INTO d VALUES (97)"],
      ["INSERT INTO customers VALUES (97, NULL, 'Late')"],
    ], { transaction: true });
    assertEquals(repaired.status, 200, repaired.text);
    assertEquals((await tenant.query("SELECT p FROM d")).text.includes('"rows":[[97]]'), true);
  },
  "check_violation names the table that the statement writes": async (tenant) => {
    const detail = sqlError(await tenant.query("UPDATE orders SET total = -1"));
    assertEquals(place(detail), ["check_violation", "orders", null]);
    // The hint holds a statement that runs.
    const [show = ""] = /SELECT .*'/.exec(detail.hint) ?? [];
    assertStringIncludes((await tenant.query(show)).text, "CHECK (total >= 0)");
  },
  "unknown_table names it and what may have been meant": async (tenant) => {
    for (
      const [sql, name] of [["SELECT * FROM custmers", "custmers"], [
        "DELETE FROM customer",
        "customer",
      ]] as const
    ) {
      const detail = sqlError(await tenant.query(sql));
      assertEquals(place(detail), ["unknown_table", name, null]);
      assertStringIncludes(detail.hint, "customers");
    }
  },
  "a misspelt name of a service table is refused without telling the right ones": async (tenant) => {
    const answer = await tenant.query("SELECT * FROM _service_meta_repla");
    assertEquals([answer.status, answer.body.code], [403, "statement_refused"]);
    assertEquals(answer.text.includes("_service_meta_replay"), false);
  },
  "unknown_column names it and what may have been meant": async (tenant) => {
    const cases = [
      ["SELECT emial FROM customers", null, "emial", "email"],
      ["SELECT c.nam FROM customers c", "customers", "nam", "name"],
      [
        "SELECT o.totl, c.name FROM orders AS o JOIN customers c ON c.id = o.customer_id",
        "orders",
        "totl",
        "total",
      ],
      ["SELECT (SELECT x.emial FROM customers x) FROM orders", "customers", "emial", "email"],
      ["SELECT C.nam FROM customers c", "customers", "nam", "name"],
      ["SELECT main.customers.nam FROM customers", "customers", "nam", "name"],
      ["UPDATE orders AS o SET total = o.totl", "orders", "totl", "total"],
      ['SELECT "emial" FROM customers', null, "emial", "email"],
      ['SELECT c."emial" FROM customers c', "customers", "emial", "email"],
      ["UPDATE orders SET totl = 1", "orders", "totl", "total"],
      ["INSERT INTO orders (customer) VALUES (1)", "orders", "customer", "customer_id"],
    ] as const;
    for (const [sql, table, column, near] of cases) {
      const detail = sqlError(await tenant.query(sql));
      assertEquals([detail.kind, detail.column], ["unknown_column", column], sql);
      if (table !== null) assertEquals(detail.table, table, sql);
      assertStringIncludes(detail.hint, near, sql);
    }
  },
  "hints about names are about what is wrong with them and never propose the name that failed": async (
    tenant,
  ) => {
    await tenant.batch([
      ["CREATE VIEW ruined AS SELECT nope FROM customers"],
      ["CREATE TRIGGER ruins AFTER DELETE ON orders BEGIN INSERT INTO gone VALUES (old.id); END"],
    ]);
    const upsert = "INSERT INTO customers (id, name) VALUES (1, 'a') ON CONFLICT (id) DO UPDATE SET name =";
    const cases = [
      // Nothing is called so there: an alias that is not, a table behind an alias, one that is elsewhere.
      ["SELECT z.name FROM customers c", "Write c before name: z stands for no table there"],
      ["SELECT customers.name FROM customers c", "Write c before name: customers stands for no table there"],
      ["SELECT z.* FROM customers c", "Write c before the *: z stands for no table there"],
      ["SELECT x.total FROM customers c JOIN orders o", "Write o before total: x stands for no table there"],
      ["SELECT y.a FROM (SELECT id AS a FROM orders) z", "Write z before a: y stands for no table there"],
      [
        "SELECT z.nam FROM customers c",
        "Check z before nam: z stands for no table there; the statement has c",
      ],
      ["SELECT z.id", "Check z before id: z stands for no table there"],
      [
        "SELECT c.id FROM orders o WHERE EXISTS (SELECT 1 FROM customers c)",
        "Check c before id: c stands for no table there",
      ],
      [
        "SELECT c.id FROM customers c, (SELECT c.id) x",
        "Check c before id: c stands for no table there",
      ],
      // A table that is filled has no name in what fills it.
      [
        "INSERT INTO customers (id, name) SELECT k.id, z.name FROM customers k",
        "Write k before name: z stands for no table there",
      ],
      [
        "INSERT INTO customers (id, name) VALUES (3, 'a') RETURNING z.name",
        "Write customers before name: z stands for no table there",
      ],
      [
        `${upsert} customer.name`,
        "Write customers or excluded before name: customer stands for no table there",
      ],
      // The column is in another table, or in what is none.
      [
        "SELECT total FROM customers",
        "Check the name of total; describe lists the columns; orders has a column of that name",
      ],
      [
        "WITH x AS (SELECT id AS a FROM orders) SELECT x.b FROM x",
        "Check the name of b among the columns of x",
      ],
      [`${upsert} excluded.nam`, "Check the name of nam among the columns of excluded"],
      [
        "WITH x AS (SELECT id AS a FROM orders) SELECT b FROM x",
        "Check the name of b; describe lists the columns: orders has id, customer_id, total, shelf, place",
      ],
      [
        'SELECT 1 FROM customers WHERE name = "Ada"',
        "Write text in single quotes, or check the name of Ada; describe lists the columns: customers has id, email, name",
      ],
      // What the statement does not name itself.
      [
        "SELECT * FROM ruined",
        "Mend the view, trigger or foreign key that names nope: the statement itself does not",
      ],
      [
        "DELETE FROM orders",
        "Mend the view, trigger or foreign key that names gone: the statement itself does not",
      ],
      ["SELECT * FROM t", "Check the name of t: there is customers, orders, ruined, strict_one"],
    ] as const;
    for (const [sql, hint] of cases) assertEquals(sqlError(await tenant.query(sql)).hint, hint, sql);
  },
  "hints about names of a statement too long to be read again say nothing that they do not know": async (
    tenant,
  ) => {
    const filler = `/* ${"x".repeat(50_000)} */`;
    const cases = [
      [
        "SELECT c.nam FROM customers c",
        ...["c", "Check the name of nam; describe lists the columns"],
      ],
      [
        "SELECT customers.nam FROM customers",
        ...["customers", "Check the name of nam; describe lists the columns; did you mean name?"],
      ],
      [
        "INSERT INTO orders (total) SELECT emial FROM customers",
        ...[null, "Check the name of emial; describe lists the columns"],
      ],
      [
        "SELECT 1 FROM custmers",
        "custmers",
        "Check the name of custmers; tables lists what there is; did you mean customers?",
      ],
    ] as const;
    for (const [sql, table, hint] of cases) {
      const detail = sqlError(await tenant.query(`${sql} ${filler}`));
      assertEquals([detail.table, detail.hint], [table, hint], sql);
    }
  },
  "unknown_column of what ALTER TABLE names has the name without quotes": async (tenant) => {
    for (const change of ["RENAME COLUMN emial TO mail", "DROP COLUMN emial"]) {
      const detail = sqlError(await tenant.query(`ALTER TABLE customers ${change}`));
      assertEquals(place(detail), ["unknown_column", "customers", "emial"]);
      assertStringIncludes(detail.hint, "of emial");
      assertStringIncludes(detail.hint, "email");
    }
  },
  "unknown_column names the table that is written only where the column is looked for there": async (
    tenant,
  ) => {
    const cases = [
      ["INSERT INTO orders (total) SELECT zz FROM customers", null],
      ["UPDATE orders SET total = (SELECT zz FROM customers)", null],
      ["UPDATE orders SET total = zz", "orders"],
      ["INSERT INTO orders (id) VALUES (1) ON CONFLICT DO UPDATE SET total = zz", "orders"],
    ] as const;
    for (const [sql, table] of cases) {
      assertEquals(place(sqlError(await tenant.query(sql))), ["unknown_column", table, "zz"], sql);
    }
  },
  "a constraint whose words name no table has the table that is written": async (tenant) => {
    await tenant.setup("CREATE UNIQUE INDEX lower_name ON customers (lower(name))");
    const unique = sqlError(await tenant.query("INSERT INTO customers VALUES (3, 'c@x', 'ADA')"));
    assertEquals(place(unique), ["unique_violation", "customers", null]);
    const key = sqlError(await tenant.query("INSERT INTO customers VALUES ('x', 'y', 'z')"));
    assertEquals(place(key), ["type_mismatch", "customers", "id"]);
    assertEquals(key.hint, "Use a value of the type that id of customers declares");
    // The engine says the same of a LIMIT, which is no column's.
    const limit = sqlError(await tenant.query("INSERT INTO customers SELECT 9, 'q', 'r' LIMIT 'x'"));
    assertEquals(place(limit), ["type_mismatch", "customers", null]);
    const strict = sqlError(await tenant.query("INSERT INTO strict_one VALUES (1, 'x')"));
    assertEquals(place(strict), ["type_mismatch", "strict_one", "n"]);
    await tenant.setup("CREATE VIRTUAL TABLE boxes USING rtree (id, low, high)");
    await tenant.query("INSERT INTO boxes VALUES (1, 1, 2)");
    const box = sqlError(await tenant.query("INSERT INTO boxes VALUES (2, 5, 2)"));
    assertEquals(place(box), ["check_violation", "boxes", null]);
    const same = sqlError(await tenant.query("INSERT INTO boxes VALUES (1, 1, 2)"));
    assertEquals(place(same), ["unique_violation", "boxes", "id"]);
    await tenant.setup("CREATE VIRTUAL TABLE notes USING fts5 (body)");
    await tenant.query("INSERT INTO notes (rowid, body) VALUES (1, 'a')");
    const note = sqlError(await tenant.query("INSERT INTO notes (rowid, body) VALUES (1, 'b')"));
    assertEquals(place(note), ["unique_violation", "notes", null]);
  },
  "a message never repeats a parameter or the value of a row, and repeats what the statement says": async (
    tenant,
  ) => {
    const secret = "hunter2SECRET";
    await tenant.setup("CREATE VIRTUAL TABLE words USING fts5(a, b)");
    await tenant.query("INSERT INTO words VALUES ('x', 'y')");
    await tenant.setup("CREATE TABLE kept (path)");
    await tenant.query("INSERT INTO kept VALUES (?)", [secret]);
    const match = "SELECT * FROM words WHERE words MATCH ?";
    const cases: readonly (readonly [sql: string, param: string | null, message: string])[] = [
      ["SELECT json_extract('{}', ?)", secret, "bad JSON path: '…'"],
      ["SELECT json_extract('{}', path) FROM kept", null, "bad JSON path: '…'"],
      ["UPDATE kept SET path = json_set('{}', ?, 1)", `it's: "${secret}"`, "bad JSON path: '…'"],
      ["SELECT * FROM json_each('{}', ?)", secret, "bad JSON path: '…'"],
      [match, `${secret}:a`, "no such column: …"],
      [match, `NEAR(a b, ${secret})`, 'expected integer, got "…"'],
      [match, `a ^${secret} ${secret}(`, 'fts5: syntax error near ""'],
      [match, `NEAR(a b, 1 ${secret})`, 'fts5: syntax error near "…"'],
      [match, `*${secret}`, "unknown special query: …"],
      [
        "INSERT INTO words (words) VALUES (?)",
        "delete-all",
        "'delete-all' may only be used with a contentless or external content fts5 table",
      ],
      [
        "SELECT * FROM words WHERE words MATCH 'x' AND rank MATCH ?",
        `${secret}(`,
        "parse error in rank function: …",
      ],
      ["SELECT * FROM pragma_foreign_key_check(?)", secret, "no such table: …"],
      ["SELECT c.* FROM kept, pragma_foreign_key_check(path) c", null, "no such table: …"],
      ["SELECT * FROM pragma_integrity_check(?)", secret, "no such table: …"],
      ["SELECT * FROM pragma_quick_check(?)", `main.${secret}`, "no such table: …"],
      ["SELECT json_extract('{}', 'mine')", null, "bad JSON path: 'mine'"],
      ["SELECT * FROM words WHERE words MATCH 'mine:a'", null, "no such column: mine"],
    ];
    for (const [sql, param, message] of cases) {
      const answer = await tenant.query(sql, param === null ? [] : [param]);
      sqlError(answer);
      assertEquals(answer.body.error, message, sql);
      if (message === "no such column: …") {
        assertStringIncludes(answer.body.errorDetail?.hint ?? "", "column that a parameter");
      }
      assertNotIncludes(answer.text, "hunter2");
      const proposed = await tenant.batch([[sql, ...(param === null ? [] : [param])]], {
        headers: { "x-dry-run": "1" },
      });
      assertNotIncludes(proposed.text, "hunter2");
    }
  },
  "syntax_error for what is no SQL and for wrong numbers of values and arguments": async (tenant) => {
    for (
      const sql of ["SELEC 1", "SELECT", "INSERT INTO customers VALUES (1)", "SELECT count(1, 2, 3)"]
    ) {
      assertEquals(sqlError(await tenant.query(sql)).kind, "syntax_error", sql);
    }
  },
  "type_mismatch for a value that a STRICT table or an INTEGER key does not take": async (tenant) => {
    const strict = sqlError(await tenant.query("INSERT INTO strict_one (n) VALUES ('x')"));
    assertEquals(place(strict), ["type_mismatch", "strict_one", "n"]);
    const key = sqlError(await tenant.query("INSERT INTO customers VALUES ('x', 'y', 'z')"));
    assertEquals(key.kind, "type_mismatch");
  },
  "an unknown function has near names, and one that the engine is built without is not proposed for itself":
    async (
      tenant,
    ) => {
      assertEquals(sqlError(await tenant.query("SELECT lenght('a')")).hint, "Did you mean length?");
      const absent = await tenant.query("SELECT ln(2)");
      // Whether the engine has it is its build's; where it has not, the hint says so.
      if (absent.status !== 200) assertStringIncludes(sqlError(absent).hint, "built without it");
    },
  "too_big for a cascade of more than 1000 levels, of which nothing stays": async (tenant) => {
    await tenant.query(
      "CREATE TABLE reply (id INTEGER PRIMARY KEY, of INTEGER REFERENCES reply ON DELETE CASCADE)",
    );
    await tenant.query("CREATE INDEX reply_of ON reply (of)");
    const fill = (rows: number) =>
      tenant.query(
        "INSERT INTO reply WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) " +
          "SELECT i, nullif(i - 1, 0) FROM n",
        [rows],
      );
    const count = async () => rowsOf(await tenant.query("SELECT count(*) FROM reply"));
    await fill(1001);
    assertEquals(sqlError(await tenant.query("DELETE FROM reply WHERE id = 1")).kind, "too_big");
    assertEquals(await count(), [[1001]]);
    assertEquals((await tenant.query("DELETE FROM reply WHERE id = 2")).status, 200);
    assertEquals(await count(), [[1]]);
    await tenant.query("DROP TABLE reply");
  },
  "too_big for values and statements beyond the engine's limits": async (tenant) => {
    const numbers = (length: number) => Array(length).fill("1").join();
    const tables = (length: number) => Array.from({ length }, (_, at) => `(SELECT 1) AS t${at}`).join();
    const trigger = (length: number) =>
      `CREATE TRIGGER many AFTER DELETE ON orders BEGIN ${"DELETE FROM orders WHERE 0; ".repeat(length)}END`;
    const bounds: [name: string, most: number, sql: (length: number) => string][] = [
      ["columns", 1000, (length) => `SELECT ${numbers(length)}`],
      ["SELECTs", 200, (length) => Array(length).fill("SELECT 1").join(" UNION ALL ")],
      ["tables of a join", 64, (length) => `SELECT 1 FROM ${tables(length)}`],
      ["terms one inside the other", 1000, (length) => `SELECT ${Array(length).fill("1").join(" + ")}`],
      ["arguments", isEmbedded() ? 200 : 127, (length) => `SELECT max(${numbers(length)})`],
      ["statements of a trigger", 2000, trigger],
      ["pattern", isEmbedded() ? 1000 : 50_000, (length) => `SELECT 'a' LIKE '${"x".repeat(length)}'`],
    ];
    for (const [name, most, sql] of bounds) {
      assertEquals((await tenant.query(sql(most))).status, 200, name);
      assertEquals(sqlError(await tenant.query(sql(most + 1))).kind, "too_big", name);
    }
    await tenant.query("DROP TRIGGER many");
    const nested = (depth: number) => `SELECT ${"(".repeat(depth)}1${")".repeat(depth)}`;
    assertEquals((await tenant.query(nested(90))).status, 200);
    const beyond = ["SELECT zeroblob(1000000000)", ...isEmbedded() ? [] : [nested(120)]];
    for (const sql of beyond) {
      assertEquals(sqlError(await tenant.query(sql)).kind, "too_big", sql.slice(0, 40));
    }
  },
  "a trigger's own RAISE message reaches the caller as kind unknown": async (tenant) => {
    await tenant.query(
      "CREATE TRIGGER r BEFORE DELETE ON orders BEGIN SELECT RAISE(ABORT, 'orders are kept for ever'); END",
    );
    const answer = await tenant.query("DELETE FROM orders");
    assertEquals(sqlError(answer).kind, "unknown");
    assertStringIncludes(answer.body.error ?? "", "orders are kept for ever");
  },
  "unknown names of several lines are named as they are": async (tenant) => {
    const name = "a\n has no column named b\n";
    const insert = sqlError(await tenant.query(`INSERT INTO customers ("${name}") VALUES (1)`));
    assertEquals(insert.kind, "unknown_column");
    assertEquals(place(sqlError(await tenant.query(`SELECT * FROM "x\ny"`))), [
      "unknown_table",
      "x\ny",
      null,
    ]);
  },
});

test("a table whose AUTOINCREMENT is used up fails its INSERT and says so, and the storage is not full", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE used (id INTEGER PRIMARY KEY AUTOINCREMENT, v)");
  await tenant.setup("CREATE TABLE other (v)");
  await tenant.query(
    "CREATE TRIGGER pass AFTER INSERT ON other BEGIN INSERT INTO used (v) VALUES (new.v); END",
  );
  await tenant.query("INSERT INTO used VALUES (9223372036854775807, 1)");
  for (const sql of ["INSERT INTO used (v) VALUES (2)", "INSERT INTO other VALUES (2)"]) {
    const calls = [
      () => tenant.query(sql),
      () => tenant.query(sql, [], { headers: { "x-dry-run": "1" } }),
      () => tenant.batch([["SELECT 1"], [sql]]),
      () => tenant.batch([["INSERT INTO used VALUES (-1, 2)"], [sql]], { transaction: true }),
    ];
    for (const call of calls) {
      const answer = await call();
      const detail = sqlError(answer);
      assertEquals(place(detail), ["unknown", "used", null]);
      assertEquals(answer.body.error, "AUTOINCREMENT of used has no number left");
    }
  }
  assertEquals((await tenant.query("INSERT INTO used VALUES (-2, 2)")).status, 200);
  // A statement that takes the last ones has none of them in the end.
  await tenant.setup(
    "CREATE TABLE nearly (id INTEGER PRIMARY KEY AUTOINCREMENT, v)",
    "INSERT INTO nearly VALUES (9223372036854775806, 1)",
  );
  const few = await tenant.query("INSERT INTO nearly (v) VALUES (2), (3), (4)");
  assertEquals(place(sqlError(few)), ["unknown", "nearly", null]);
  assertEquals((await tenant.query("INSERT INTO nearly (v) VALUES (2)")).status, 200);
});

test("hints propose no table that only keeps the index of another", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE VIRTUAL TABLE docs USING fts5(body)");
  assertNotIncludes(sqlError(await tenant.query("SELECT * FROM doc_config")).hint, "docs_config");
  // `sz` is a column of `docs_docsize` alone.
  assertNotIncludes(sqlError(await tenant.query("SELECT sz FROM docs")).hint, "docs_docsize");
});

test("names that read like lists of names are told apart, however often one repeats another", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup('CREATE TABLE t ("a", "a, t.a")');
  for (const [repetitions, table] of [[60, `${"t.a, ".repeat(60)}t`], [200, null]] as const) {
    const name = `${"t.a, ".repeat(repetitions)}t`;
    await tenant.setup(`CREATE TABLE "${name}" ("z.z" UNIQUE)`);
    const insert = `INSERT INTO "${name}" VALUES (1)`;
    assertEquals((await tenant.query(insert)).status, 200);
    const { status, body } = await tenant.query(insert);
    assertEquals([status, body.errorDetail?.kind], [400, "unique_violation"]);
    // What is too long to be taken apart is told as the engine's words have it.
    if (table !== null) assertEquals([body.errorDetail?.table, body.errorDetail?.column], [table, "z.z"]);
  }
});

test("a name longer than anybody types has no near matches", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE orders (total)");
  const hintOf = async (column: string) =>
    (await tenant.query(`SELECT ${column} FROM orders`)).body.errorDetail?.hint;
  assertEquals((await hintOf(`total_${"x".repeat(20)}`))?.includes("did you mean total?"), true);
  assertEquals((await hintOf(`total_${"x".repeat(900_000)}`))?.includes("did you mean"), false);
});

function assertNotIncludes(actual: string, unwanted: string): void {
  assertEquals(actual.includes(unwanted), false, actual);
}
