// Exports and imports whose processes are ended from outside, and clients that go away: nothing half-made is seen, and nothing
// is left behind.
import { assert, assertEquals, assertRejects } from "@std/assert";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { CHILD_WORK_MS } from "../../lib/core/limits_of_transfers.ts";
import { pause } from "../../lib/core/pause.ts";
import type { TransferJob } from "../../lib/tenant/transfer/job.ts";
import { sweepFolders } from "../../lib/tenant/transfer/process_folders.ts";
import { TransferRoom, type TransferRun } from "../../lib/tenant/transfer/transfer_room.ts";
import { suspend } from "../testing/suspend.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";

const ROWS = 4000;
const FILL =
  `INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS}) ` +
  "SELECT hex(randomblob(1000)) FROM n";

async function world(): Promise<{ app: StartedApp; acme: TestNamespace } & AsyncDisposable> {
  const app = await startApp();
  const acme = await app.namespace();
  await acme.setup("CREATE TABLE t (v)", FILL);
  return { app, acme, [Symbol.asyncDispose]: () => app.stop() };
}

function exportOf(app: StartedApp, acme: TestNamespace, query: string): Promise<Response> {
  return Promise.resolve(app.app.request(`${acme.database.path}/export?${query}`, {
    headers: { authorization: `Bearer ${acme.token}` },
  }));
}

/** Hands each child of a transfer over as it starts, in which folder. */
function onStart(
  app: StartedApp,
  started: (run: TransferRun, folder: string, job: TransferJob) => void | Promise<void>,
): void {
  const room = app.deps.tenants.transfers?.room;
  assert(room);
  const startIn = room.startIn.bind(room);
  room.startIn = async (folder, job) => {
    const run = await startIn(folder, job);
    await started(run, folder, job);
    return run;
  };
}

