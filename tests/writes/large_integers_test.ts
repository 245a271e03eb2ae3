// A write that returns an INTEGER beyond 2^53 runs once, like any other, also the first time that its text is seen.
import { assert, assertEquals } from "@std/assert";
import { publishedApp } from "../published/publish.ts";
import { shown, withWrites } from "./write_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("large integers in writes", run);

const LARGE = "9007199254740993";
const table = [
  "CREATE TABLE t (id INTEGER PRIMARY KEY, v INTEGER UNIQUE)",
  `INSERT INTO t VALUES (1, ${LARGE}), (2, 2)`,
];

test("a write that returns a large INTEGER is counted once, in meta, log and audit trail", async () => {
  await withWrites(async ({ rows, setup, shop }) => {
    await setup(...table);
    const answer = await shop.query("UPDATE t SET id = id RETURNING v");
    assertEquals(answer.status, 200, answer.text);
    const { data, meta } = JSON.parse(answer.text);
    assertEquals([data.rows, meta.rowsWritten], [[[LARGE], [2]], 2]);
    const batch = await shop.batch([["INSERT INTO t VALUES (3, 9223372036854775807) RETURNING *"], [
      "DELETE FROM t WHERE id = 1 RETURNING v",
    ]]);
    assertEquals(
      JSON.parse(batch.text).data.map((one: { rows: unknown; rowsWritten: number }) => [
        one.rows,
        one.rowsWritten,
      ]),
      [[[[3, "9223372036854775807"]], 1], [[[LARGE]], 1]],
    );
    const counted = "SELECT rows_written FROM";
    assertEquals(
      await rows(`${counted} _service_meta_query_log WHERE sql LIKE '%RETURNING%' ORDER BY id`),
      [[2], [2]],
    );
    assertEquals(await rows(`${counted} _service_meta_audit ORDER BY id DESC LIMIT 2`), [[2], [2]]);
  });
});

test("the safety headers and rules count a write that returns a large INTEGER once", async () => {
  await withWrites(async ({ rows, rule, setup, shop }) => {
    await setup(...table);
    await rule({ tableGlob: "t", effect: "deny", minRows: 3 });
    const bounded = await shop.query("UPDATE t SET id = id RETURNING v, 'bounded'", [], {
      headers: { "x-max-affected": "2" },
    });
    assertEquals([bounded.status, JSON.parse(bounded.text).meta?.rowsWritten], [200, 2], bounded.text);
    const dry = await shop.query(`INSERT INTO t VALUES (4, ${LARGE} + 1) RETURNING v`, [], {
      headers: { "x-dry-run": "1" },
    });
    assertEquals([dry.status, shown(dry).estimatedAffectedRows], [200, 1], dry.text);
    assertEquals(await rows("SELECT count(*) FROM t"), [[2]]);
  });
});

test("propose counts a write that returns a large INTEGER once, and apply does what was shown", async () => {
  await withWrites(async ({ apply, propose, rows, setup }) => {
    await setup(...table);
    const insert = await propose("INSERT INTO t VALUES (3, ?) RETURNING v", ["9007199254740995"]);
    assertEquals([insert.estimatedAffectedRows, insert.cascadedRows], [1, 0]);
    const removal = await propose("DELETE FROM t WHERE id = 1 RETURNING v");
    assertEquals(removal.estimatedAffectedRows, 1);
    assertEquals(removal.preview?.before, [[1, LARGE]]);
    assertEquals((await apply(insert.executionToken)).status, 200);
    assertEquals((await apply(removal.executionToken)).status, 200);
    assertEquals(await rows("SELECT v FROM t ORDER BY id"), [[2], ["9007199254740995"]]);
  });
});

test("an endpoint's rows_written counts a write that returns a large INTEGER once", async () => {
  await using world = await publishedApp();
  await world.put({
    ...{ slug: "own", kind: "mutation", method: "POST", output: "rows_written" },
    sql: "UPDATE item SET owner = ? WHERE id = 1 RETURNING owner",
    input: [{ name: "owner", type: "integer", required: true }],
  });
  const answer = await world.call("own", { body: { owner: LARGE } });
  assertEquals(answer.status, 200, answer.text);
  assert(answer.text.includes('"rowsWritten":1'), answer.text);
});
