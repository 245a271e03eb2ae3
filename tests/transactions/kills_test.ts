// Kills between and in the steps of a transaction over several requests: all of it is there or nothing, and the caller is
// told which.
import { assert, assertEquals } from "@std/assert";
import { Tenant, tenantCall } from "../contracts/tenant_store.ts";
import { pause } from "../../lib/core/pause.ts";
import { configFromEnvironment } from "../../lib/config.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { silentLog } from "../../lib/core/log.ts";
import { createLocalStore } from "../../lib/tenant/local/create_local_store.ts";
import { engineChildren, killChildren } from "../testing/engine_children.ts";
import { rounds, someOf } from "../testing/rounds.ts";
import { startPermissions } from "../testing/start_permissions.ts";
import { codeOf, withTransactions, worldIn } from "./transaction_world.ts";
import { ENDLESS } from "../testing/endless.ts";

const PROCESS = new URL("./transaction_process.ts", import.meta.url).pathname;
const isLinux = Deno.build.os === "linux";

Deno.test({
  name: "a child killed between two steps takes the transaction with it, and says so",
  ignore: !isLinux,
  fn: async () => {
    await withTransactions(async ({ app, tenant, begin, rows }) => {
      await tenant.setup("CREATE TABLE t (id INTEGER PRIMARY KEY)");
      for (let killAt = 1; killAt < 5; killAt++) {
        const one = await begin("immediate");
        const all = [
          () => one.exec("INSERT INTO t VALUES (1)"),
          () => one.savepoint("savepoint", "s"),
          () => one.exec("CREATE TABLE u (b)"),
          () => one.exec("INSERT INTO t VALUES (2)"),
          () => one.commit(),
        ];
        for (const step of all.slice(0, killAt)) await step();
        assert(await killChildren(app.deps.config.dataDir) > 0);
        assertEquals(
          await codeOf(all[killAt]?.() ?? Promise.resolve()),
          "transaction_timeout",
          `step ${killAt}`,
        );
        assertEquals(one.autocommit, false);
        assertEquals(await rows("SELECT count(*) FROM t"), [[0]]);
        await tenant.setup("CREATE TABLE u (c)", "DROP TABLE u");
      }
    });
  },
});

Deno.test({
  name: "a child killed in a commit: the caller learns whether it is committed",
  ignore: !isLinux,
  fn: async () => {
    await withTransactions(async ({ app, tenant, begin, rows }) => {
      await tenant.setup("CREATE TABLE t (id INTEGER PRIMARY KEY, round INTEGER)");
      const all = rounds(6, 120);
      let committed = 0;
      for (let round = 0; round < all; round++) {
        const one = await begin("immediate");
        await one.exec("INSERT INTO t (round) VALUES (?)", [round]);
        await one.exec("INSERT INTO t (round) VALUES (?)", [round]);
        const pids = await engineChildren(app.deps.config.dataDir);
        const ended = codeOf(one.commit());
        if (round % 3 !== 0) await pause(round % 3 - 1);
        for (const pid of pids) kill(pid);
        const code = await ended;
        const [[count]] = await rows(`SELECT count(*) FROM t WHERE round = ${round}`) as [[number]];
        assertEquals(code, count === 0 ? "transaction_timeout" : null, `round ${round}`);
        assert(count === 0 || count === 2, `round ${round} has ${count} rows`);
        if (count === 2) committed++;
      }
      const [[logged]] = await rows(
        "SELECT count(*) FROM _service_meta_query_log WHERE sql LIKE 'INSERT%'",
      ) as [[number]];
      assertEquals(logged, 2 * all);
      const [[audited]] = await rows("SELECT count(*) FROM _service_meta_audit WHERE rows_written = 1") as [
        [number],
      ];
      assertEquals(audited, 2 * committed);
    });
  },
});

Deno.test("a statement past its time ends its own transaction, and no other namespace's", async () => {
  await withTransactions(async (world) => {
    const other = await worldIn(world.app, "other");
    for (const { tenant } of [world, other]) await tenant.setup("CREATE TABLE t (id)");
    const [one, two] = [await world.begin("immediate"), await other.begin("immediate")];
    await one.exec("INSERT INTO t VALUES (1)");
    await two.exec("INSERT INTO t VALUES (2)");
    assertEquals(await one.code(ENDLESS), "statement_timeout");
    assert(one.lost?.includes("time limit"), String(one.lost));
    assertEquals(await one.code("SELECT 1"), "transaction_timeout");
    await two.commit();
    assertEquals([await world.rows("SELECT id FROM t"), await other.rows("SELECT id FROM t")], [[], [[2]]]);
    const kinds = await world.rows(
      "SELECT error_kind FROM _service_meta_query_log WHERE error_kind IS NOT NULL ORDER BY id",
    );
    assertEquals(kinds[0], ["timeout"]);
  }, { settings: { QUERY_TIMEOUT_MS: "500" } });
});

Deno.test({
  name: "a service killed between two steps keeps nothing, and all of what it has committed",
  ignore: !isLinux,
  fn: async () => {
    for (const steps of someOf([1, 2, 3, 4], 2).concat(4)) {
      const directory = await Deno.makeTempDir({ prefix: "cubby_kill_" });
      const made = await openStore(directory);
      const { id } = await Tenant.create(made, ["CREATE TABLE t (id INTEGER PRIMARY KEY)"]);
      await made.close();
      const process = new Deno.Command(Deno.execPath(), {
        args: ["run", "--quiet", ...startPermissions(), PROCESS, directory, id, String(steps)],
        stdout: "piped",
        stdin: "null",
      }).spawn();
      const reader = process.stdout.getReader();
      await reader.read();
      process.kill("SIGKILL");
      await process.status;
      await reader.cancel();
      const store = await openStore(directory);
      const database = store.open({ databaseId: id, namespaceId: "ns_1" });
      const { schemaVersion } = await database.inspect([]);
      const counted = await database.run(tenantCall(schemaVersion, "read", [["SELECT count(*) FROM t"]]));
      assert(counted.ok === true);
      const { rows } = JSON.parse(`${counted.results[0]?.json}}`);
      assertEquals(rows, [[steps === 4 ? 2 : 0]], `after ${steps} steps`);
      await store.close();
      await Deno.remove(directory, { recursive: true });
    }
  },
});

function kill(pid: number): void {
  try {
    Deno.kill(pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function openStore(dataDirectory: string) {
  return createLocalStore({
    dataDirectory,
    queryTimeoutMs: 60_000,
    logDays: 30,
    snapshotDays: 7,
    clock: systemClock,
    log: silentLog,
    engineEnvironment: configFromEnvironment().engineEnvironment,
  });
}
