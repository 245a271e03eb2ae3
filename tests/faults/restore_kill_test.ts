// The service is killed between a restore, or migrations, and the note of the answer in KV: what is repeated as the same step of a
// plan is answered, and does not undo what was written since.
import { DatabaseSync } from "node:sqlite";
import { assertEquals } from "@std/assert";
import { engineChildren } from "../testing/engine_children.ts";
import { callService, manage, type ServiceWorld, serviceWorld } from "../testing/service_world.ts";
import { startService } from "../testing/start_service.ts";
import { suspend } from "../testing/suspend.ts";
import type { ReplayRecord } from "../../lib/store/records.ts";
import type { ApprovalRecord } from "../../lib/store/write_records.ts";
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
  for await (const { name: folder, isDirectory } of Deno.readDir(tenants)) {
    if (!isDirectory) continue;
    for await (const { name } of Deno.readDir(`${tenants}/${folder}`)) {
      if (name.endsWith(".db")) return (await Deno.stat(`${tenants}/${folder}/${name}`)).ino;
    }
  }
  return null;
}

/** Settles when an approval is being redeemed, as a step whose claim is noted. */
async function isRedeemed(kvPath: string): Promise<void> {
  await changeClaim(kvPath, (record) => record);
  using kv = await openKvFile(kvPath);
  for (;;) {
    for await (const { value } of kv.list<ApprovalRecord>({ prefix: ["approval"] })) {
      if (value.state === "redeemed") return;
    }
    await pause();
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}

/** The namespace, and calls of a service by its token. */
async function killWorld() {
  const world = await serviceWorld();
  const post = async (url: string, path: string, body: object, step: string | null = path) => {
    const plan = step === null ? {} : { "plan-key": "p", "plan-step": step };
    const headers = { authorization: `Bearer ${world.token}`, "content-type": "application/json", ...plan };
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
  return { world, post, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

/**
 * Kills the service behind what `ask` asks for, and before anything is noted of it in KV. `begun`: settles when KV has all that
 * is written there before; `done`: when it is committed. Unless given, it is a restore.
 */
async function killBehind(
  { service, folder }: ServiceWorld,
  ask: () => Promise<unknown>,
  { begun, done }: {
    readonly begun: (kvPath: string) => Promise<void>;
    readonly done?: () => Promise<boolean>;
  },
): Promise<void> {
  const kvPath = `${folder}/kv.sqlite3`;
  // It is asked for, then nobody can write KV, then it is done.
  const children = await engineChildren(folder);
  await Promise.all(children.map(suspend));
  const running = ask().catch(() => null);
  await begun(kvPath);
  const lock = new DatabaseSync(kvPath);
  lock.exec("BEGIN IMMEDIATE");
  const before = await fileNumber(`${folder}/tenants`);
  for (const pid of children) Deno.kill(pid, "SIGCONT");
  const isReplaced = async () => await fileNumber(`${folder}/tenants`) !== before;
  while (!await (done ?? isReplaced)()) await pause();
  await service.kill();
  lock.close();
  assertEquals(await running, null);
  await changeClaim(kvPath, (record) => ({ ...record, untilMs: 0 }));
}

/** The token of what is held by a rule over deletions, and approved. */
async function approved(
  world: ServiceWorld,
  ask: () => Promise<{ readonly body: Readonly<Record<string, string>> }>,
): Promise<string> {
  const rule = { tableGlob: "t", effect: "require_approval", actions: ["delete"] };
  await manage(world, "/acme/databases/main/rules", rule);
  const { code, approvalToken = "", approvalUrl = "" } = (await ask()).body;
  assertEquals(code, "approval_required");
  const id = approvalUrl.slice(approvalUrl.lastIndexOf("/") + 1);
  await manage(world, `/acme/approvals/${id}/approve`, {});
  return approvalToken;
}

const settings = { DEMO: "0", TENANTS_URL: "file:" };

Deno.test("a kill between a restore and the note of its answer does not let the step restore again", async () => {
  await using killed = await killWorld();
  const { world, post } = killed;
  const restore = (url: string) => post(url, "restore", { snapshot: "empty" });
  await killBehind(world, () => restore(world.service.url), {
    begun: (path) => changeClaim(path, (record) => record),
  });

  await using service = await startService({ folder: world.folder, settings });
  const again = { ...world, service };
  assertEquals((await callService(again, COUNT)).body.data?.rows, [[0]]);
  await callService(again, INSERT);
  for (let round = 0; round < 2; round++) {
    const answer = await restore(service.url);
    assertEquals([answer.status, answer.replayed, answer.body.data.snapshot], [200, "true", "empty"]);
    assertEquals((await callService(again, COUNT)).body.data?.rows, [[1]]);
  }
});

Deno.test("a kill between an approved restore and the note that it has run leaves its redeemer the answer", async () => {
  await using killed = await killWorld();
  const { world, post } = killed;
  const approvalToken = await approved(
    world,
    () => post(world.service.url, "restore", { snapshot: "empty" }),
  );
  const redeem = (url: string) => post(url, "redeem_approval", { approvalToken });
  await killBehind(world, () => redeem(world.service.url), { begun: isRedeemed });

  await using service = await startService({ folder: world.folder, settings });
  const again = { ...world, service };
  assertEquals((await callService(again, COUNT)).body.data?.rows, [[0]]);
  await callService(again, INSERT);
  // Without the step nobody is told before it is sure that the process has ended.
  assertEquals((await post(service.url, "redeem_approval", { approvalToken }, null)).status, 404);
  for (const ask of [redeem, redeem, (url: string) => post(url, "restore", { snapshot: "empty" })]) {
    const { status, body } = await ask(service.url);
    assertEquals([status, body.data.snapshot], [200, "empty"]);
    assertEquals((await callService(again, COUNT)).body.data?.rows, [[1]]);
  }
});

Deno.test("a kill between approved migrations and the note that they have run leaves their redeemer the answer", async () => {
  await using killed = await killWorld();
  const { world, post } = killed;
  const files = [
    { name: "1.sql", sql: "DELETE FROM t" },
    { name: "2.sql", sql: "CREATE TABLE made (a)" },
  ];
  const apply = (url: string) => post(url, "migrations", { files });
  const approvalToken = await approved(world, () => apply(world.service.url));
  const redeem = (url: string) => post(url, "redeem_approval", { approvalToken });
  await killBehind(world, () => redeem(world.service.url), {
    begun: isRedeemed,
    done: async () => (await callService(world, "SELECT count(*) FROM made")).status === 200,
  });

  await using service = await startService({ folder: world.folder, settings });
  const again = { ...world, service };
  await callService(again, INSERT);
  for (const ask of [redeem, redeem, apply]) {
    const { status, body } = await ask(service.url);
    assertEquals([status, body.data?.applied], [200, ["1.sql", "2.sql"]], JSON.stringify(body));
    assertEquals((await callService(again, COUNT)).body.data?.rows, [[1]]);
  }
});
