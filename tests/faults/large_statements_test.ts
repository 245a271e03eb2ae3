// Statements that sort, tell apart or would have to put back more than the engine's memory holds, in the real process.
import { assert, assertEquals, assertMatch } from "@std/assert";
import process from "node:process";
import { print } from "../testing/print.ts";
import { callService, type ServiceWorld, serviceWorld } from "../testing/service_world.ts";

/** Rows, and bytes of each: together more than the 256 MB that SQLite may hold in an engine child. */
const [ROWS, ROW_BYTES] = [3500, 80_000];
/** MB of temporary files of a read, instead of 2048. */
const TEMP_MB = 24;
/** Texts that are told apart in some 50 MB. */
const APART = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400000) " +
  "SELECT count(DISTINCT printf('%090d', i * 7919 % 400009)) FROM n";

Deno.test("statements that need more than the engine's memory, under `deno task start`", async (t) => {
  // On a disk, where other tests may be in memory: what is written there is not counted.
  await using world = await serviceWorld({ ENGINE_TEMP_MB: String(TEMP_MB) }, "/var/tmp");
  await t.step("changes and deletes more rows than fit into it", async () => {
    await rowsOf(world, "CREATE TABLE pictures (id INTEGER PRIMARY KEY, name TEXT, body BLOB)");
    const numbers = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})`;
    await rowsOf(
      world,
      `INSERT INTO pictures (name, body) ${numbers} SELECT printf('%05d', i), randomblob(${ROW_BYTES}) FROM n`,
    );
    const sums = "SELECT count(*), sum(length(body)), sum(body = zeroblob(length(body))) FROM pictures";
    await rowsOf(world, `UPDATE pictures SET body = zeroblob(${ROW_BYTES})`);
    assertEquals(await rowsOf(world, sums), [[ROWS, ROWS * ROW_BYTES, ROWS]]);
    await rowsOf(world, "DELETE FROM pictures WHERE id % 2 = 0");
    assertEquals(await rowsOf(world, sums), [[ROWS / 2, ROWS / 2 * ROW_BYTES, ROWS / 2]]);
  });
  await t.step("a statement that fails behind such changes puts all of them back", async () => {
    const late = `iif(id < ${ROWS - 100}, randomblob(length(body)), abs(-1 << 63))`;
    const failed = await callService(world, `UPDATE pictures SET body = ${late}`);
    assertEquals(failed.status, 400);
    assertMatch(JSON.stringify(failed.body), /integer overflow/);
    assertEquals(await rowsOf(world, "SELECT sum(body <> zeroblob(length(body))) FROM pictures"), [[0]]);
  });
  await t.step("a statement that writes may put as much aside as it needs", async () => {
    await rowsOf(world, `INSERT INTO pictures (name) ${APART}`);
    assertEquals(await rowsOf(world, "SELECT name FROM pictures WHERE body IS NULL"), [["400000"]]);
  });
  if (!await countsWrites(world.folder)) {
    print("Not tried: how much a read puts aside. The system does not count what is written to this folder");
  } else {
    await t.step("a read that puts more aside than ENGINE_TEMP_MB ends, and the others go on", async () => {
      const [refused, ...others] = await Promise.all([
        callService(world, APART),
        ...Array.from({ length: 20 }, () => callService(world, "SELECT count(*) FROM pictures")),
      ]);
      assert(refused);
      const { code, errorDetail } = JSON.parse(JSON.stringify(refused.body));
      assertEquals([refused.status, code, errorDetail.kind], [400, "sql_error", "too_big"]);
      assertEquals(others.map(({ status }) => status), Array(20).fill(200));
      assertMatch(world.service.errors(), /"event":"engine_child_ended","reason":"disk"/);
      // In the same form, below the bound.
      assertEquals(await rowsOf(world, APART.replace("400000", "50000")), [[50_000]]);
    });
    await t.step("the bound is that of each read, not of all in a batch", async () => {
      const statements = Array.from({ length: 3 }, () => ({ sql: APART.replace("400000", "150000") }));
      const response = await fetch(`${world.service.url}/v1/db/acme/main/batch`, {
        method: "POST",
        headers: { authorization: `Bearer ${world.token}`, "content-type": "application/json" },
        body: JSON.stringify({ statements }),
      });
      assertEquals(response.status, 200, await response.text());
    });
    await t.step(
      "the same read in a transaction ends as it does alone, and the transaction with it",
      async () => {
        const texts = ["BEGIN", "INSERT INTO pictures (name) VALUES ('kept?')", APART];
        const response = await fetch(`${world.service.url}/hrana/acme/main/v2/pipeline`, {
          method: "POST",
          headers: { authorization: `Bearer ${world.token}` },
          body: JSON.stringify({ requests: texts.map((sql) => ({ type: "execute", stmt: { sql } })) }),
        });
        const { results } = await response.json();
        assertEquals(results.map(({ type }: { type: string }) => type), ["ok", "ok", "error"]);
        assertMatch(results[2].error.message, /temporary files/);
        assertEquals(await rowsOf(world, "SELECT count(*) FROM pictures WHERE name = 'kept?'"), [[0]]);
      },
    );
  }
  await t.step("no temporary file is left", async () => {
    assertEquals(await Array.fromAsync(Deno.readDir(`${world.folder}/scratch`)), []);
  });
});

async function rowsOf(world: ServiceWorld, sql: string): Promise<unknown[][] | undefined> {
  const { status, body } = await callService(world, sql);
  assertEquals(status, 200, `${sql}: ${JSON.stringify(body)}`);
  return body.data?.rows;
}

/** Whether the system counts what a process writes there, as it does for a disk but not for a file system in memory. */
async function countsWrites(folder: string): Promise<boolean> {
  if (Deno.build.os !== "linux") return false;
  const before = process.resourceUsage().fsWrite;
  await Deno.writeFile(`${folder}/counted`, new Uint8Array(4 * 1024 * 1024).fill(1));
  await Deno.remove(`${folder}/counted`);
  return process.resourceUsage().fsWrite > before;
}
