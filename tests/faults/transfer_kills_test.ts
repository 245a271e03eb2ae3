// The whole service is killed while a file is imported and while an export is read: afterwards the database is what it was or
// what the file says, nothing is left of the work, and an export that was broken off is known by its missing end.
import { pause } from "../../lib/core/pause.ts";
import { assert, assertEquals } from "@std/assert";
import { rounds } from "../testing/rounds.ts";
import { serviceWorld } from "../testing/service_world.ts";
import { type RunningService, startService } from "../testing/start_service.ts";

const ROWS = 20_000;

/** A dump whose rows all have the same number. */
function dumpOf(generation: number): string {
  const rows = Array.from({ length: ROWS }, (_, at) => `(${at},${generation},'some text that takes room')`);
  return `CREATE TABLE t (id INTEGER PRIMARY KEY, generation INTEGER, v TEXT);\n` +
    `CREATE INDEX by_v ON t (v, id);\nINSERT INTO t VALUES${rows.join(",")};\n`;
}

Deno.test("a kill of the service in an import or an export leaves a whole database, and nothing of the work", async () => {
  await using world = await serviceWorld();
  const headers = { authorization: `Bearer ${world.token}` };
  let service: RunningService = world.service;
  const path = "/v1/db/acme/main";
  const bring = (generation: number) =>
    fetch(`${service.url}${path}/import?format=sql&mode=replace`, {
      ...{ method: "POST", headers, body: dumpOf(generation) },
    }).then(async (answer) => [answer.status, await answer.text()]).catch(() => [0, "killed"]);
  const state = async () => {
    const sql = "SELECT count(*), min(generation), max(generation) FROM t";
    const body = JSON.stringify({ sql });
    const answer = await fetch(`${service.url}${path}/query`, { method: "POST", headers, body });
    return (await answer.json()).data.rows[0];
  };
  const exported = () =>
    fetch(`${service.url}${path}/export?format=sql`, { headers }).then((answer) => answer.text()).catch(() =>
      ""
    );
  // What a killed process held of the balance comes back later than the next round.
  const credited = await fetch(`${service.url}/api/namespaces/acme/credits`, {
    method: "POST",
    headers: { authorization: `Bearer ${world.operatorKey}`, "content-type": "application/json" },
    body: JSON.stringify({ amountUsd: 1000, reference: "of this test" }),
  });
  assertEquals([credited.status, (await credited.json()).success], [201, true]);
  assertEquals((await bring(0))[0], 200);
  let now = 0;
  const count = rounds(3, 40);
  try {
    for (let round = 1; round <= count; round++) {
      const [importing, exporting] = [bring(round), exported()];
      // Over all stages: the upload, the building, the restore.
      await pause(round * 900 / count);
      await service.kill();
      const [[status], text] = await Promise.all([importing, exporting]);
      // All rows of one moment, or no end.
      if (/\n-- end of export: 1 tables, 20000 rows\n$/.test(text)) {
        assertEquals(text.match(/^INSERT/gm)?.length, ROWS);
      } else assert(!text.includes("-- end of export"));
      service = await startService({ folder: world.folder, settings: { DEMO: "0", TENANTS_URL: "file:" } });
      const [rows, least, most] = await state();
      assertEquals([rows, least], [ROWS, most]);
      assert(most === round || (most === now && status !== 200), `${most} behind ${now}, answered ${status}`);
      now = most;
      const left = await Array.fromAsync(
        Deno.readDir(`${world.folder}/tenants/transfers`),
        ({ name }) => name,
      )
        .catch(() => []);
      assertEquals(left, []);
    }
    assertEquals((await bring(count + 1))[0], 200);
    assertEquals(await state(), [ROWS, count + 1, count + 1]);
  } finally {
    await service.kill();
  }
});
