// Processes that are killed while a migration runs: a file is applied with its record or not at all, and once.
import { pause } from "../../lib/core/pause.ts";
import { assert, assertEquals } from "@std/assert";
import { migrationWorld } from "../migrations/migration_world.ts";
import { killChildren } from "../testing/engine_children.ts";
import { rounds } from "../testing/rounds.ts";
import { serviceWorld } from "../testing/service_world.ts";
import { startApp } from "../testing/start_app.ts";
import { type RunningService, startService } from "../testing/start_service.ts";
import { writeFolder } from "../cli/tool_folders.ts";

const ROWS = 20_000;

/** A file that works for some milliseconds behind its first change. */
function longFile(at: number): readonly [string, string] {
  const fill = `WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < ${ROWS})`;
  return [
    `${String(at).padStart(4, "0")}_fill.sql`,
    `CREATE TABLE fill_${at} (i INTEGER PRIMARY KEY);\nINSERT INTO fill_${at} ${fill} SELECT i FROM c;\n` +
    `UPDATE runs SET count = count + 1;`,
  ];
}

const FIRST = ["0000_runs.sql", "CREATE TABLE runs (count INTEGER); INSERT INTO runs VALUES (0);"] as const;

Deno.test("a kill of the engine child in a file leaves it whole or not at all, and it is applied once", async () => {
  await using app = await startApp();
  const world = await migrationWorld(app, "acme");
  await world.apply([FIRST]);
  let [killed, failed] = [0, 0];
  const count = rounds(6, 60);
  for (let round = 1; round <= count; round++) {
    const files = Array.from({ length: round }, (_, at) => longFile(at + 1));
    const posting = world.post([FIRST, ...files]);
    await pause(round % 8 * 6);
    killed += await killChildren(app.deps.config.dataDir);
    const { status } = await posting;
    const names = await world.names();
    // The record tells the truth: the table is there with all of its rows, or nothing of it is.
    const there = await world.rows(`SELECT count(*) FROM sqlite_schema WHERE name = 'fill_${round}'`);
    assertEquals(there, [[names.length > round ? 1 : 0]]);
    if (status !== 200) failed++;
    await world.apply([FIRST, ...files]);
    assertEquals(await world.rows(`SELECT (SELECT count FROM runs), (SELECT count(*) FROM fill_${round})`), [[
      round,
      ROWS,
    ]]);
  }
  assertEquals((await world.names()).length, count + 1);
  assert(killed > 0, `${killed} children killed, ${failed} calls failed`);
});

Deno.test("a kill of the service in a file loses nothing, and the command goes on where it was", async () => {
  await using world = await serviceWorld();
  const files = Array.from({ length: 12 }, (_, at) => longFile(at + 1));
  const folder = await writeFolder(Object.fromEntries([FIRST, ...files]));
  const task: { tasks: { migrate: string } } = JSON.parse(
    await Deno.readTextFile(new URL("../../deno.json", import.meta.url)),
  );
  const run = (url: string) =>
    new Deno.Command(Deno.execPath(), {
      args: [...task.tasks.migrate.split(" ").slice(1), "--dir", folder],
      cwd: new URL("../../", import.meta.url).pathname,
      env: { CUBBY_DB: `${url}/v1/db/acme/main`, CUBBY_TOKEN: world.token },
    }).output();
  let service: RunningService = world.service;
  try {
    for (let round = 0; round < rounds(2, 10); round++) {
      const running = run(service.url);
      await pause(400 + round * 40);
      await service.kill();
      await running;
      service = await startService({ folder: world.folder, settings: { DEMO: "0", TENANTS_URL: "file:" } });
    }
    const { code, stdout } = await run(service.url);
    assertEquals(code, 0, new TextDecoder().decode(stdout));
    const sums = files.map((_, at) => `(SELECT count(*) FROM fill_${at + 1})`).join(" + ");
    const asked = await fetch(`${service.url}/v1/db/acme/main/query`, {
      method: "POST",
      headers: { authorization: `Bearer ${world.token}` },
      body: JSON.stringify({
        sql: `SELECT count, ${sums}, (SELECT count(*) FROM _service_meta_migration) FROM runs`,
      }),
    });
    assertEquals((await asked.json()).data.rows, [[files.length, files.length * ROWS, files.length + 1]]);
  } finally {
    await service.kill();
    await Deno.remove(folder, { recursive: true });
  }
});
