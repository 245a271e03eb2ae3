// Who may work at a time: files that are on their way keep nobody from working, and those that have come wait for their turn.
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { pause } from "../../lib/core/pause.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { exportLimits, importLimits } from "../../lib/core/limits_of_transfers.ts";
import { TransferPlaces, type WorkingExports } from "../../lib/services/transfer/transfer_places.ts";
import { testSteps } from "../testing/cases.ts";
import { startApp } from "../testing/start_app.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { type TransferWorld, transferWorld } from "./transfer_world.ts";

const DUMP = new TextEncoder().encode("CREATE TABLE t (v);\nINSERT INTO t VALUES (1);\n");

interface SlowFile {
  readonly body: ReadableStream<Uint8Array>;
  /** Resolves when its first bytes were taken. */
  readonly begun: Promise<void>;
  finish(): void;
}

/** A file whose end is sent when the test says so. */
function slowFile(): SlowFile {
  const [begun, finished] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(DUMP),
    pull: async (controller) => {
      begun.resolve();
      await finished.promise;
      controller.close();
    },
  }, { highWaterMark: 0 });
  return { body, begun: begun.promise, finish: finished.resolve };
}

/** Imports into databases of their own that wait for the end of their files. */
async function slowImports({ acme, import: send }: TransferWorld, count: number) {
  const files = Array.from({ length: count }, slowFile);
  const sending = await Promise.all(files.map(async ({ body }, at) => {
    const { path } = await acme.createDatabase(`slow-${at}`);
    // Not awaited here: an object keeps the promise as it is.
    return { answer: send("format=sql&mode=create", body, { path }) };
  }));
  await Promise.all(files.map(({ begun }) => begun));
  return {
    finish: async () => {
      for (const { finish } of files) finish();
      return (await Promise.all(sending.map(({ answer }) => answer))).map(({ status }) => status);
    },
  };
}

/** Two exports of the namespace that work until their answers are left. */
async function exportsAtWork({ acme, export: open }: TransferWorld) {
  await acme.setup(
    "CREATE TABLE large (v)",
    "INSERT INTO large WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000) " +
      "SELECT hex(randomblob(500)) FROM n",
  );
  const answers = [await open("format=csv&table=large"), await open("format=sql")];
  assertEquals(answers.map(({ status }) => status), [200, 200]);
  return { answers, leave: () => Promise.all(answers.map(({ body }) => body?.cancel())) };
}

/** Imports under an id, and what is told of it. */
async function waitingImport({ app, acme, import: send }: TransferWorld, id: string) {
  const { path } = await acme.createDatabase(id);
  const answer = send(`format=sql&mode=create&id=${id}`, DUMP, { path });
  const ask = (method: string) => app.request(method, `${path}/imports/${id}`, { token: acme.token });
  const state = async () => Reflect.get(Object((await ask("GET")).body.data), "state");
  while (await state() !== "waiting") await pause(20);
  return { path, answer, ask };
}

/** Exports at work, of which these are slow. */
function working(taken: string[], slow: string[] = []): WorkingExports {
  return {
    namespaces: () => taken,
    endSlow: (namespaceId) => {
      const ended = slow.find((one) => namespaceId === null || one === namespaceId);
      if (ended === undefined) return false;
      slow.splice(slow.indexOf(ended), 1);
      taken.splice(taken.indexOf(ended), 1);
      return true;
    },
  };
}

Deno.test("never more work than may, however many come at once, and each of them has its turn", async () => {
  const places = new TransferPlaces(systemClock, working([]));
  const { signal } = new AbortController();
  const [atWork, most] = [new Map<string, number>(), { all: 0, own: 0 }];
  const work = async (namespaceId: string) => {
    atWork.set(namespaceId, (atWork.get(namespaceId) ?? 0) + 1);
    const counts = [...atWork.values()];
    most.all = Math.max(most.all, counts.reduce((sum, count) => sum + count, 0));
    most.own = Math.max(most.own, ...counts);
    await pause(Math.random() * 5);
    atWork.set(namespaceId, (atWork.get(namespaceId) ?? 0) - 1);
    return namespaceId;
  };
  const namespaces = ["a", "a", "a", "a", "b", "b", "b", "c", "c", "d"];
  const done = await Promise.all(namespaces.map((one) => places.duringWork(one, signal, () => work(one))));
  assertEquals(done, namespaces);
  assertEquals(most, { all: exportLimits.running, own: exportLimits.runningOfNamespace });
});