/** What is in the folder of transfers; empty where there is none. */
function leftOvers(app: StartedApp, embedded = `${app.deps.config.dataDir}/tenants/transfers`): string[] {
  try {
    return Array.from(Deno.readDirSync(embedded), ({ name }) => name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** What the children do that a test lets stand still. */
const STANDING: readonly TransferJob["do"][] = ["export", "build"];

const linuxOnly = { ignore: Deno.build.os !== "linux" };

Deno.test({
  ...linuxOnly,
  name: "an export whose process is killed breaks the answer off, and its copy can be read again",
  fn: async () => {
    await using made = await world();
    const { app, acme } = made;
    let pid = 0;
    onStart(app, ({ process }) => void (pid = process.pid));
    const answer = await exportOf(app, acme, "format=csv&table=t");
    const id = answer.headers.get("x-export-id") ?? "";
    const reader = answer.body?.getReader();
    assert(reader);
    await reader.read();
    Deno.kill(pid, "SIGKILL");
    let failed = false;
    try {
      while (!(await reader.read()).done);
    } catch {
      failed = true;
    }
    assert(failed, "a client would take the part for the whole");
    const again = await exportOf(app, acme, `format=csv&table=t&id=${id}`);
    assertEquals((await again.bytes()).length, ROWS * 2002 + 3);
  },
});

Deno.test({
  ...linuxOnly,
  name:
    "an import whose process is killed, the one that reads or the one that builds, changes nothing and does not blame the file",
  fn: async () => {
    await using made = await world();
    const { app, acme } = made;
    const file = await (await exportOf(app, acme, "format=sqlite")).bytes();
    await acme.setup("INSERT INTO t VALUES ('newer')");
    const before = leftOvers(app).length;
    let [part, signal]: [string, Deno.Signal] = ["", "SIGKILL"];
    onStart(app, ({ process }, folder) => {
      if (part !== "" && folder.endsWith(part)) Deno.kill(process.pid, signal);
    });
    const ends = ["SIGKILL", "SIGTERM"] as const;
    for ([part, signal] of ends.flatMap((one) => [["/in", one], ["/out", one]] as const)) {
      const answer = await app.request("POST", `${acme.database.path}/import?format=sqlite&mode=replace`, {
        token: acme.token,
        body: file,
      });
      assertEquals([answer.status, answer.body.code], [503, "store_unavailable"], answer.text);
      assertEquals(rowsOf(await acme.query("SELECT count(*) FROM t")), [[ROWS + 1]]);
    }
    assertEquals(leftOvers(app).length, before);
    part = "";
    const whole = await app.request("POST", `${acme.database.path}/import?format=sqlite&mode=replace`, {
      token: acme.token,
      body: file,
    });
    assertEquals(whole.status, 200, whole.text);
    assertEquals(rowsOf(await acme.query("SELECT count(*) FROM t")), [[ROWS]]);
  },
});

Deno.test({
  ...linuxOnly,
  name: "an export or an import whose process stands still ends after an hour, and its place is free again",
  fn: async () => {
    await using made = await world();
    const { app, acme } = made;
    let [standsStill, standing] = [true, 0];
    onStart(app, async ({ process }, _folder, job) => {
      if (!standsStill || !STANDING.includes(job.do)) return;
      await suspend(process.pid);
      standing++;
    });
    // Only these timers are counted, and run when the test says so.
    const { setTimeout: real } = globalThis;
    const late: (() => void)[] = [];
    globalThis.setTimeout = ((run: () => void, ms: number) => {
      if (ms !== CHILD_WORK_MS) return real(run, ms);
      late.push(run);
      return real(() => {}, 0);
    }) as typeof setTimeout;
    const hourOver = async () => {
      while (late.length === 0 || standsStill && standing === 0) await pause(1);
      standing = 0;
      for (const run of late.splice(0)) run();
    };
    try {
      for (const query of ["format=csv&table=t", "format=sqlite"]) {
        late.length = 0;
        const answering = exportOf(app, acme, query);
        await hourOver();
        const answer = await answering;
        assertEquals([query, answer.status, (await answer.json()).code], [query, 503, "store_unavailable"]);
      }
      late.length = 0;
      const importing = app.request("POST", `${acme.database.path}/import?format=sql&mode=replace`, {
        token: acme.token,
        body: new TextEncoder().encode("CREATE TABLE other (v);\n"),
      });
      await hourOver();
      const { status, body: refusal } = await importing;
      assertEquals([status, refusal.code], [400, "import_refused"]);
      // Begun, a text can only break off. It has more than a pipe takes.
      standsStill = false;
      let pid = 0;
      onStart(app, ({ process }) => void (pid = process.pid));
      const { body } = await exportOf(app, acme, "format=csv&table=t");
      await suspend(pid);
      late.length = 0;
      const reading = assertRejects(() => new Response(body).bytes());
      await hourOver();
      await reading;
    } finally {
      globalThis.setTimeout = real;
    }
    const whole = await Promise.all([
      exportOf(app, acme, "format=csv&table=t"),
      exportOf(app, acme, "format=sqlite"),
    ]);
    assertEquals(whole.map(({ status }) => status), [200, 200]);
    await Promise.all(whole.map((answer) => answer.bytes()));
  },
});

Deno.test({
  ...linuxOnly,
  name: "an import whose second process cannot be started ends the first one",
  fn: async () => {
    await using made = await world();
    const { app, acme } = made;
    const room = app.deps.tenants.transfers?.room;
    assert(room);
    const startIn = room.startIn.bind(room);
    const started: TransferRun[] = [];
    room.startIn = async (folder, job) => {
      if (job.do === "build") throw new Deno.errors.WouldBlock("no more processes");
      const run = await startIn(folder, job);
      started.push(run);
      return run;
    };
    // More than a pipe takes: nobody reads what the first one says.
    const answer = await app.request("POST", `${acme.database.path}/import?format=sql&mode=replace`, {
      token: acme.token,
      body: new TextEncoder().encode(
        "CREATE TABLE other (v);\n" + "INSERT INTO other VALUES (1);\n".repeat(ROWS),
      ),
    });
    assertEquals(answer.status, 500, answer.text);
    const [reader] = started;
    assert(reader);
    let hasEnded = false;
    reader.ended.then(() => hasEnded = true);
    await pause(0);
    // Otherwise it would outlive the test too.
    reader.kill();
    assert(hasEnded, "nobody ends the process that reads");
    assertEquals(leftOvers(app), []);
  },
});

Deno.test("a client that goes away in the middle of an upload changes nothing and leaves nothing", async () => {
  await using made = await world();
  const { app, acme } = made;
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (sent++ < 3) controller.enqueue(new TextEncoder().encode("CREATE TABLE other (v);\n".repeat(sent)));
      else controller.error(new Error("gone"));
    },
  });
  const answer = await app.request("POST", `${acme.database.path}/import?format=sql&mode=replace`, {
    token: acme.token,
    body,
  });
  assertEquals(answer.status, 408, answer.text);
  assertEquals(rowsOf(await acme.query("SELECT count(*) FROM t")), [[ROWS]]);
  assertEquals(leftOvers(app), []);
});

