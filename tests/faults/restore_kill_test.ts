// The service is killed between a restore and the note of its answer in KV: what is repeated as the same step of a plan is
// answered, and does not undo what was written since.
import { DatabaseSync } from "node:sqlite";
import { assertEquals } from "@std/assert";
import { engineChildren } from "../testing/engine_children.ts";
import { callService, serviceWorld } from "../testing/service_world.ts";
import { startService } from "../testing/start_service.ts";
import { suspend } from "../testing/suspend.ts";
import type { ReplayRecord } from "../../lib/store/records.ts";
import { openKvFile } from "./open_kv_file.ts";

const COUNT = "SELECT count(*) FROM t";
const INSERT = "INSERT INTO t VALUES (1)";

/** Changes the record of the call that is claimed, once there is one. */
async function changeClaim(kvPath: string, change: (record: ReplayRecord) => ReplayRecord): Promise<void> {
  using kv = await openKvFile(kvPath);
  for (;;) {
    for await (const { key, value } of kv.list<ReplayRecord>({ prefix: ["replay"] })) {
      if (value.state !== "running") continue;
      await kv.set(key, change(value));
      return;
    }
    await pause();
  }
}

/** Tells apart the files that have the name of the one database; a restore puts another one in its place. */
async function fileNumber(tenants: string): Promise<number | null> {
  for await (const { name: folder } of Deno.readDir(tenants)) {
    for await (const { name } of Deno.readDir(`${tenants}/${folder}`)) {
      if (name.endsWith(".db")) return (await Deno.stat(`${tenants}/${folder}/${name}`)).ino;
    }
  }
  return null;
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}

Deno.test("a kill between a restore and the note of its answer does not let the step restore again", async () => {
  await using world = await serviceWorld();
  const kvPath = `${world.folder}/kv.sqlite3`;
  const post = async (url: string, path: string, body: object) => {
    const headers = {
      ...{ authorization: `Bearer ${world.token}`, "content-type": "application/json" },
      ...{ "plan-key": "p", "plan-step": path },
    };
    const answer = await fetch(`${url}/v1/db/acme/main/${path}`, {
      ...{ method: "POST", headers, body: JSON.stringify(body) },
    });
    return {
      status: answer.status,
      replayed: answer.headers.get("plan-replayed"),
      body: await answer.json(),
    };
  };
  await callService(world, "CREATE TABLE t (a)");
  assertEquals((await post(world.service.url, "snapshots", { label: "empty" })).status, 201);
  await callService(world, INSERT);

  // The restore is claimed, then nobody can write KV, then the restore is done.
  const children = await engineChildren(world.folder);
  await Promise.all(children.map(suspend));
  const running = post(world.service.url, "restore", { snapshot: "empty" }).catch(() => null);
  await changeClaim(kvPath, (record) => record);
  const lock = new DatabaseSync(kvPath);
  lock.exec("BEGIN IMMEDIATE");
  const before = await fileNumber(`${world.folder}/tenants`);
  for (const pid of children) Deno.kill(pid, "SIGCONT");
  while (await fileNumber(`${world.folder}/tenants`) === before) await pause();
  await world.service.kill();
  lock.close();
  assertEquals(await running, null);
  await changeClaim(kvPath, (record) => ({ ...record, untilMs: 0 }));

  await using service = await startService({
    folder: world.folder,
    settings: { DEMO: "0", TENANTS_URL: "file:" },
  });
  const again = { ...world, service };
  assertEquals((await callService(again, COUNT)).body.data?.rows, [[0]]);
  await callService(again, INSERT);
  for (let round = 0; round < 2; round++) {
    const answer = await post(service.url, "restore", { snapshot: "empty" });
    assertEquals([answer.status, answer.replayed, answer.body.data.snapshot], [200, "true", "empty"]);
    assertEquals((await callService(again, COUNT)).body.data?.rows, [[1]]);
  }
});