Deno.test("who has waited too long for a place is told to try again, and leaves the line", async () => {
  const clock = new TurnableClock();
  const taken = ["b", "c", "c", "d"];
  const places = new TransferPlaces(clock, working(taken));
  const { signal } = new AbortController();
  const waiting = places.duringWork("a", signal, () => Promise.resolve());
  clock.turn(importLimits.waitMs);
  assertEquals(await waiting.catch((error) => error.code), "too_many_transfers");
  taken.pop();
  places.requireRoom("a");
});

Deno.test("of slow exports as many give way as are in the way, those of others only where all places are taken", async () => {
  const [taken, slow] = [["a", "a", "b", "c"], ["a", "b", "c"]];
  const places = new TransferPlaces(systemClock, working(taken, slow));
  places.requireRoom("a");
  assertEquals([taken, slow], [["a", "b", "c"], ["b", "c"]]);
  taken.push("d");
  const { signal } = new AbortController();
  assertEquals(await places.duringWork("e", signal, () => Promise.resolve([...slow])), ["c"]);
  taken.push("d");
  // It has two of its own that are quick, so nobody else's end would help.
  assertThrows(() => places.requireRoom("d"), /as many exports and imports run as may/);
  assertEquals([taken, slow], [["a", "c", "d", "d"], ["c"]]);
});

Deno.test("a text that its client hardly takes gives way after a minute, and can be had again", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  const world = await transferWorld(app, "acme");
  const held = await exportsAtWork(world);
  const ask = () => world.export("format=csv&table=large");
  assertEquals((await ask()).status, 429);
  clock.turn(exportLimits.slowAfterMs);
  const others = [await ask(), await ask()];
  assertEquals(others.map(({ status }) => status), [200, 200]);
  assertEquals((await ask()).status, 429);
  for (const answer of held.answers) await assertRejects(() => answer.bytes(), /others need the place/);
  for (const { body } of others) await body?.cancel();
  const [first] = held.answers;
  const again = await world.exported(`format=csv&id=${first?.headers.get("X-Export-Id")}`);
  assert(again.length > 4_000_000);
});

testSteps("places of transfers", transferWorld, {
  "files that come slowly keep nobody from exporting and importing": async (world) => {
    const { acme, exported } = world;
    await acme.setup("CREATE TABLE mine (v)", "INSERT INTO mine VALUES (7)");
    const slow = await slowImports(world, importLimits.uploadsOfNamespace - 1);
    const csv = new TextDecoder().decode(await exported("format=csv&table=mine"));
    assertEquals(csv.trim().split(/\r?\n/), ["v", "7"]);
    const { path } = await acme.createDatabase("quick");
    const quick = await world.import("format=sql&mode=create", DUMP, { path });
    assertEquals(quick.status, 200, quick.text);
    assertEquals(await slow.finish(), [200, 200, 200]);
  },

  "only so many files of a namespace come at a time, and none of them is lost": async (world) => {
    const { acme } = world;
    const slow = await slowImports(world, importLimits.uploadsOfNamespace);
    const { path } = await acme.createDatabase("more");
    const refused = await world.import("format=sql&mode=create", DUMP, { path });
    assertEquals([refused.status, refused.body.code], [429, "too_many_transfers"], refused.text);
    assertEquals(await slow.finish(), [200, 200, 200, 200]);
    const again = await world.import("format=sql&mode=create", DUMP, { path });
    assertEquals(again.status, 200, again.text);
  },

  "a file that has come waits for the exports at work, ahead of those that come later": async (world) => {
    const { acme } = world;
    const exports = await exportsAtWork(world);
    const { path, answer } = await waitingImport(world, "waits");
    const third = await world.export("format=csv&table=large");
    assertEquals([third.status, (await third.json()).code], [429, "too_many_transfers"]);
    await exports.leave();
    assertEquals((await answer).status, 200, (await answer).text);
    const body = { sql: "SELECT v FROM t" };
    const kept = await world.app.request("POST", `${path}/query`, { token: acme.token, body });
    assertEquals(rowsOf(kept), [[1]]);
  },

  "a file that waits is cancelled, and its place in the line is given up": async (world) => {
    const exports = await exportsAtWork(world);
    const first = await waitingImport(world, "first");
    const second = await waitingImport(world, "second");
    // What waits here takes no place from others.
    const other = await transferWorld(world.app, `${world.acme.slug}-other`);
    await other.acme.setup("CREATE TABLE mine (v)");
    assertEquals((await other.exported("format=csv&table=mine")).length > 0, true);
    const cancelled = await first.ask("DELETE");
    assertEquals(cancelled.body.data, { id: "first", cancelled: true }, cancelled.text);
    assertEquals((await first.answer).body.code, "import_cancelled");
    await exports.leave();
    assertEquals((await second.answer).status, 200, (await second.answer).text);
  },
});
