// A restore whose instance dies on its way, or stands still for longer than its claim lasts, with another instance on the
// same sqld: the database is open again soon, and nothing that was acknowledged is lost. And two snapshots of one millisecond.
import { pause } from "../../lib/core/pause.ts";
import { assert, assertEquals } from "@std/assert";
import { suspend } from "../testing/suspend.ts";
import { type Answer, type Instances, withInstances } from "./instances_world.ts";

/** Milliseconds until a caller is answered: what the claim still lasts, and a busy machine's own time. */
const SOON_MS = 60_000;
/** Milliseconds that the instance stands still: more than a claim lasts. */
const STILL_MS = 12_000;

/** Begins a restore by the first instance and calls `stop` when its copy is under way. */
async function restoring(
  { ask, admin }: Instances,
  stop: () => unknown,
): Promise<{ ended: Promise<Answer> }> {
  const begun = Promise.withResolvers<void>();
  admin.between = async ({ route }, go) => {
    if (!route.includes("/fork/")) return await go();
    await stop();
    begun.resolve();
    return await go("alone");
  };
  const ended = ask(0, "POST", "/v1/db/acme/main/restore", { snapshot: "mine" });
  await begun.promise;
  admin.between = null;
  return { ended };
}

/** By the second instance; asks again while it is told to. */
async function untilDone(world: Instances, sql: string): Promise<number> {
  const startMs = performance.now();
  for (;;) {
    const { status, code } = await world.query(1, "main", sql);
    const ms = performance.now() - startMs;
    if (status === 200) return ms;
    assert(ms < SOON_MS && [0, 503].includes(status), `${status} ${code} after ${ms} ms`);
  }
}

async function prepare({ ask, query }: Instances): Promise<void> {
  assertEquals((await ask(0, "POST", "/v1/db/acme/main/snapshots", { label: "mine" })).status, 201);
  assertEquals((await query(0, "main", "INSERT INTO t VALUES ('before')")).status, 200);
}

async function values({ query }: Instances, at: number): Promise<unknown> {
  return (await query(at, "main", "SELECT group_concat(a) FROM t")).data?.rows;
}

Deno.test("a database whose restore died with its instance takes writes again when the claim is over", async () => {
  await withInstances(async (world) => {
    await prepare(world);
    const [service] = world.services;
    const { ended } = await restoring(world, () => service?.kill());
    await untilDone(world, "INSERT INTO t VALUES ('after')");
    await ended;
    assertEquals(await values(world, 1), [["before,after"]]);
    assertEquals((await world.ask(1, "POST", "/v1/db/acme/main/restore", { snapshot: "mine" })).status, 200);
    assertEquals(await values(world, 1), [[null]]);
  });
});

Deno.test("a restore whose instance stood still moves nothing and closes nothing once it has lost its claim", async () => {
  await withInstances(async (world) => {
    await prepare(world);
    const pid = world.services[0]?.pid ?? 0;
    const { ended } = await restoring(world, () => suspend(pid));
    const stoppedMs = performance.now();
    await untilDone(world, "INSERT INTO t VALUES ('after')");
    await pause(STILL_MS - (performance.now() - stoppedMs));
    Deno.kill(pid, "SIGCONT");
    await ended;
    for (let n = 0; n < 5; n++) {
      assertEquals((await world.query(1, "main", `INSERT INTO t VALUES (${n})`)).status, 200);
      await pause(100);
    }
    assertEquals(await values(world, 0), [["before,after,0,1,2,3,4"]]);
  });
});

/** As if another instance were faster by a moment with each snapshot of the service's own, and had its label. */
const FASTER = `CREATE TRIGGER faster BEFORE INSERT ON snapshot WHEN NEW.automatic = 1 BEGIN
  INSERT INTO snapshot VALUES (NEW.database_id, NEW.label, 'elsewhere', NEW.created_at, 0, 1);
END`;

Deno.test("a call whose snapshot would have the label of another instance's is to be tried again, and has done nothing", async () => {
  await withInstances(async (world) => {
    await prepare(world);
    const path = "/v1/db/acme/main";
    const proposed = await world.ask(0, "POST", `${path}/propose`, { sql: "DELETE FROM t" });
    const { executionToken } = { executionToken: "", ...proposed.data };
    const apply = () => world.ask(0, "POST", `${path}/apply`, { executionToken });
    await world.catalog(FASTER);
    const answers = [
      await world.query(0, "main", "DELETE FROM t"),
      await apply(),
      await world.ask(0, "POST", `${path}/restore`, { snapshot: "mine" }),
    ];
    await world.catalog("DROP TRIGGER faster");
    assertEquals(
      answers.map(({ status, code }) => [status, code]),
      answers.map(() => [503, "database_busy"]),
    );
    await untilDone(world, "SELECT 1");
    assertEquals(await values(world, 1), [["before"]]);
    assertEquals((await apply()).status, 200);
    assertEquals(await values(world, 1), [[null]]);
  });
});
