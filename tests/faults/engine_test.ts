// What survives when engine children are ended from outside, files are damaged and the disk is full.
import { setPriority } from "node:os";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { configFromEnvironment } from "../../lib/config.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { silentLog } from "../../lib/core/log.ts";
import { createLocalStore } from "../../lib/tenant/local/create_local_store.ts";
import type { LocalStore } from "../../lib/tenant/local/local_store.ts";
import { pause } from "../../lib/core/pause.ts";
import { Tenant, tenantCall } from "../contracts/tenant_store.ts";
import { engineChildren, killChildren, untilEngineRuns } from "../testing/engine_children.ts";
import { print } from "../testing/print.ts";
import { rounds } from "../testing/rounds.ts";
import { startPermissions } from "../testing/start_permissions.ts";

const STORE_PROCESS = new URL("./store_process.ts", import.meta.url).pathname;
const T = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE)";

async function withStore(
  body: (store: LocalStore, directory: string) => Promise<void>,
  { directory, queryTimeoutMs = 5000 }: { readonly directory?: string; readonly queryTimeoutMs?: number } =
    {},
): Promise<void> {
  const dataDirectory = directory ?? await Deno.makeTempDir();
  const store = await createLocalStore({
    dataDirectory,
    queryTimeoutMs,
    logDays: 30,
    snapshotDays: 7,
    clock: systemClock,
    log: silentLog,
    engineEnvironment: configFromEnvironment().engineEnvironment,
  });
  try {
    await body(store, dataDirectory);
  } finally {
    await store.close();
    if (directory === undefined) await Deno.remove(dataDirectory, { recursive: true });
  }
}

Deno.test("children ended at random moments lose no acknowledged write and run none twice", async () => {
  await withStore(async (store, directory) => {
    const tenant = await Tenant.create(store, [T]);
    let stop = false;
    const acknowledged: string[] = [];
    let unsure = 0;
    const writer = async (name: number) => {
      for (let n = 0; !stop; n++) {
        const key = `w${name}-${n}`;
        const outcome = await tenant.run("write", [["INSERT INTO t (a) VALUES (?)", key]]).catch(() => null);
        if (outcome?.ok === true) acknowledged.push(key);
        else unsure++;
      }
    };
    const writers = Array.from({ length: 8 }, (_, name) => writer(name));
    for (let round = 0; round < rounds(25, 250); round++) {
      // Every second child gets to its work first, however long it takes to start.
      const wanted = acknowledged.length + (round % 2) * 8;
      for (let waitedMs = 0; acknowledged.length < wanted && waitedMs < 10_000; waitedMs += 5) await pause(5);
      await pause(Math.random() * 60);
      await killChildren(directory);
    }
    stop = true;
    await Promise.all(writers);
    const kept = new Set((await tenant.rows("SELECT a FROM t LIMIT 1000")).map(([a]) => a));
    const [[count] = []] = await tenant.rows("SELECT count(*) FROM t");
    const lost = count === kept.size ? acknowledged.filter((key) => !kept.has(key)) : [];
    assertEquals(lost, []);
    assert(Number(count) >= acknowledged.length, "an acknowledged write is missing");
    assert(Number(count) <= acknowledged.length + unsure, "a write ran twice");
    const [[audits, orphans] = []] = await tenant.rows(
      "SELECT (SELECT count(*) FROM _service_meta_audit WHERE rows_written = 1), (SELECT count(*) FROM _service_meta_audit a WHERE NOT EXISTS (SELECT 1 FROM _service_meta_query_log q WHERE q.id = a.query_log_id))",
    );
    assertEquals([audits, orphans], [count, 0]);
    assert(acknowledged.length > 50, `only ${acknowledged.length} writes got through`);
  });
});

