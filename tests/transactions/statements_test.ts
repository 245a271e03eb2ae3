// Statements inside a transaction over several requests: what it sees, what stays of it, and that each of its statements
// passes the pipeline.
import { assert, assertEquals } from "@std/assert";
import { testSteps } from "../testing/cases.ts";
import { codeOf, messageOf, type TransactionWorld, worldIn } from "./transaction_world.ts";

const T = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE)";
/** A table, and one whose rows go with those that they refer to. */
const REFERRED = [
  "CREATE TABLE p (id INTEGER PRIMARY KEY, old)",
  "CREATE TABLE c (p REFERENCES p (id) ON DELETE CASCADE)",
  "INSERT INTO p VALUES (1, 1), (2, 2), (3, 3)",
];

testSteps<TransactionWorld>("inside a transaction", (app, slug) => worldIn(app, slug), {
  "its changes are seen by itself, by others after the commit only, and by nobody after a rollback": async (
    world,
  ) => {
    const { tenant, begin, rows } = world;
    await tenant.setup(T);
    const first = await begin("immediate");
    await first.exec("INSERT INTO t VALUES (1, ?)", ["x"]);
    assertEquals(await first.rows("SELECT * FROM t"), [[1, "x"]]);
    assertEquals(await rows("SELECT * FROM t"), []);
    assertEquals(first.autocommit, false);
    await first.commit();
    assertEquals([first.autocommit, first.lost], [true, null]);
    assertEquals(await rows("SELECT * FROM t"), [[1, "x"]]);
    const second = await begin();
    await second.exec("DELETE FROM t WHERE id = 1");
    await second.rollback();
    assertEquals(await rows("SELECT * FROM t"), [[1, "x"]]);
    assertEquals(await second.code("SELECT 1"), "transaction_timeout");
    // What was undone has run, and was paid.
    const log = "SELECT operation, status FROM _service_meta_query_log WHERE sql LIKE 'DELETE%'";
    assertEquals(await rows(log), [["query", "ok"]]);
    const audited = "SELECT count(*) FROM _service_meta_audit WHERE rows_written = 1";
    assertEquals(await rows(audited), [[1]]);
  },

  "a statement that fails leaves the transaction as it was": async ({ tenant, begin, rows }) => {
    await tenant.setup(T);
    const one = await begin();
    await one.exec("INSERT INTO t VALUES (1, 'x')");
    assertEquals(await one.code("INSERT INTO t VALUES (2, 'y'), (3, 'x')"), "sql_error");
    assertEquals(await one.code("SELEC 1"), "sql_error");
    assertEquals(await one.code("SELECT nothing FROM t"), "sql_error");
    await one.exec("INSERT INTO t VALUES (4, 'z')");
    await one.commit();
    assertEquals(await rows("SELECT id FROM t"), [[1], [4]]);
  },

  "changes() and last_insert_rowid() tell of the caller's own statements": async ({ tenant, begin }) => {
    await tenant.setup(T);
    const one = await begin();
    await one.exec("INSERT INTO t VALUES (7, 'x'), (8, 'y')");
    assertEquals(await one.rows("SELECT changes(), last_insert_rowid()"), [[2, 8]]);
    await one.exec("UPDATE t SET a = a || '!'");
    await one.exec("CREATE TABLE said (n)");
    await one.exec("UPDATE t SET a = a || '?'");
    for (const from of ["VALUES (changes())", "SELECT changes()", "SELECT changes() FROM t"]) {
      await one.exec(`INSERT INTO said ${from}`);
    }
    assertEquals(await one.rows("SELECT changes()"), [[2]]);
    assertEquals(await one.rows("SELECT n FROM said"), [[2], [1], [1], [1]]);
    await one.rollback();
  },

  "nested savepoints undo what is behind them, names as SQLite compares them": async (
    { tenant, begin, rows },
  ) => {
    await tenant.setup(T);
    const one = await begin();
    await one.savepoint("savepoint", 'outer "1"');
    await one.exec("INSERT INTO t VALUES (1, 'a')");
    await one.savepoint("savepoint", "call");
    await one.exec("INSERT INTO t VALUES (2, 'b')");
    await one.savepoint("rollback to", "CALL");
    assertEquals(await one.rows("SELECT id FROM t"), [[1]]);
    await one.exec("INSERT INTO t VALUES (3, 'c')");
    await one.savepoint("release", "call");
    for (const verb of ["release", "rollback to"] as const) {
      assertEquals(await messageOf(one.savepoint(verb, "call")), ["sql_error", "no such savepoint: call"]);
    }
    await one.savepoint("release", 'OUTER "1"');
    await one.commit();
    assertEquals(await rows("SELECT id FROM t"), [[1], [3]]);
    const audited = await rows(
      "SELECT count(*) FROM _service_meta_audit WHERE tables = '[\"t\"]' AND rows_written = 1",
    );
    assertEquals(audited, [[2]]);
    const logged = await rows(
      "SELECT sql FROM _service_meta_query_log WHERE sql LIKE 'INSERT INTO t VALUES (%' ORDER BY id",
    );
    assertEquals(logged.length, 3);
  },

  "statements that stop in the middle are audited with the tables of what stays": async (
    { tenant, begin, rows },
  ) => {
    await tenant.setup(T, "CREATE TABLE u (id)");
    const one = await begin();
    const statements = ["INSERT INTO t VALUES (1, 'x')", "INSERT INTO t VALUES (2, 'x')", "DELETE FROM u"];
    const batch = {
      statements: statements.map((sql) => ({ sql, params: [] })),
      ...{ atomic: false, batch: true },
    };
    assertEquals(await one.code("", batch), "sql_error");
    await one.commit();
    assertEquals(await rows("SELECT id FROM t"), [[1]]);
    const audited = "SELECT tables, rows_written FROM _service_meta_audit WHERE operation = 'batch'";
    assertEquals(await rows(audited), [['["t"]', 1]]);
  },

  "a changed schema is seen inside, and nothing that was learned under it outlives a rollback": async (
    world,
  ) => {
    const { tenant, begin, rows } = world;
    await tenant.setup(T, "INSERT INTO t VALUES (1, 'x')");
    const one = await begin("immediate");
    await one.exec("CREATE TABLE other (b TEXT)");
    await one.exec("INSERT INTO other SELECT a FROM t");
    assertEquals(await one.rows("SELECT * FROM other"), [["x"]]);
    assertEquals((await tenant.query("SELECT * FROM other")).body.code, "sql_error");
    await one.savepoint("savepoint", "s");
    await one.exec("ALTER TABLE other ADD COLUMN c DEFAULT 2");
    assertEquals(await one.rows("SELECT * FROM other"), [["x", 2]]);
    await one.savepoint("rollback to", "s");
    await one.exec("ALTER TABLE other ADD COLUMN d DEFAULT 3");
    assertEquals(await one.code("SELECT c FROM other"), "sql_error");
    assertEquals(await one.rows("SELECT b, d FROM other"), [["x", 3]]);
    await one.rollback();
    // This change gets the version that the one above had.
    await tenant.setup("CREATE TABLE other (e INTEGER, f INTEGER)", "INSERT INTO other VALUES (5, 6)");
    assertEquals(await rows("SELECT * FROM other"), [[5, 6]]);
    assertEquals((await tenant.query("INSERT INTO other SELECT a FROM t")).status, 400);
    const two = await begin();
    await two.exec("DROP TABLE other", [], { snapshots: false });
    await two.exec("CREATE TABLE other (g)");
    await two.commit();
    assertEquals((await tenant.query("SELECT g FROM other")).status, 200);
  },

  "a schema that a transaction has changed is the one of every statement after its commit": async (world) => {
    const { tenant, begin, rows } = world;
    await tenant.setup("CREATE TABLE u (id INTEGER PRIMARY KEY, a TEXT)", "CREATE VIEW v AS SELECT * FROM u");
    await tenant.setup("INSERT INTO u VALUES (1, 'x')");
    const one = await begin("immediate");
    await one.exec("DROP VIEW v", [], { snapshots: false });
    await one.exec("CREATE TABLE v (id INTEGER PRIMARY KEY)", [], { snapshots: false });
    await one.commit();
    // Whoever compiled this for the view that is gone would refuse it.
    assertEquals((await tenant.query("INSERT INTO v VALUES (1)")).status, 200);
    const two = await begin("immediate");
    await two.exec("ALTER TABLE u RENAME COLUMN a TO b", [], { snapshots: false });
    await two.exec("ALTER TABLE u ADD COLUMN c DEFAULT 7", [], { snapshots: false });
    await two.commit();
    assertEquals(await rows("INSERT INTO u (id) VALUES (2) RETURNING *"), [[2, null, 7]]);
  },

  "BEGIN DEFERRED reads one state, and its write after another writer's commit is busy": async (world) => {
    const { tenant, begin, rows } = world;
    await tenant.setup(T, "INSERT INTO t VALUES (1, 'x')");
    const one = await begin();
    assertEquals(await one.rows("SELECT a FROM t"), [["x"]]);
    await tenant.setup("UPDATE t SET a = 'y' WHERE id = 1");
    assertEquals(await one.rows("SELECT a FROM t"), [["x"]]);
    assertEquals(await one.code("UPDATE t SET a = 'z' WHERE id = 1"), "database_busy");
    // It holds nobody up, and can still read.
    await tenant.setup("UPDATE t SET a = 'w' WHERE id = 1");
    assertEquals(await one.rows("SELECT a FROM t"), [["x"]]);
    await one.rollback();
    assertEquals(await rows("SELECT a FROM t"), [["w"]]);
  },

  "a transaction that has begun and does nothing holds nobody up": async ({ tenant, begin, rows }) => {
    await tenant.setup(T);
    const idle = [await begin("immediate"), await begin("deferred"), await begin("readonly")];
    await idle[1]?.exec("SELECT 1");
    await tenant.setup("INSERT INTO t VALUES (1, 'x')");
    for (const one of idle) await one.rollback();
    assertEquals(await rows("SELECT count(*) FROM t"), [[1]]);
  },

  "writers wait in their order for a transaction that has the write slot": async (
    { tenant, begin, rows },
  ) => {
    await tenant.setup(T);
    const one = await begin("immediate");
    await one.exec("INSERT INTO t VALUES (1, 'x')");
    const waiting = [
      tenant.query("INSERT INTO t SELECT max(id) + 1, 'y' FROM t"),
      (async () => {
        const two = await begin("immediate");
        await two.exec("INSERT INTO t SELECT max(id) + 1, 'z' FROM t");
        await two.commit();
      })(),
      tenant.query("INSERT INTO t SELECT max(id) + 1, 'w' FROM t"),
    ];
    assertEquals(await rows("SELECT count(*) FROM t"), [[0]]);
    await one.exec("INSERT INTO t VALUES (2, 'v')");
    await one.commit();
    await Promise.all(waiting);
    assertEquals(await rows("SELECT id FROM t ORDER BY id"), [[1], [2], [3], [4], [5]]);
  },

  "a broken deferred reference fails the commit, and can be mended": async ({ tenant, begin, rows }) => {
    await tenant.setup(
      "CREATE TABLE p (id INTEGER PRIMARY KEY)",
      "CREATE TABLE c (p REFERENCES p DEFERRABLE INITIALLY DEFERRED)",
    );
    const one = await begin();
    await one.exec("INSERT INTO c VALUES (1)");
    assertEquals(await codeOf(one.commit()), "sql_error");
    assertEquals(one.autocommit, false);
    await one.exec("INSERT INTO p VALUES (1)");
    await one.commit();
    assertEquals(await rows("SELECT * FROM c"), [[1]]);
    const [[logged]] = await rows(
      "SELECT count(*) FROM _service_meta_query_log WHERE sql LIKE 'INSERT INTO %'",
    ) as [[number]];
    assertEquals(logged, 2);
  },

  "OR ROLLBACK ends the transaction as SQLite does": async ({ tenant, begin, rows }) => {
    await tenant.setup(T, "INSERT INTO t VALUES (1, 'x')");
    const one = await begin();
    await one.exec("INSERT INTO t VALUES (2, 'y')");
    assertEquals(await one.code("INSERT OR ROLLBACK INTO t VALUES (1, 'z')"), "sql_error");
    assertEquals([one.autocommit, one.lost], [true, null]);
    assertEquals(await one.code("INSERT INTO t VALUES (3, 'v')"), "transaction_timeout");
    assertEquals(await rows("SELECT id FROM t"), [[1]]);
    const [first] = await rows("SELECT count(*) FROM _service_meta_query_log WHERE sql LIKE 'INSERT%(2%'");
    assertEquals(first, [1]);
  },

  "READONLY, and every transaction of a read token, changes nothing": async ({ tenant, begin, rows }) => {
    await tenant.setup(T);
    const one = await begin("readonly");
    assertEquals(await one.rows("SELECT count(*) FROM t"), [[0]]);
    assertEquals(await one.code("INSERT INTO t VALUES (1, 'x')"), "sql_error");
    await tenant.setup("INSERT INTO t VALUES (2, 'y')");
    assertEquals(await one.rows("SELECT count(*) FROM t"), [[0]]);
    await one.commit();
    const two = await begin("immediate", { role: "read" });
    assertEquals(await two.rows("SELECT count(*) FROM t"), [[1]]);
    assertEquals(await two.code("INSERT INTO t VALUES (3, 'z')"), "role_too_low");
    await tenant.setup("INSERT INTO t VALUES (4, 'w')");
    await two.rollback();
    assertEquals(await rows("SELECT count(*) FROM t"), [[2]]);
  },

  "a role that was taken from the token counts at the next statement": async ({ tenant, begin, rows }) => {
    await tenant.setup(T);
    const one = await begin("immediate", { role: "write" });
    await one.exec("INSERT INTO t VALUES (1, 'x')");
    assertEquals(await one.code("CREATE TABLE u (b)"), "role_too_low");
    assertEquals(await one.code("INSERT INTO t VALUES (2, 'y')", { role: "read" }), "role_too_low");
    await one.rollback();
    assertEquals(await rows("SELECT count(*) FROM t"), [[0]]);
  },

  "what no role may run, and what ends or begins a transaction, is refused": async (
    { tenant, begin, rows },
  ) => {
    await tenant.setup(T);
    const one = await begin();
    await one.exec("INSERT INTO t VALUES (1, 'x')");
    for (const sql of ["COMMIT", "BEGIN", "ROLLBACK", "SAVEPOINT s", "ATTACH ':memory:' AS m", "VACUUM"]) {
      assertEquals(await one.code(sql), "statement_refused", sql);
    }
    assertEquals(await one.code("PRAGMA foreign_keys=OFF"), "validation_failed");
    assertEquals(await one.code("INSERT INTO t VALUES (2, 'y'); DROP TABLE t"), "multiple_statements");
    await one.commit();
    assertEquals(await rows("SELECT id FROM t"), [[1]]);
  },

  "a table that is rebuilt keeps the rows that refer to it, or does not get its name back": async (
    { tenant, begin, rows },
  ) => {
    await tenant.setup(...REFERRED);
    const rebuild = async (name: string) => {
      const one = await begin("immediate");
      await one.exec("CREATE TABLE copy (id INTEGER PRIMARY KEY)");
      await one.exec("INSERT INTO copy SELECT id FROM p WHERE id > 1");
      await one.exec("DROP TABLE p");
      return [one, await one.code(`ALTER TABLE copy RENAME TO "${name}"`)] as const;
    };
    const [nothing, nobody] = await rebuild("p");
    assertEquals(nobody, null);
    await nothing.rollback();
    await tenant.setup("INSERT INTO c VALUES (1), (2)");
    const [losing, refused] = await rebuild("P");
    assertEquals(refused, "migration_loses_rows");
    await losing.rollback();
    assertEquals(await rows("SELECT count(*), (SELECT count(*) FROM p) FROM c"), [[2, 3]]);
    const [other, elsewhere] = await rebuild("q");
    assertEquals(elsewhere, null);
    await other.commit();
    assertEquals(await rows("SELECT count(*), (SELECT count(*) FROM q) FROM c"), [[0, 2]]);
    const counted =
      "SELECT count(*) FROM _service_meta_query_log WHERE sql LIKE 'SELECT count(*) FROM main%'";
    assertEquals(await rows(counted), [[0]]);
  },

  "a table that is put aside for another of its name is not dropped with the rows that refer to it": async (
    { tenant, begin, rows },
  ) => {
    await tenant.setup(...REFERRED);
    const rebuild = async (name = "P") => {
      const one = await begin("immediate");
      await one.exec("ALTER TABLE p RENAME TO old");
      await one.exec(`CREATE TABLE "${name}" (id INTEGER PRIMARY KEY)`);
      await one.exec(`INSERT INTO "${name}" SELECT id FROM old WHERE id > 1`);
      return [one, await one.code("DROP TABLE old")] as const;
    };
    const [nothing, nobody] = await rebuild();
    assertEquals(nobody, null);
    await nothing.rollback();
    await tenant.setup("INSERT INTO c VALUES (1), (2)");
    const [losing, refused] = await rebuild();
    assertEquals(refused, "migration_loses_rows");
    const statements = ["SELECT 1", "DROP TABLE old"].map((sql) => ({ sql, params: [] }));
    assertEquals(await losing.code("", { statements, batch: true }), "migration_loses_rows");
    assertEquals(await losing.rows("SELECT count(*), (SELECT count(*) FROM old) FROM c"), [[2, 3]]);
    await losing.commit();
    assertEquals(await rows("SELECT count(*), (SELECT count(*) FROM p) FROM c"), [[2, 2]]);
    await tenant.setup("ALTER TABLE p RENAME TO new", "ALTER TABLE old RENAME TO p");
    const [other, elsewhere] = await rebuild("q");
    assertEquals(elsewhere, null);
    await other.commit();
    assertEquals(await rows("SELECT count(*), (SELECT count(*) FROM q) FROM c"), [[0, 2]]);
  },

  "a rule about many rows counts those that a REPLACE of the same transaction has taken the place of": async (
    { app, tenant, begin },
  ) => {
    await tenant.setup(
      "CREATE TABLE r (id INTEGER PRIMARY KEY, a UNIQUE)",
      "INSERT INTO r VALUES (1, 1), (2, 2), (3, 3)",
    );
    const made = await app.request("POST", `/api/namespaces/${tenant.slug}/databases/main/rules`, {
      token: tenant.token,
      body: { tableGlob: "r", effect: "deny", minRows: 4 },
    });
    assertEquals(made.status, 201, made.text);
    const replacing = [1, 2].map((id) => `REPLACE INTO r VALUES (${id}, ${id})`);
    const batch = await tenant.batch(replacing.map((sql) => [sql] as const), { transaction: true });
    assertEquals(batch.body.code, "rule_denied", batch.text);
    const one = await begin("immediate");
    const codes = [];
    for (const sql of replacing) codes.push(await one.code(sql));
    assertEquals(codes, [null, "rule_denied"]);
    assertEquals(await one.code("INSERT INTO r VALUES (4, 4)"), null);
    await one.rollback();
  },

  "a rule goes by what a name means inside, whatever it meant before": async ({ app, tenant, begin }) => {
    await tenant.setup("CREATE TABLE door (a)", "CREATE TABLE room (a)");
    const made = await app.request("POST", `/api/namespaces/${tenant.slug}/databases/main/rules`, {
      token: tenant.token,
      body: { tableGlob: "room", effect: "deny" },
    });
    assertEquals(made.status, 201, made.text);
    const INSERT = "INSERT INTO door VALUES (1)";
    await tenant.setup(INSERT);
    const one = await begin("immediate");
    for (
      const sql of [
        "DROP TABLE door",
        "CREATE VIEW door AS SELECT a FROM room",
        "CREATE TRIGGER through INSTEAD OF INSERT ON door BEGIN INSERT INTO room VALUES (new.a); END",
      ]
    ) await one.exec(sql, [], { snapshots: false });
    assertEquals(await one.code(INSERT), "rule_denied");
    await one.rollback();
    await tenant.setup(INSERT);
  },

  "a rule about many rows counts what stays of a failed call, and what a savepoint has not taken back":
    async (
      { app, tenant, begin },
    ) => {
      await tenant.setup(
        "CREATE TABLE m (id INTEGER PRIMARY KEY, a)",
        "INSERT INTO m VALUES (1, 1), (2, 2), (3, 3)",
        "CREATE TABLE free (a)",
      );
      const made = await app.request("POST", `/api/namespaces/${tenant.slug}/databases/main/rules`, {
        token: tenant.token,
        body: { tableGlob: "m", effect: "deny", minRows: 4 },
      });
      assertEquals(made.status, 201, made.text);
      const [two, ofOne] = ["UPDATE m SET a = 0 WHERE id < 3", "UPDATE m SET a = 0 WHERE id = 3"];
      const one = await begin("immediate");
      const statements = [two, "INSERT INTO m VALUES (1, 1)"].map((sql) => ({ sql, params: [] }));
      const failing = one.exec("", [], { statements, atomic: false, batch: true });
      assertEquals(await codeOf(failing), "sql_error");
      assertEquals(await one.code("DELETE FROM m WHERE id > 1"), "rule_denied");
      await one.savepoint("savepoint", "here");
      for (const name of ["here", "nowhere", "here", "here"]) {
        assertEquals([name, await one.code(ofOne)], [name, null]);
        const code = await codeOf(one.savepoint("rollback to", name));
        assertEquals(code, name === "nowhere" ? "sql_error" : null);
        if (code !== null) await one.savepoint("rollback to", "here");
      }
      // Of two of one name the inner one counts.
      assertEquals(await one.code(ofOne), null);
      await one.savepoint("savepoint", "HERE");
      await one.savepoint("rollback to", "here");
      assertEquals(await one.code(ofOne), "rule_denied");
      await one.rollback();
      const other = await begin("immediate");
      assertEquals(await other.code(two), null);
      assertEquals(await other.code("UPDATE free SET a = 1"), null);
      assertEquals(await other.code(ofOne), null);
      assertEquals(await other.code(ofOne), "rule_denied");
      await other.rollback();
    },

  "a rule that would hold a statement fails it and names the batch; one that denies denies": async (
    world,
  ) => {
    const { app, tenant, begin, rows } = world;
    await tenant.setup(T, "CREATE TABLE u (b)", "CREATE TABLE v (c)", "INSERT INTO v VALUES (1), (2), (3)");
    const path = `/api/namespaces/${tenant.slug}/databases/main/rules`;
    const rule = async (body: Readonly<Record<string, unknown>>) => {
      const answer = await app.request("POST", path, { token: tenant.token, body });
      assertEquals(answer.status, 201, answer.text);
    };
    await rule({ tableGlob: "t", effect: "require_approval" });
    await rule({ tableGlob: "u", effect: "deny" });
    await rule({ tableGlob: "v", effect: "require_approval", minRows: 2 });
    const one = await begin("immediate");
    const [code, message] = await messageOf(one.exec("INSERT INTO t VALUES (1, 'x')"));
    assertEquals(code, "transaction_held");
    assert(message.includes("batch"), message);
    assertEquals(await one.code("INSERT INTO u VALUES (1)"), "rule_denied");
    assertEquals(await one.code("DELETE FROM v"), "transaction_held");
    await one.exec("DELETE FROM v WHERE c = 1", [], { snapshots: false });
    await one.commit();
    assertEquals(
      await rows("SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM u), (SELECT count(*) FROM v)"),
      [[0, 0, 2]],
    );
    assertEquals(
      await rows("SELECT error_kind FROM _service_meta_query_log WHERE error_kind LIKE 'transaction_%'"),
      [
        ["transaction_held"],
        ["transaction_held"],
      ],
    );
  },

  "a rule about many rows counts those that are too long for one response of a server": async (
    { app, tenant, begin, rows },
  ) => {
    await tenant.setup(
      "CREATE TABLE long (id INTEGER PRIMARY KEY, a)",
      "INSERT INTO long VALUES (1, zeroblob(4000000)), (2, zeroblob(4000000)), (3, zeroblob(4000000)), (4, 0)",
    );
    const made = await app.request("POST", `/api/namespaces/${tenant.slug}/databases/main/rules`, {
      token: tenant.token,
      body: { tableGlob: "long", effect: "deny", minRows: 4 },
    });
    assertEquals(made.status, 201, made.text);
    const one = await begin("immediate");
    assertEquals(await one.code("UPDATE long SET id = -id"), "rule_denied");
    assertEquals(await one.code("UPDATE long SET id = -id WHERE id < 4"), null);
    await one.commit();
    assertEquals(await rows("SELECT id FROM long ORDER BY id"), [[-3], [-2], [-1], [4]]);
  },

  "a result that is too large fails its statement, and the transaction goes on": async (
    { app, tenant, begin, rows },
  ) => {
    await tenant.setup("CREATE TABLE large (id INTEGER PRIMARY KEY, a)");
    const made = await app.request("POST", `/api/namespaces/${tenant.slug}/databases/main/rules`, {
      token: tenant.token,
      body: { tableGlob: "large", actions: ["delete"], effect: "deny", minRows: 4 },
    });
    assertEquals(made.status, 201, made.text);
    const one = await begin("immediate");
    await one.exec(
      "INSERT INTO large VALUES (1, zeroblob(4900000)), (2, zeroblob(4900000)), (3, zeroblob(4900000))",
    );
    await one.savepoint("savepoint", "s");
    assertEquals(await one.code("SELECT * FROM large"), "result_too_large");
    assertEquals(await one.code("UPDATE large SET id = -id RETURNING *"), "result_too_large");
    assertEquals(await one.code("DELETE FROM large RETURNING *"), "result_too_large");
    await one.exec("INSERT INTO large VALUES (4, 0)");
    await one.commit();
    assertEquals(await rows("SELECT id FROM large"), [[1], [2], [3], [4]]);
  },

  "of several statements that need not all run only the one fails whose result is too large": async (
    { tenant, begin, rows },
  ) => {
    await tenant.setup("CREATE TABLE large (id INTEGER PRIMARY KEY, a)");
    const one = await begin("immediate");
    await one.exec(
      "INSERT INTO large VALUES (1, zeroblob(4900000)), (2, zeroblob(4900000)), (3, zeroblob(4900000))",
    );
    const failedAt = async (...texts: string[]) => {
      const statements = texts.map((sql) => ({ sql, params: [] }));
      const error = await one.exec("", [], { statements, batch: true, atomic: false }).catch((error) =>
        error
      );
      return [error.code, error.facts?.extra?.failedIndex, error.facts?.extra?.data?.length];
    };
    const returns = "UPDATE large SET id = -id RETURNING *";
    assertEquals(
      await failedAt("INSERT INTO large VALUES (4, 0)", returns, "INSERT INTO large VALUES (5, 0)"),
      [
        "result_too_large",
        1,
        1,
      ],
    );
    assertEquals(await failedAt("SELECT 1", "SELECT * FROM large", "SELECT 2"), ["result_too_large", 1, 1]);
    assertEquals(await failedAt("SELECT * FROM large", "SELECT 2"), ["result_too_large", 0, 0]);
    await one.commit();
    assertEquals(await rows("SELECT id FROM large ORDER BY id"), [[1], [2], [3], [4]]);
  },

  "a statement that changes more rows than its caller lets it is undone alone": async (
    { tenant, begin, rows },
  ) => {
    await tenant.setup(T, "INSERT INTO t VALUES (1, 'x'), (2, 'y')");
    const one = await begin();
    await one.exec("INSERT INTO t VALUES (3, 'z')");
    assertEquals(await one.code("DELETE FROM t WHERE id > 1", { maxAffected: 1 }), "too_many_affected");
    await one.exec("DELETE FROM t WHERE id = 1", [], { maxAffected: 1 });
    await one.commit();
    assertEquals(await rows("SELECT id FROM t"), [[2], [3]]);
  },

  "several statements of one call are one log row, and stay or go as they were asked": async (world) => {
    const { tenant, begin, rows } = world;
    await tenant.setup(T);
    const one = await begin();
    const statements = [
      "INSERT INTO t VALUES (1, 'x')",
      "INSERT INTO t VALUES (2, 'y')",
      "INSERT INTO t VALUES (3, 'x')",
    ]
      .map((sql) => ({ sql, params: [] }));
    assertEquals(await one.code("", { statements, batch: true }), "sql_error");
    assertEquals(await one.rows("SELECT count(*) FROM t"), [[0]]);
    assertEquals(await one.code("", { statements, batch: true, atomic: false }), "sql_error");
    await one.commit();
    assertEquals(await rows("SELECT id FROM t"), [[1], [2]]);
    const log = await rows(
      "SELECT statement_count, status FROM _service_meta_query_log WHERE operation = 'batch'",
    );
    assertEquals(log, [[3, "error"], [3, "error"]]);
  },

  "a destructive statement has a snapshot of the state before the transaction": async (world) => {
    const { app, tenant, begin, rows } = world;
    await tenant.setup(T, "INSERT INTO t VALUES (1, 'x')");
    const labels = async () => {
      const answer = await app.request("GET", `${tenant.database.path}/snapshots`, { token: tenant.token });
      return (answer.body.data as { label: string }[]).map(({ label }) => label);
    };
    const undone = await begin();
    assert((await undone.exec("DROP TABLE t")).meta.snapshot);
    await undone.rollback();
    await tenant.setup(
      "CREATE TABLE up (id INTEGER PRIMARY KEY)",
      "CREATE TABLE down (up REFERENCES up (id))",
      "INSERT INTO up VALUES (1)",
      "INSERT INTO down VALUES (1)",
    );
    const failing = await begin();
    assertEquals(await failing.code("DELETE FROM up"), "sql_error");
    assert((await failing.exec("DELETE FROM down")).meta.snapshot, "that of a statement that failed is gone");
    await failing.rollback();
    const one = await begin();
    await one.exec("INSERT INTO t VALUES (2, 'y')");
    const { meta } = await one.exec("DELETE FROM t");
    assert(meta.snapshot);
    await one.exec("INSERT INTO t VALUES (3, 'z')");
    assertEquals((await one.exec("DROP TABLE t")).meta.snapshot, null);
    await one.commit();
    assertEquals(await labels(), [meta.snapshot]);
    const restored = await app.request("POST", `${tenant.database.path}/restore`, {
      token: tenant.token,
      body: { snapshot: meta.snapshot },
    });
    assertEquals(restored.status, 200, restored.text);
    assertEquals(await rows("SELECT * FROM t"), [[1, "x"]]);
  },

  "the call that opens a request pays for it, the others for their rows": async ({ app, tenant, begin }) => {
    await tenant.setup(T);
    const { meter } = app.deps.query;
    const costs: number[] = [];
    const settle = meter.settle.bind(meter);
    meter.settle = (admission, usage) => {
      costs.push(usage.costNanoUsd);
      settle(admission, usage);
    };
    const one = await begin();
    const paid = await one.exec("INSERT INTO t VALUES (1, 'x')");
    const beside = await one.exec("INSERT INTO t VALUES (2, 'y')", [], { opensRequest: false });
    await one.rollback();
    meter.settle = settle;
    const [first = 0, second = 0] = costs;
    assertEquals(first - second, 500);
    assertEquals([paid, beside].map(({ meta }) => Math.round(meta.costUsd * 1e9)), [first, second]);
  },

  "one call at a time": async ({ tenant, begin }) => {
    await tenant.setup(T);
    const one = await begin();
    const first = one.exec("SELECT 1");
    const second = await one.exec("SELECT 2").catch((error) => error);
    assert(second instanceof TypeError);
    await first;
    await one.rollback();
  },
});