Deno.test("one child at a time reads the copy of an export, and none that was cancelled while it was made", async () => {
  await using made = await world();
  const { app, acme } = made;
  const first = await exportOf(app, acme, "format=csv&table=t");
  await first.bytes();
  const again = `format=csv&table=t&id=${first.headers.get("x-export-id")}`;
  const both = await Promise.all([exportOf(app, acme, again), exportOf(app, acme, again)]);
  assertEquals(both.map(({ status }) => status).sort(), [200, 429]);
  await Promise.all(both.map((answer) => answer.bytes()));

  const { transfers } = app.deps.tenants;
  assert(transfers);
  const copyOut = transfers.copyOut.bind(transfers);
  const before = leftOvers(app);
  transfers.copyOut = async (owner, id) => {
    await copyOut(owner, id);
    await app.request("DELETE", `${acme.database.path}/exports/${id}`, { token: acme.token });
    // What wrote the copy may have made the folder again.
    await transfers.room.make(id);
  };
  const cancelled = await exportOf(app, acme, "format=csv&table=t");
  assertEquals((await cancelled.json()).code, "export_not_found");
  assertEquals(leftOvers(app), before);
});

Deno.test("what processes have left that were killed is removed, and what others work in is not", async () => {
  const place = await Deno.makeTempDir();
  const works = new TransferRoom({ folder: `${place}/works`, isShared: true, environment: {} });
  await works.make("exp_1");
  await Deno.mkdir(`${place}/killed/exp_2`, { recursive: true });
  await Deno.writeTextFile(`${place}/killed.lock`, "");
  await sweepFolders(place);
  assertEquals(Array.from(Deno.readDirSync(place), ({ name }) => name).sort(), ["works", "works.lock"]);
  await works.close();
  assertEquals(Array.from(Deno.readDirSync(place)), []);
  await Deno.remove(place);
});

Deno.test("a lock that could not be taken is taken by the next transfer", async () => {
  const place = await Deno.makeTempDir();
  await Deno.writeTextFile(`${place}/blocked`, "");
  const room = new TransferRoom({ folder: `${place}/blocked/works`, isShared: true, environment: {} });
  await assertRejects(() => room.make("exp_1"));
  await Deno.remove(`${place}/blocked`);
  await room.make("exp_1");
  assertEquals(Array.from(Deno.readDirSync(`${place}/blocked`), ({ name }) => name).sort(), [
    "works",
    "works.lock",
  ]);
  await room.close();
  await Deno.remove(place, { recursive: true });
});

Deno.test("a stop ends exports on their way, and a start removes what is left of them", async () => {
  const made = await world();
  const { app, acme } = made;
  const answer = await exportOf(app, acme, "format=csv&table=t");
  const reader = answer.body?.getReader();
  await reader?.read();
  await app.deps.tenants.transfers?.room.close();
  assertEquals(leftOvers(app), []);
  await reader?.cancel().catch(() => {});
  await app.stop();
});