/** What becomes of a slow read and of a write beside it where its children end by `signal`, as often as it begins. */
async function endChildrenOf(signal: "SIGKILL" | "SIGABRT"): Promise<string> {
  let told = "";
  await withStore(async (store, directory) => {
    const tenant = await Tenant.create(store, [T]);
    const slow = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT count(*) FROM c";
    // Both are understood by now: a child that ends while it understands a statement has not begun with it.
    const { schemaVersion } = await tenant.database.inspect([]);
    const run = (level: "read" | "write", sql: string) =>
      tenant.database.run(tenantCall(schemaVersion, level, [[sql]]));
    const victim = run("read", slow);
    const neighbour = run("write", "INSERT INTO t (a) VALUES ('x')");
    let ended = false;
    const end = () => ended = true;
    void victim.then(end, end);
    while (!ended) {
      // A child that is ended before it has begun with the statement does not count.
      await untilEngineRuns(directory, () => ended);
      await pause(150);
      await killChildren(directory, signal);
    }
    told = await victim.then(
      (outcome) => outcome.ok === false ? outcome.failure.kind : String(outcome.ok),
      (error) => error.code,
    );
    assertEquals((await neighbour).ok, true);
    assertEquals(await tenant.rows("SELECT a FROM t"), [["x"]]);
    // On a busy machine children take long to start: nothing is to be given up for having waited.
  }, { queryTimeoutMs: 30_000 });
  return told;
}

Deno.test("a statement during which two children in a row end themselves is answered, its neighbours run", async () => {
  assertEquals(await endChildrenOf("SIGABRT"), "too_big");
});

Deno.test("a statement whose small children somebody else ends is not blamed for it", async () => {
  assertEquals(await endChildrenOf("SIGKILL"), "store_unavailable");
});

Deno.test("children that somebody ends all at once keep nobody from an answer", async () => {
  await withStore(async (store, directory) => {
    const tenant = await Tenant.create(store, [T]);
    const slow =
      "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 300000) SELECT count(*) FROM c";
    for (let round = 0; round < rounds(8, 80); round++) {
      // So many have several children.
      await Promise.all(Array.from({ length: 6 }, () => tenant.rows(slow)));
      await killChildren(directory);
      const asked = Array.from(
        { length: 4 },
        () => tenant.database.inspect([]).then(() => "answered", String),
      );
      assertEquals(new Set(await Promise.all(asked)), new Set(["answered"]));
    }
  });
});

Deno.test("memory bombs end as failures and the database goes on", async () => {
  await withStore(async (store) => {
    const tenant = await Tenant.create(store, [T]);
    const rows = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c)";
    const bombs: [string, string[]][] = [
      [`${rows} SELECT i, hex(randomblob(200)) FROM c`, ["result_too_large", "timeout"]],
      ["SELECT zeroblob(1000000000)", ["too_big"]],
      [`${rows} SELECT sum(length(s)) FROM (SELECT randomblob(1000000) AS s FROM c LIMIT 2000) ORDER BY 1`, [
        "too_big",
        "true",
        "timeout",
      ]],
      [`${rows} SELECT count(*) FROM (SELECT DISTINCT randomblob(500000) FROM c LIMIT 5000)`, [
        "too_big",
        "timeout",
      ]],
      [`SELECT ${"(".repeat(500)}1${")".repeat(500)}`, ["too_big", "syntax_error", "unknown", "true"]],
      ["SELECT replace(hex(zeroblob(9000000)), '0', '0123456789')", ["too_big"]],
    ];
    for (const [sql, kinds] of bombs) {
      const outcome = await tenant.run("read", [[sql]]);
      const kind = outcome.ok === false ? outcome.failure.kind : String(outcome.ok);
      assert(kinds.includes(kind), `${sql.slice(0, 60)}: ${kind}`);
      assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[0]]);
    }
  });
});

Deno.test({
  name: "where the priority of a child cannot be lowered, its slow read goes on, within its time",
  permissions: {
    ...{
      env: "inherit",
      net: "inherit",
      read: "inherit",
      run: "inherit",
      write: "inherit",
      import: "inherit",
    },
    sys: ["systemMemoryInfo"],
  },
  async fn() {
    assertThrows(() => setPriority(Deno.pid, 5));
    await withStore(async (store) => {
      const tenant = await Tenant.create(store, [T]);
      const slow = (most: string) =>
        `WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c ${most}) SELECT count(*) FROM c`;
      assertEquals(await tenant.rows(slow("LIMIT 1500000")), [[1_500_000]]);
      const outcome = await tenant.run("read", [[slow("")]], { timeoutMs: 1000 });
      assert(outcome.ok === false);
      assertEquals(outcome.failure.kind, "timeout");
      assertEquals(await tenant.rows("SELECT 1"), [[1]]);
    }, { queryTimeoutMs: 60_000 });
  },
});

