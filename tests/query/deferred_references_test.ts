// Foreign keys that are judged at the commit (DEFERRABLE INITIALLY DEFERRED), in batches that are one transaction and in
// those that are not.
import { assertEquals } from "@std/assert";
import type { ApiAnswer } from "../testing/call_api.ts";
import { startApp } from "../testing/start_app.ts";
import { isEmbedded } from "../testing/tenant_settings.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("foreign keys that are judged at the commit", run);

const schema = [
  ["CREATE TABLE p (id INTEGER PRIMARY KEY)"],
  // With a comment where one may stand.
  ["CREATE TABLE c (id INTEGER PRIMARY KEY, p INTEGER REFERENCES p(id) DEFERRABLE INITIALLY/**/DEFERRED)"],
  ["CREATE TABLE w (a)"],
  ["INSERT INTO p VALUES (1)"],
] as const;

const MANY =
  "WITH RECURSIVE s(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM s WHERE x < 300000) SELECT x FROM s";
const GOOD = ["INSERT INTO w VALUES (1) RETURNING a"] as const;
const BROKEN = ["INSERT INTO c VALUES (1, 99)"] as const;
const MENDED = ["INSERT INTO p VALUES (99)"] as const;

async function made(tenant: TestNamespace): Promise<void> {
  const answer = await tenant.batch(schema);
  assertEquals(answer.status, 200, answer.text);
}

function told({ status, body }: ApiAnswer): unknown[] {
  const { data, errorDetail } = body;
  const results = Array.isArray(data) ? data.map(({ rows, rowsWritten }) => [rows, rowsWritten]) : data;
  return [status, body.failedIndex, errorDetail?.kind, errorDetail?.table, results];
}

const counts = (tenant: TestNamespace) =>
  tenant.query("SELECT (SELECT count(*) FROM p), (SELECT count(*) FROM c), (SELECT count(*) FROM w)");

test("a batch that is no transaction stops at the statement that breaks a deferred reference, and keeps what ran", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await made(tenant);
  const kept = [[[1]], 1];
  const violation = ["foreign_key_violation", "c"];
  assertEquals(told(await tenant.batch([GOOD, BROKEN, GOOD])), [400, 1, ...violation, [kept]]);
  assertEquals(rowsOf(await counts(tenant)), [[1, 0, 1]]);
  assertEquals(told(await tenant.batch([BROKEN, MENDED])), [400, 0, ...violation, []]);
  assertEquals(rowsOf(await counts(tenant)), [[1, 0, 1]]);
  const parent = await tenant.batch([["INSERT INTO c VALUES (2, 1)"], GOOD, ["DELETE FROM p WHERE id = 1"]]);
  assertEquals(told(parent), [400, 2, "foreign_key_violation", "p", [[[], 1], kept]]);
  assertEquals(rowsOf(await counts(tenant)), [[1, 1, 2]]);
  const log = await tenant.query(
    "SELECT error_kind, rows_written FROM _service_meta_query_log WHERE operation = 'batch' AND status = 'error' ORDER BY id",
  );
  assertEquals(rowsOf(log), [["foreign_key_violation", 1], ["foreign_key_violation", 0], [
    "foreign_key_violation",
    2,
  ]]);
});

test("a batch that is one transaction may mend a deferred reference, and else names the statement that broke it", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await made(tenant);
  const options = { transaction: true };
  const broken = await tenant.batch([GOOD, BROKEN, GOOD], options);
  assertEquals(told(broken), [400, 1, "foreign_key_violation", "c", undefined]);
  assertEquals(rowsOf(await counts(tenant)), [[1, 0, 0]]);
  assertEquals((await tenant.batch([BROKEN, MENDED], options)).status, 200);
  assertEquals(rowsOf(await counts(tenant)), [[2, 1, 0]]);
});

test("a dry run of a batch says of deferred references what the batch would", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await made(tenant);
  const headers = { "x-dry-run": "1" };
  for (
    const [transaction, statements, index] of [
      [false, [BROKEN, MENDED], 0],
      [false, [GOOD, BROKEN, GOOD], 1],
      [true, [GOOD, BROKEN, GOOD], 1],
      [true, [BROKEN, MENDED], null],
    ] as const
  ) {
    const { status, body } = await tenant.batch(statements, { transaction, headers });
    assertEquals([status, body.failedIndex ?? null], index === null ? [200, null] : [400, index]);
  }
  assertEquals(rowsOf(await counts(tenant)), [[1, 0, 0]]);
});

test("references that were broken before do not stop a batch, and one that makes the table is judged too", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await made(tenant);
  assertEquals((await tenant.batch([["PRAGMA foreign_keys = OFF"], BROKEN])).status, 200);
  assertEquals((await tenant.batch([GOOD, GOOD])).status, 200);
  const late = await tenant.batch([
    ["CREATE TABLE d (p INTEGER REFERENCES p(id) DEFERRABLE INITIALLY DEFERRED)"],
    ["INSERT INTO d VALUES (7)"],
  ]);
  assertEquals(told(late).slice(0, 4), [400, 1, "foreign_key_violation", "d"]);
  assertEquals(rowsOf(await tenant.query("SELECT count(*) FROM d")), [[0]]);
  for (const sql of ["PRAGMA defer_foreign_keys = ON", "PRAGMA defer_foreign_keys(1)"]) {
    assertEquals((await tenant.query(sql)).body.code, "statement_refused");
  }
});

