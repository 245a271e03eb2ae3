// Answers of any size and any number of callers at once: one run, the same bytes for all.
import { assert, assertEquals } from "@std/assert";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { isEmbedded } from "../testing/tenant_settings.ts";
import type { TestNamespace } from "../testing/test_namespace.ts";
import { assertReplay, count, keyed, step } from "./keyed.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("sizes of kept answers", run);

const NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)";

/** Runs `body` with a tenant that has a table of one text column. */
async function withTable(body: (tenant: TestNamespace, app: StartedApp) => Promise<void>): Promise<void> {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (a TEXT)");
  await body(tenant, app);
}

test("an answer of megabytes comes back whole, a read's from KV, a mutation's from the database", async () => {
  await withTable(async (tenant) => {
    const rows = 12_000;
    const calls = [
      (key: string) =>
        tenant.query(`${NUMBERS} SELECT i, hex(i * 7919) || printf('%0400d', i) FROM n`, [rows], keyed(key)),
      (key: string) =>
        tenant.query(
          `${NUMBERS} INSERT INTO t SELECT printf('%0400d', i) FROM n RETURNING rowid, a`,
          [rows],
          keyed(key),
        ),
      (key: string) =>
        tenant.batch([
          ["INSERT INTO t VALUES ('one')"],
          [`${NUMBERS} SELECT i, printf('%0400d', i) FROM n`, rows],
        ], keyed(key)),
      (key: string) =>
        tenant.query(`${NUMBERS} SELECT i, printf('%0400d', i) FROM n`, [rows], step("plan", key)),
    ];
    for (const [at, call] of calls.entries()) {
      const first = await call(`k${at}`);
      assert(first.text.length > 4_500_000, `${first.status} ${first.text.length}`);
      assertReplay(first, await call(`k${at}`), at < 3 ? undefined : "plan-replayed");
    }
    assertEquals(await count(tenant), rows + 1);
  });
});

test("a kept answer is whole wherever its pieces are cut", async () => {
  await withTable(async (tenant) => {
    // Two UTF-16 units and four bytes each: whichever length a piece has, one of these shifts cuts a character. In
    // sqld pieces are shorter and values at most 5 MB.
    const [count, least] = isEmbedded() ? [2_100_000, 4_200_000] : [1_200_000, 2_400_000];
    const emoji = `replace(printf('%0*d', ${count}, 0), '0', char(128512))`;
    for (const shift of ["", "x"]) {
      const calls = [
        () =>
          tenant.query(
            `INSERT INTO t VALUES ('${shift}') RETURNING ? || ${emoji}`,
            [shift],
            keyed(`w${shift}`),
          ),
        () => tenant.query(`SELECT ? || ${emoji}`, [shift], keyed(`r${shift}`)),
      ];
      for (const call of calls) {
        const first = await call();
        assertEquals(first.status, 200, first.text.slice(0, 300));
        assert(first.text.length > least);
        assertReplay(first, await call());
      }
    }
  });
});

test("answers around KV's limit of a value come back whole", async () => {
  await withTable(async (tenant) => {
    for (const size of [60_000, 61_440, 65_000, 65_536, 66_000, 131_072, 614_400, 700_000]) {
      for (const [at, options] of [keyed(`k${size}`), step("p", `${size}`)].entries()) {
        const read = () => tenant.query("SELECT printf('%0*d', ?, 7)", [size], options);
        assertReplay(await read(), await read(), at === 0 ? undefined : "plan-replayed");
      }
    }
  });
});

test("values that JSON escapes, empty results and no columns come back byte for byte", async () => {
  await withTable(async (tenant) => {
    const statements = [
      "SELECT char(0), char(10), char(8232), '\"\\/', x'00ff', -0.0, 9e999, 9007199254740993, NULL, ''",
      "SELECT * FROM t",
      "UPDATE t SET a = 1 WHERE 0",
      "INSERT INTO t VALUES ('line' || char(10) || 'line') RETURNING a, char(0), x'0a', 9007199254740993",
      ...isEmbedded() ? ["SELECT cast(x'ff0a00fe' AS TEXT)"] : [],
    ];
    for (const [at, sql] of statements.entries()) {
      for (const more of [{}, { headers: { "x-integers": "string" } }]) {
        const run = () => tenant.query(sql, [], keyed(`k${at}${JSON.stringify(more).length}`, more));
        assertReplay(await run(), await run());
      }
    }
  });
});

test("of fifty calls at once with one key one runs, and all get its bytes", async () => {
  await withTable(async (tenant) => {
    const calls: [string, (key: string) => ReturnType<TestNamespace["query"]>][] = [
      ["insert", (key) => tenant.query("INSERT INTO t VALUES ('x') RETURNING rowid", [], keyed(key))],
      ["read", (key) => tenant.query("SELECT count(*), random() FROM t", [], keyed(key))],
      ["ddl", (key) => tenant.query("CREATE TABLE u (x)", [], keyed(key))],
      ["drop", (key) => tenant.query("DROP TABLE u", [], keyed(key))],
      [
        "batch",
        (key) =>
          tenant.batch([["INSERT INTO t VALUES ('y')"], ["SELECT random()"]], {
            transaction: true,
            ...keyed(key),
          }),
      ],
      ["plan", (key) => tenant.query("INSERT INTO t VALUES ('z') RETURNING rowid", [], step("p", key))],
      ["both", (key) => tenant.query("INSERT INTO t VALUES ('b')", [], keyed(key, step("p", key)))],
    ];
    for (const [name, call] of calls) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => call(name)));
      assertEquals(new Set(answers.map(({ status }) => status)), new Set([200]), name);
      assertEquals(new Set(answers.map(({ text }) => text)).size, 1, name);
      const ran = answers.filter(({ headers }) =>
        headers.get("idempotency-replayed") === null && headers.get("plan-replayed") === null
      );
      assertEquals(ran.length, 1, name);
    }
    assertEquals(await count(tenant), 4);
  });
});

test("of many calls with one key and different requests one kind runs", async () => {
  await withTable(async (tenant) => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, at) => tenant.query("INSERT INTO t VALUES (?)", [at % 4], keyed("k"))),
    );
    const ok = answers.filter(({ status }) => status === 200);
    assertEquals([ok.length, new Set(ok.map(({ text }) => text)).size], [10, 1]);
    assertEquals(answers.filter(({ status }) => status === 422).length, 30);
    assertEquals(await count(tenant), 1);
  });
});

test("calls that wait for one that fails run in its place, and one of them at a time", async () => {
  await withTable(async (tenant, app) => {
    await tenant.setup("CREATE TABLE once (id INTEGER PRIMARY KEY)");
    // With a transaction: the failed batch leaves nothing, so the first that finds the row gone goes through.
    const run = () =>
      tenant.batch([["INSERT INTO t VALUES ('x')"], ["INSERT INTO once VALUES (1)"]], {
        transaction: true,
        ...keyed("k"),
      });
    await tenant.query("INSERT INTO once VALUES (1)");
    const failed = await Promise.all(Array.from({ length: 10 }, run));
    assertEquals(new Set(failed.map(({ status }) => status)), new Set([400]));
    await tenant.query("DELETE FROM once");
    const done = await Promise.all(Array.from({ length: 10 }, run));
    assertEquals(new Set(done.map(({ text }) => text)).size, 1);
    assertEquals(await count(tenant), 1);
    assertEquals(app.logLines.filter((line) => line.includes("error")), []);
  });
});