Deno.test("a damaged file makes only its own database unavailable", async () => {
  await withStore(async (store, directory) => {
    const damaged = await Tenant.create(store, [T]);
    const healthy = await Tenant.create(store, [T]);
    await killChildren(directory);
    const path = `${directory}/tenants/${damaged.id.slice(-2).toLowerCase()}/${damaged.id}.db`;
    for (const file of [`${path}-wal`, `${path}-shm`]) await Deno.remove(file).catch(() => {});
    await Deno.writeFile(path, crypto.getRandomValues(new Uint8Array(20_000)));
    const failed = await damaged.run("read", [["SELECT * FROM t"]]).then(
      (outcome) => outcome.ok === false ? outcome.failure.kind : outcome.ok,
      (error) => error.code,
    );
    assertEquals(failed, "database_corrupt");
    assertEquals(await healthy.rows("SELECT count(*) FROM t"), [[0]]);
  });
});

Deno.test("children end with the process that started them, also when it is killed in the middle of a statement", async () => {
  const ties: ("pdeathsig" | "watcher")[] = Deno.build.os === "linux"
    ? ["pdeathsig", "watcher"]
    : ["watcher"];
  for (const parentTie of ties) {
    const directory = await Deno.makeTempDir();
    const parent = new Deno.Command(Deno.execPath(), {
      args: ["run", ...startPermissions(), STORE_PROCESS, directory, parentTie],
      stdout: "piped",
      stdin: "null",
    }).spawn();
    const reader = parent.stdout.getReader();
    await reader.read(); // it says when its endless statement runs
    assertEquals((await engineChildren(directory)).length > 0, true);
    parent.kill("SIGKILL");
    await parent.status;
    await reader.cancel();
    let left = await engineChildren(directory);
    for (let waited = 0; left.length > 0 && waited < 40; waited++) {
      await pause(100);
      left = await engineChildren(directory);
    }
    assertEquals(left, [], parentTie);
    await Deno.remove(directory, { recursive: true });
  }
});

async function mountSmallDisk(path: string): Promise<boolean> {
  if (Deno.build.os !== "linux" || Deno.uid() !== 0) return false;
  const { success } = await new Deno.Command("mount", {
    args: ["-t", "tmpfs", "-o", "size=6m", "tmpfs", path],
  }).output();
  return success;
}

Deno.test({
  name: "a full disk is a clear failure, loses nothing, and ends when there is room again",
  fn: async () => {
    const mount = await Deno.makeTempDir();
    if (!await mountSmallDisk(mount)) {
      await Deno.remove(mount);
      return print("nothing was tried: a small disk can be mounted by root on Linux only");
    }
    try {
      await withStore(async (store) => {
        const tenant = await Tenant.create(store, [T]);
        let kept = 0;
        let kind = "";
        for (let n = 0; n < 200 && kind === ""; n++) {
          const outcome = await tenant.run("write", [[
            "INSERT INTO t (a) VALUES (? || hex(zeroblob(50000)))",
            `k${n}`,
          ]]);
          if (outcome.ok === true) kept++;
          else kind = outcome.ok === false ? outcome.failure.kind : "stale";
        }
        assertEquals(kind, "full");
        assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[kept]]);
        await new Deno.Command("mount", { args: ["-o", "remount,size=64m", mount] }).output();
        assertEquals((await tenant.run("write", [["INSERT INTO t (a) VALUES ('after')"]])).ok, true);
        assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[kept + 1]]);
        assertEquals(await tenant.rows("SELECT count(*) FROM _service_meta_audit WHERE rows_written = 1"), [[
          kept + 1,
        ]]);
      }, { directory: mount });
    } finally {
      await new Deno.Command("umount", { args: [mount] }).output();
      await Deno.remove(mount);
    }
  },
});
