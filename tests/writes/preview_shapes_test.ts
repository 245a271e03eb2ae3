// Every shape of a write: what propose shows is what apply then does.
import { assertEquals } from "@std/assert";
import { isEmbedded } from "../testing/tenant_settings.ts";
import { testCases } from "../testing/cases.ts";
import { type Shown, withWrites, writesIn } from "./write_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("shapes of previews", run);

interface Shape {
  readonly name: string;
  readonly setup: readonly string[];
  readonly sql: string;
  readonly params?: readonly unknown[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Own rows and cascaded ones. */
  readonly rows: readonly [own: number | null, cascaded: number | null];
  /** Before and after; null where none is shown. */
  readonly preview: (readonly (readonly unknown[])[])[] | null;
}

const letters = [
  "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, n INTEGER)",
  "INSERT INTO t VALUES (1, 'x', 1), (2, 'y', 2), (3, 'z', 3)",
];
const numbers = (rows: number) => [
  "CREATE TABLE t (id INTEGER PRIMARY KEY, v INTEGER)",
  `INSERT INTO t WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT ${rows}) SELECT i, i FROM c`,
];
const firstTen = Array.from({ length: 10 }, (_, index) => index + 1);

const shapes: readonly Shape[] = [
  {
    name: "UPDATE FROM with several matches for one row",
    setup: [...letters, "CREATE TABLE s (id, v)", "INSERT INTO s VALUES (1, 'q'), (3, 'r'), (3, 'r')"],
    sql: "UPDATE t SET a = s.v FROM s WHERE s.id = t.id",
    rows: [2, 0],
    preview: [[[1, "x", 1], [3, "z", 3]], [[1, "q", 1], [3, "r", 3]]],
  },
  {
    name: "an upsert, with a CTE before it",
    setup: letters,
    sql:
      "WITH w AS (SELECT 1) INSERT INTO t SELECT 1, 'u', 9 FROM w WHERE 1 ON CONFLICT(id) DO UPDATE SET a = excluded.a",
    rows: [1, 0],
    preview: null,
  },
  {
    name: "INSERT SELECT RETURNING",
    setup: letters,
    sql: "INSERT INTO t SELECT id + 10, a, n FROM t RETURNING id",
    rows: [3, 0],
    preview: null,
  },
  {
    name: "a view with an INSTEAD OF trigger changes no row of its own",
    setup: [
      ...letters,
      "CREATE VIEW v AS SELECT * FROM t",
      "CREATE TRIGGER i INSTEAD OF DELETE ON v BEGIN DELETE FROM t WHERE id = old.id; END",
    ],
    sql: "DELETE FROM v WHERE id < 3",
    rows: [0, 2],
    preview: null,
  },
  {
    name: "a composite key without rowid, quoted text in it",
    setup: [
      "CREATE TABLE w (a TEXT, b INTEGER, c, PRIMARY KEY (a, b)) WITHOUT ROWID",
      "INSERT INTO w VALUES ('k', 1, 'one'), ('it''s', 3, 'three')",
    ],
    sql: "UPDATE w SET c = upper(c)",
    rows: [2, 0],
    preview: [[["it's", 3, "three"], ["k", 1, "one"]], [["it's", 3, "THREE"], ["k", 1, "ONE"]]],
  },
  {
    name: "a key that the update moves onto its neighbours",
    setup: [
      "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)",
      "INSERT INTO t VALUES (2, 'y'), (3, 'z'), (5, 'k')",
    ],
    sql: "UPDATE t SET id = id - 1, a = a || ? WHERE id > ?",
    params: ["!", 1],
    rows: [3, 0],
    preview: [[[2, "y"], [3, "z"], [5, "k"]], [[1, "y!"], [2, "z!"], [4, "k!"]]],
  },
  {
    name: "moved keys of which OR IGNORE leaves some where they are",
    setup: letters,
    sql: "UPDATE OR IGNORE t SET id = id + 1, a = a || '!'",
    rows: [1, 0],
    preview: [[[3, "z", 3]], [[4, "z!", 3]]],
  },
  {
    name: "moved keys of which a UNIQUE ON CONFLICT IGNORE leaves some where they are",
    setup: [
      "CREATE TABLE t (id INTEGER PRIMARY KEY, u UNIQUE ON CONFLICT IGNORE)",
      "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')",
    ],
    sql: "UPDATE t SET id = id + 10, u = CASE WHEN id < 3 THEN 'd' ELSE u || '!' END WHERE id < 4",
    rows: [1, 0],
    preview: [[[3, "c"]], [[13, "c!"]]],
  },
  {
    name:
      "moved keys of which an IGNORE of a trigger leaves some, and none is left that was before the ten shown",
    setup: [
      ...numbers(30),
      "CREATE TRIGGER keep BEFORE UPDATE ON t WHEN old.v <= 15 OR old.v % 2 BEGIN SELECT RAISE(IGNORE); END",
    ],
    sql: "UPDATE t SET id = id + 100",
    rows: [8, 0],
    preview: [
      [16, 18, 20, 22, 24, 26, 28, 30].map((id) => [id, id]),
      [16, 18, 20, 22, 24, 26, 28, 30].map((id) => [id + 100, id]),
    ],
  },
  {
    name: "UPDATE OR IGNORE that moves no key",
    setup: [...letters, "CREATE UNIQUE INDEX one ON t (a)"],
    sql: "UPDATE OR IGNORE t SET a = 'w', n = n + 1",
    rows: [1, 0],
    preview: [[[1, "x", 1]], [[1, "w", 2]]],
  },
  {
    name: "an UPDATE that returns a parameter",
    setup: letters,
    sql: "UPDATE t SET n = n + ? WHERE id = ? RETURNING id, ?",
    params: [5, 2, "told"],
    rows: [1, 0],
    preview: [[[2, "y", 2]], [[2, "y", 7]]],
  },
  {
    name: "a DELETE that returns a numbered parameter, and one that it has used already",
    setup: letters,
    sql: "DELETE FROM t WHERE id = ?2 OR n = ?1 RETURNING ?3, ?1",
    params: [1, 2, "told"],
    rows: [2, 0],
    preview: [[[1, "x", 1], [2, "y", 2]], []],
  },
  {
    name: "a moved key and a parameter that is returned",
    setup: letters,
    sql: "UPDATE t SET id = id + ? WHERE id >= ? RETURNING ?, id",
    params: [10, 2, "told"],
    rows: [2, 0],
    preview: [[[2, "y", 2], [3, "z", 3]], [[12, "y", 2], [13, "z", 3]]],
  },
  {
    name: "a moved key with numbered parameters in the other order and IS DISTINCT FROM in the list",
    setup: [
      "CREATE TABLE w (a TEXT PRIMARY KEY, c INTEGER) WITHOUT ROWID",
      "INSERT INTO w VALUES ('a', 1), ('b', 2)",
    ],
    sql: "UPDATE w SET c = c IS DISTINCT FROM ?2, a = a || '2' WHERE c < ?1",
    params: [5, 1],
    rows: [2, 0],
    preview: [[["a", 1], ["b", 2]], [["a2", 0], ["b2", 1]]],
  },
  {
    name: "a moved key under an alias with FROM",
    setup: [...letters, "CREATE TABLE s (id INTEGER, v)", "INSERT INTO s VALUES (1, 'q'), (3, 'r')"],
    sql: "UPDATE t AS k SET id = k.id + 10, a = s.v FROM s WHERE s.id = k.id AND k.n < ?",
    params: [9],
    rows: [2, 0],
    preview: [[[1, "x", 1], [3, "z", 3]], [[11, "q", 1], [13, "r", 3]]],
  },
  {
    name: "rowid shadowed by a column",
    setup: ["CREATE TABLE t (rowid TEXT, v INTEGER)", "INSERT INTO t VALUES ('same', 1), ('same', 2)"],
    sql: "UPDATE t SET v = v + 10 WHERE v = 1",
    rows: [1, 0],
    preview: [[["same", 1]], [["same", 11]]],
  },
  {
    name: "NULL in a column that only looks like the rowid",
    setup: [
      "CREATE TABLE t (id INTEGER PRIMARY KEY DESC, v)",
      "INSERT INTO t VALUES (NULL, 1), (NULL, 2), (3, 3)",
    ],
    sql: "UPDATE t SET v = v + 10",
    rows: [3, 0],
    preview: [[[null, 1], [null, 2], [3, 3]], [[null, 11], [null, 12], [3, 13]]],
  },
  {
    name: "odd names, a comment at the end",
    setup: [
      'CREATE TABLE "we""ird ta;ble" ("Ä b" TEXT PRIMARY KEY, "select" TEXT) WITHOUT ROWID',
      `INSERT INTO "we""ird ta;ble" VALUES ('k', 'x')`,
    ],
    sql: 'DELETE FROM "we""ird ta;ble" -- RETURNING; DROP TABLE t',
    rows: [1, 0],
    preview: [[["k", "x"]], []],
  },
  {
    name: "a comment that does not end",
    setup: ["CREATE TABLE q (a)", "INSERT INTO q VALUES (1)"],
    sql: 'DELETE FROM "q" /* to the end ',
    rows: [1, 0],
    preview: [[[1]], []],
  },
  {
    name: "semicolons and comments behind",
    setup: ["CREATE TABLE fail (a)", "INSERT INTO fail VALUES (1)"],
    sql: "/* one */ DELETE FROM main.fail WHERE a = 1 /* two */ ; -- three",
    rows: [1, 0],
    preview: [[[1]], []],
  },
  {
    name: "a CTE and RETURNING",
    setup: letters,
    sql:
      "WITH x AS (SELECT 1 AS id) DELETE FROM t WHERE id IN (SELECT id FROM x) RETURNING a, (SELECT 'RETURNING')",
    rows: [1, 0],
    preview: [[[1, "x", 1]], []],
  },
  {
    name: "integers beyond what a number holds",
    setup: [
      "CREATE TABLE t (id INTEGER PRIMARY KEY, b INTEGER)",
      "INSERT INTO t VALUES (9007199254740993, -9223372036854775808)",
    ],
    sql: "UPDATE t SET b = b + 1",
    rows: [1, 0],
    preview: [
      [["9007199254740993", "-9223372036854775808"]],
      [["9007199254740993", "-9223372036854775807"]],
    ],
  },
  {
    name: "X-Integers: string holds for the preview",
    setup: letters,
    sql: "UPDATE t SET n = 7 WHERE id = 1",
    headers: { "x-integers": "string" },
    rows: [1, 0],
    preview: [[["1", "x", "1"]], [["1", "x", "7"]]],
  },
  {
    name: "blobs, reals, NULL, U+0000 in a key (where the embedded engine ends texts)",
    setup: [
      "CREATE TABLE t (k, r REAL, n, PRIMARY KEY (k, r)) WITHOUT ROWID",
      "INSERT INTO t VALUES (x'00ff', 0.1, NULL), (x'', 1e300, 'a'), (CAST(x'610062' AS TEXT), 1, 2)",
    ],
    sql: "DELETE FROM t",
    rows: [3, 0],
    preview: [[[isEmbedded() ? "a" : "a\u0000b", 1, 2], [{ $blob: "" }, 1e300, "a"], [
      { $blob: "AP8=" },
      0.1,
      null,
    ]], []],
  },
  {
    name: "infinities",
    setup: ["CREATE TABLE t (id INTEGER PRIMARY KEY, r REAL)", "INSERT INTO t VALUES (1, 0.5), (2, -9e999)"],
    sql: "UPDATE t SET r = -r * 9e999 RETURNING r",
    rows: [2, 0],
    preview: [[[1, 0.5], [2, "-Infinity"]], [[1, "-Infinity"], [2, "Infinity"]]],
  },
  {
    name: "generated columns",
    setup: [
      "CREATE TABLE t (a INTEGER, b INTEGER AS (a * 2), c INTEGER AS (a + 1) STORED)",
      "INSERT INTO t VALUES (1), (2)",
    ],
    sql: "UPDATE t SET a = a + 1",
    rows: [2, 0],
    preview: [[[1, 2, 2], [2, 4, 3]], [[2, 4, 3], [3, 6, 4]]],
  },
  {
    name: "full-text search",
    setup: ["CREATE VIRTUAL TABLE f USING fts5(x)", "INSERT INTO f VALUES ('hello world'), ('foo')"],
    sql: "UPDATE f SET x = 'bye' WHERE rowid = 1",
    rows: [1, 4],
    preview: null,
  },
  {
    name: "no row at all",
    setup: letters,
    sql: "UPDATE t SET a = 1 WHERE id > 100",
    rows: [0, 0],
    preview: null,
  },
  {
    name: "a trigger on the same table and one into another",
    setup: [
      ...letters,
      "CREATE TABLE l (x)",
      "CREATE TRIGGER q AFTER UPDATE ON t WHEN new.id = 1 BEGIN INSERT INTO l VALUES (1), (2); UPDATE t SET a = 'by trigger' WHERE id = 3; END",
    ],
    sql: "UPDATE t SET a = 'k' WHERE id = 1",
    rows: [1, 3],
    preview: [[[1, "x", 1]], [[1, "k", 1]]],
  },
  {
    name: "a trigger that takes one of the changed rows away",
    setup: [
      ...letters,
      "CREATE TRIGGER q AFTER UPDATE ON t WHEN new.id = 2 BEGIN DELETE FROM t WHERE id = 2; END",
    ],
    sql: "UPDATE t SET a = 'k'",
    rows: [3, 1],
    preview: null,
  },
  {
    name: "a cascade into the same table",
    setup: [
      "CREATE TABLE t (id INTEGER PRIMARY KEY, p INTEGER REFERENCES t(id) ON DELETE CASCADE)",
      "INSERT INTO t VALUES (1, NULL), (2, 1), (3, 2)",
    ],
    sql: "DELETE FROM t WHERE id = 1",
    rows: [1, 2],
    preview: [[[1, null]], []],
  },
  {
    name: "more rows than a result may have",
    setup: numbers(150_000),
    sql: "UPDATE t SET v = -v",
    rows: [150_000, 0],
    // In sqld up to 20,000: every key has to travel.
    preview: isEmbedded() ? [firstTen.map((id) => [id, id]), firstTen.map((id) => [id, -id])] : null,
  },
  {
    name: "more rows than are shown",
    setup: numbers(500_010),
    sql: "DELETE FROM t WHERE id > 3",
    rows: [500_007, 0],
    preview: null,
  },
  {
    name: "a change of the schema, with rows that go along",
    setup: [
      "CREATE TABLE p (id INTEGER PRIMARY KEY)",
      "CREATE TABLE c (p REFERENCES p(id) ON DELETE CASCADE)",
      "INSERT INTO p VALUES (1)",
      "INSERT INTO c VALUES (1)",
    ],
    sql: "DROP TABLE p",
    rows: [null, 2],
    preview: null,
  },
];

testCases("propose is exact", {
  cases: shapes,
  nameOf: ({ name }) => name,
  run: async (app, slug, shape) => {
    const { setup, propose, apply, rows } = await writesIn(app, slug);
    await setup(...shape.setup);
    const tables = await rows(
      "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name",
    );
    const found: Shown = await propose(shape.sql, shape.params, { headers: shape.headers ?? {} });
    assertEquals([found.estimatedAffectedRows, found.cascadedRows], shape.rows);
    assertEquals(found.preview && [found.preview.before, found.preview.after], shape.preview);
    assertEquals(
      await rows("SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name"),
      tables,
    );
    const applied = await apply(found.executionToken);
    const total = (found.estimatedAffectedRows ?? 0) + (found.cascadedRows ?? 0);
    assertEquals([applied.status, applied.body.meta?.rowsWritten], [200, total], applied.text);
  },
});

/** Errors that a write raises; the write itself must raise the same. */
const errors: readonly (readonly [name: string, setup: readonly string[], sql: string, kind: string])[] = [
  [
    "a deferred reference",
    [
      "CREATE TABLE p (id INTEGER PRIMARY KEY)",
      "CREATE TABLE c (p REFERENCES p(id) DEFERRABLE INITIALLY DEFERRED)",
    ],
    "INSERT INTO c VALUES (5)",
    "foreign_key_violation",
  ],
  ["CHECK", ["CREATE TABLE t (a CHECK (a > 0))"], "INSERT INTO t VALUES (0)", "check_violation"],
  ["STRICT", ["CREATE TABLE t (a INTEGER) STRICT"], "INSERT INTO t VALUES ('x')", "type_mismatch"],
  ["NOT NULL", ["CREATE TABLE t (a NOT NULL)"], "INSERT INTO t VALUES (NULL)", "not_null_violation"],
  [
    "RAISE in a trigger, the transaction with it",
    [...letters, "CREATE TRIGGER r BEFORE DELETE ON t BEGIN SELECT RAISE(ROLLBACK, 'never'); END"],
    "DELETE FROM t",
    "unknown",
  ],
  [
    "OR ROLLBACK",
    [...letters, "CREATE UNIQUE INDEX u ON t (a)"],
    "UPDATE OR ROLLBACK t SET a = 'x'",
    "unique_violation",
  ],
  ["a table that is not there", [], "DELETE FROM nowhere", "unknown_table"],
];

testCases("propose raises now what the write would raise", {
  cases: errors,
  nameOf: ([name]) => name,
  run: async (app, slug, [, before, sql, kind]) => {
    const { setup, post, rows } = await writesIn(app, slug);
    await setup(...before);
    const early = await post("propose", { sql });
    assertEquals([early.status, early.body.errorDetail?.kind], [400, kind], early.text);
    assertEquals(JSON.parse(early.text).data?.executionToken, undefined);
    const real = await post("query", { sql });
    assertEquals([real.status, real.body.error, real.body.errorDetail], [
      400,
      early.body.error,
      early.body.errorDetail,
    ]);
    assertEquals(await rows("SELECT 1"), [[1]]);
  },
});

test("references that were broken before do not stop a proposal", async () => {
  await withWrites(async ({ shop, propose, apply }) => {
    const made = await shop.batch([
      ["CREATE TABLE p (id INTEGER PRIMARY KEY)"],
      ["CREATE TABLE c (p REFERENCES p(id) DEFERRABLE INITIALLY DEFERRED)"],
      ["PRAGMA foreign_keys = OFF"],
      ["INSERT INTO c VALUES (1)"],
    ], { transaction: true });
    assertEquals(made.status, 200, made.text);
    const { executionToken } = await propose("INSERT INTO p VALUES (7)");
    assertEquals((await apply(executionToken)).status, 200);
  });
});

test("a statement of a dry run's batch is seen once by those behind it, also where it answers with an infinity", async () => {
  await withWrites(async ({ shop, setup, rows }) => {
    await setup(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, r REAL, n INTEGER)",
      "INSERT INTO t VALUES (1, 0.5, 0)",
    );
    const statements = [
      ["UPDATE t SET r = 9e999, n = n + 1 WHERE id = 1 RETURNING r"],
      ["UPDATE t SET n = 20 WHERE n = 2 RETURNING n"],
      ["UPDATE t SET n = 10 WHERE n = 1 RETURNING n, r"],
    ] as const;
    const look = await shop.batch(statements, { headers: { "x-dry-run": "1" } });
    assertEquals(look.status, 200, look.text);
    const { data }: { data: Shown[] } = JSON.parse(look.text);
    assertEquals(data.map((one) => one.estimatedAffectedRows), [1, 0, 1]);
    assertEquals(data.map(({ preview }) => preview && [preview.before, preview.after]), [
      [[[1, 0.5, 0]], [[1, "Infinity", 1]]],
      null,
      [[[1, "Infinity", 1]], [[1, "Infinity", 10]]],
    ]);
    assertEquals(await rows("SELECT * FROM t"), [[1, 0.5, 0]]);
  });
});

test("a dry run obeys PRAGMA foreign_keys in its batch as the batch itself does", async () => {
  await withWrites(async ({ shop, setup }) => {
    await setup("CREATE TABLE p (id INTEGER PRIMARY KEY)", "CREATE TABLE c (p REFERENCES p(id))");
    const statements = [["PRAGMA foreign_keys = OFF"], ["INSERT INTO c VALUES (1)"]] as const;
    const look = await shop.batch(statements, { headers: { "x-dry-run": "1" } });
    assertEquals(look.status, 200, look.text);
    assertEquals((await shop.query("INSERT INTO c VALUES (1)")).status, 400);
    assertEquals((await shop.batch(statements)).status, 200);
  });
});