test("a batch whose commit is refused is answered, however long it would take to find the statement", async () => {
  await using app = await startApp({ settings: { QUERY_TIMEOUT_MS: "2000" } });
  const tenant = await app.namespace();
  await made(tenant);
  const many =
    "WITH RECURSIVE s(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM s WHERE x < 10000) SELECT 1 FROM s";
  for (let part = 0; part < 40; part++) {
    const filled = await tenant.query(`INSERT INTO c(p) ${many}`);
    assertEquals(filled.status, 200, filled.text);
  }
  const good = Array.from({ length: 99 }, () => ["INSERT INTO c(p) VALUES (1)"] as const);
  const [refused, neighbour] = await Promise.all([
    tenant.batch([...good, ["INSERT INTO c(p) VALUES (99)"]], { transaction: true }),
    tenant.query("INSERT INTO w VALUES (1)"),
  ]);
  const { errorDetail, failedIndex } = refused.body;
  assertEquals([refused.status, errorDetail?.kind], [400, "foreign_key_violation"], refused.text);
  // The first where the time did not do.
  assertEquals(failedIndex === 0 || failedIndex === 99, true, refused.text);
  // On sqld what was given up may hold the neighbour up for longer than its own time.
  const kept = neighbour.status === 200;
  if (!kept) assertEquals([isEmbedded(), neighbour.body.code], [false, "statement_timeout"], neighbour.text);
  assertEquals(rowsOf(await counts(tenant)), [[1, 400_000, kept ? 1 : 0]]);
});

test("a statement that fails by itself is told so, also when it has broken a deferred reference before", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await made(tenant);
  const answer = await tenant.batch([GOOD, ["INSERT OR FAIL INTO c VALUES (1, 99), (1, 1)"]]);
  assertEquals(told(answer), [400, 1, "unique_violation", "c", [[[[1]], 1]]]);
  assertEquals(rowsOf(await counts(tenant)), [[1, 0, 1]]);
});

test("a deferred key that fits no index leaves those of other tables judged", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await made(tenant);
  const misfit = await tenant.batch([
    ["CREATE TABLE pm (id INTEGER PRIMARY KEY, k)"],
    ["CREATE TABLE cm (k REFERENCES pm(k) DEFERRABLE INITIALLY DEFERRED)"],
  ]);
  assertEquals(misfit.status, 200, misfit.text);
  assertEquals(told(await tenant.batch([GOOD, BROKEN, GOOD])).slice(0, 4), [
    400,
    1,
    "foreign_key_violation",
    "c",
  ]);
  assertEquals(rowsOf(await counts(tenant)), [[1, 0, 1]]);
  // An index that makes it fit breaks nothing that was not broken before.
  assertEquals(
    (await tenant.batch([["PRAGMA foreign_keys = OFF"], ["INSERT INTO cm VALUES (7)"]])).status,
    200,
  );
  const fitting = await tenant.batch([
    ["CREATE UNIQUE INDEX pmk ON pm(k)"],
    ["INSERT INTO cm VALUES (8)"],
    GOOD,
  ]);
  assertEquals(told(fitting).slice(0, 4), [400, 1, "foreign_key_violation", "cm"]);
  // A new name makes no broken reference.
  assertEquals((await tenant.batch([["PRAGMA foreign_keys = OFF"], BROKEN])).status, 200);
  const renamed = await tenant.batch([["ALTER TABLE c RENAME TO d"], GOOD, ["INSERT INTO d VALUES (2, 99)"]]);
  assertEquals(told(renamed).slice(0, 4), [400, 2, "foreign_key_violation", "d"]);
});

test("a deferred reference that a trigger, a view or a cascade breaks stops a batch as well", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await made(tenant);
  const more = await tenant.batch([
    ["CREATE TABLE g (id INTEGER PRIMARY KEY)"],
    ["CREATE TABLE m (id INTEGER PRIMARY KEY, g REFERENCES g(id) ON DELETE CASCADE)"],
    ['CREATE TABLE d (m REFERENCES "M"(id) DEFERRABLE INITIALLY DEFERRED)'],
    ["INSERT INTO g VALUES (1)"],
    ["INSERT INTO m VALUES (1, 1)"],
    ["INSERT INTO d VALUES (1)"],
    ["CREATE TABLE fired (p)"],
    ["CREATE TRIGGER fires AFTER INSERT ON fired BEGIN INSERT INTO c(p) VALUES (new.p); END"],
    ["CREATE VIEW seen AS SELECT p FROM c"],
    ["CREATE TRIGGER enters INSTEAD OF INSERT ON seen BEGIN INSERT INTO c(p) VALUES (new.p); END"],
  ]);
  assertEquals(more.status, 200, more.text);
  for (const sql of ["DELETE FROM g", "INSERT INTO fired VALUES (99)", "INSERT INTO seen VALUES (99)"]) {
    for (const headers of [{}, { "x-dry-run": "1" }] as const) {
      const { status, body } = await tenant.batch([GOOD, [sql], GOOD], { headers });
      assertEquals(
        [status, body.failedIndex, body.errorDetail?.kind],
        [400, 1, "foreign_key_violation"],
        sql,
      );
    }
  }
  assertEquals(rowsOf(await counts(tenant)), [[1, 0, 3]]);
});

test("calls that come at once mend no reference of each other", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await made(tenant);
  // What comes while this one runs waits, and then goes together.
  const slow = tenant.query(`INSERT INTO w ${MANY}`);
  const [, broken, mended] = await Promise.all([
    slow,
    tenant.query(...BROKEN),
    tenant.query(...MENDED),
  ]);
  assertEquals([broken.status, broken.body.errorDetail?.kind], [400, "foreign_key_violation"], broken.text);
  assertEquals(mended.status, 200, mended.text);
  assertEquals(rowsOf(await tenant.query("SELECT (SELECT count(*) FROM p), (SELECT count(*) FROM c)")), [[
    2,
    0,
  ]]);
});
