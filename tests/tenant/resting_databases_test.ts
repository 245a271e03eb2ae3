// Write-ahead logs of databases that nobody writes for a while go into their files, whoever left them.
import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { Tenant } from "../contracts/tenant_store.ts";
import { LOOK_MS } from "../../lib/tenant/local/resting_databases.ts";
import { databasePath, sizeOf } from "../../lib/tenant/local/files/tenant_paths.ts";
import type { LocalStore } from "../../lib/tenant/local/local_store.ts";
import { pause } from "../../lib/core/pause.ts";
import { engineChildren, killChildren } from "../testing/engine_children.ts";
import { openLocalStore, withLocalStore } from "../testing/local_store.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";

const ROWS =
  "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 2000) INSERT INTO t SELECT i FROM c";
const REST_MS = 61_000;

/** The databases whose logs children are asked to put to rest, in order. */
function restsOf(store: LocalStore): string[] {
  const asked: string[] = [];
  const task = store.task.bind(store);
  store.task = (request, lane, namespaceId) => {
    if (request.op === "rest") asked.push(request.db);
    return task(request, lane, namespaceId);
  };
  return asked;
}

const logBytes = (folder: string, { id }: Tenant) => sizeOf(`${databasePath(`${folder}/tenants`, id)}-wal`);

function logRows(folder: string, { id }: Tenant): number {
  using database = new DatabaseSync(databasePath(`${folder}/tenants`, id), { readOnly: true });
  return Number(database.prepare("SELECT count(*) AS n FROM _service_meta_query_log").get()?.["n"]);
}

/** Opens a store on a folder with the databases as a kill leaves them. */
async function withLeft(
  { folder, tenants, clock }: {
    readonly folder: string;
    readonly tenants: readonly Tenant[];
    readonly clock: TurnableClock;
  },
  body: (store: LocalStore, folder: string) => Promise<void>,
): Promise<void> {
  const later = await Deno.makeTempDir();
  for (const { id } of tenants) {
    const path = databasePath(`${later}/tenants`, id);
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    for (const file of ["", "-wal"]) {
      await Deno.copyFile(`${databasePath(`${folder}/tenants`, id)}${file}`, path + file);
    }
  }
  const store = await openLocalStore(later, { clock });
  try {
    await body(store, later);
  } finally {
    await store.close();
    await Deno.remove(later, { recursive: true });
  }
}

async function write(tenant: Tenant, sql: string): Promise<void> {
  assertEquals((await tenant.run("write", [[sql]])).ok, true);
}

async function folded(folder: string, tenant: Tenant): Promise<void> {
  for (let waited = 0; waited < 1000 && await logBytes(folder, tenant) > 0; waited++) await pause(20);
  assertEquals(await logBytes(folder, tenant), 0);
}

Deno.test("the log of a database is folded in a minute after its last write, and no sooner", async () => {
  const clock = new TurnableClock();
  await withLocalStore(async (store, folder) => {
    const asked = restsOf(store);
    const tenant = await Tenant.create(store, ["CREATE TABLE t (v)"]);
    await write(tenant, ROWS);
    clock.turn(REST_MS / 2);
    await pause(500);
    const before = await logBytes(folder, tenant);
    assert(before > 8000, `${before} bytes`);
    await write(tenant, "DELETE FROM t WHERE v = 1");
    clock.turn(REST_MS / 2);
    await pause(500);
    assert(await logBytes(folder, tenant) >= before);
    clock.turn(REST_MS / 2);
    await folded(folder, tenant);
    // Folded once, it is left alone, and a further write begins anew; the row of a read in the log is such a write, too.
    clock.turn(REST_MS);
    await pause(500);
    assertEquals(asked, [tenant.id]);
    assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[1999]]);
    await write(tenant, "DELETE FROM t WHERE v = 2");
    assert(await logBytes(folder, tenant) > 0);
    clock.turn(REST_MS);
    await folded(folder, tenant);
    assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[1998]]);
  }, { clock });
});

Deno.test("logs that an earlier process has left are folded in too", async () => {
  const clock = new TurnableClock();
  await withLocalStore(async (first, folder) => {
    const tenant = await Tenant.create(first, ["CREATE TABLE t (v)"]);
    await write(tenant, ROWS);
    await withLeft({ folder, tenants: [tenant], clock }, async (second, later) => {
      assert(await logBytes(later, tenant) > 8000);
      clock.turn(REST_MS);
      await folded(later, tenant);
      const again = Tenant.at(second, tenant.id);
      assertEquals(await again.rows("SELECT count(*) FROM t"), [[2000]]);
    });
  });
});

Deno.test("logs that an earlier process has left are folded before those that were written since", async () => {
  const clock = new TurnableClock();
  await withLocalStore(async (first, folder) => {
    const left: Tenant[] = [];
    for (let at = 0; at < 3; at++) {
      const tenant = await Tenant.create(first, ["CREATE TABLE t (v)"]);
      await write(tenant, ROWS);
      left.push(tenant);
    }
    await withLeft({ folder, tenants: left, clock }, async (second, later) => {
      const asked = restsOf(second);
      const since = await Tenant.create(second, ["CREATE TABLE t (v)"]);
      await write(since, ROWS);
      clock.turn(REST_MS);
      await folded(later, since);
      assertEquals(asked.slice(0, -1).toSorted(), left.map(({ id }) => id).toSorted());
      assertEquals(asked.at(-1), since.id);
    });
  });
});

Deno.test("rows of its log keep no database from resting, and leave an empty log empty", async () => {
  const clock = new TurnableClock();
  await withLocalStore(async (store, folder) => {
    const asked = restsOf(store);
    const tenant = await Tenant.create(store, ["CREATE TABLE t (v)"]);
    await write(tenant, ROWS);
    clock.turn(REST_MS / 2);
    const moved = async () => {
      const lanes = store.lanes({ databaseId: tenant.id, namespaceId: "" });
      const rows = lanes.log.length;
      assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[2000]]);
      assert(lanes.log.length > rows);
      while (lanes.log.length > 0) await pause(20);
      // Rows that are being written have left the buffer, and are not in the table yet.
      await lanes.logFlush;
    };
    await moved();
    assert(await logBytes(folder, tenant) > 8000);
    clock.turn(REST_MS / 2);
    await folded(folder, tenant);
    const before = logRows(folder, tenant);
    await moved();
    assertEquals(await logBytes(folder, tenant), 0);
    assertEquals(asked, [tenant.id]);
    assertEquals(logRows(folder, tenant), before + 1);
  }, { clock });
});

Deno.test("a database that is deleted before it rests is asked for no more", async () => {
  const clock = new TurnableClock();
  await withLocalStore(async (store, folder) => {
    const asked = restsOf(store);
    const gone = await Tenant.create(store, ["CREATE TABLE t (v)"]);
    const other = await Tenant.create(store, ["CREATE TABLE t (v)"]);
    await write(other, ROWS);
    await store.drop(gone.id);
    clock.turn(REST_MS);
    await folded(folder, other);
    await pause(500);
    assertEquals(asked, [other.id]);
    assert(!store.states.isReported(gone.id));
    assertEquals(await other.rows("SELECT count(*) FROM t"), [[2000]]);
  }, { clock });
});

Deno.test("a log that somebody reads is folded a minute later", async () => {
  const clock = new TurnableClock();
  await withLocalStore(async (store, folder) => {
    const asked = restsOf(store);
    const tenant = await Tenant.create(store, ["CREATE TABLE t (v)"]);
    await write(tenant, ROWS);
    const reader = new DatabaseSync(databasePath(`${folder}/tenants`, tenant.id), { readOnly: true });
    reader.exec("BEGIN; SELECT count(*) FROM t");
    clock.turn(REST_MS);
    while (asked.length === 0) await pause(20);
    await pause(500);
    assert(await logBytes(folder, tenant) > 8000);
    reader.exec("COMMIT");
    clock.turn(REST_MS);
    await folded(folder, tenant);
    assertEquals(asked, [tenant.id, tenant.id]);
    reader.close();
  }, { clock });
});

Deno.test("children that are killed while they fold lose nothing", async () => {
  const clock = new TurnableClock();
  await withLocalStore(async (store, folder) => {
    const asked = restsOf(store);
    const tenants: Tenant[] = [];
    for (let at = 0; at < 12; at++) {
      const tenant = await Tenant.create(store, ["CREATE TABLE t (v)"]);
      await write(tenant, ROWS);
      tenants.push(tenant);
    }
    clock.turn(REST_MS);
    for (let seen = 0; seen < tenants.length; seen = asked.length) {
      while (asked.length === seen) await pause(1);
      await pause(Math.random() * 3);
      await killChildren(folder);
    }
    for (const tenant of tenants) {
      assertEquals(await tenant.rows("SELECT count(*), sum(v) FROM t"), [[2000, 2001000]]);
      await write(tenant, "INSERT INTO t VALUES (1)");
      assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[2001]]);
    }
  }, { clock });
});

Deno.test("a store that is closed while it looks for logs leaves nothing running", async () => {
  const clock = new TurnableClock();
  await withLocalStore(async (store, folder) => {
    await write(await Tenant.create(store, ["CREATE TABLE t (v)"]), "INSERT INTO t VALUES (1)");
    // The look through so many takes longer than the end of the store.
    for (let at = 0; at < 5000; at++) Deno.mkdirSync(`${folder}/tenants/folder-${at}`);
    clock.turn(REST_MS);
    await pause(LOOK_MS);
  }, { clock });
});

/** The engine children that have the database's file open. */
async function openIn(folder: string, { id }: Tenant): Promise<number> {
  let count = 0;
  for (const pid of await engineChildren(folder)) {
    const files = [...Deno.readDirSync(`/proc/${pid}/fd`)].map(({ name }) =>
      fileOf(`/proc/${pid}/fd/${name}`)
    );
    if (files.some((file) => file.endsWith(`/${id}.db`))) count++;
  }
  return count;
}

/** Empty where it has just been closed. */
function fileOf(descriptor: string): string {
  try {
    return Deno.readLinkSync(descriptor);
  } catch {
    return "";
  }
}

const onLinux = { ignore: Deno.build.os !== "linux" };

Deno.test(
  "a database that several children have read comes to rest the first time it is asked to",
  onLinux,
  async () => {
    const clock = new TurnableClock();
    await withLocalStore(async (store, folder) => {
      const tenant = await Tenant.create(store, ["CREATE TABLE t (v)"]);
      await write(tenant, ROWS);
      const long = "SELECT count(*) FROM t a, t b WHERE a.v + b.v > ?";
      // Reads of one database go to another child only while those before them take long.
      for (let round = 0; await openIn(folder, tenant) < 2; round++) {
        assert(round < 20, "one child reads everything");
        await Promise.all([1, 2, 3].map((n) => tenant.rows(long, [n])));
      }
      await store.flushLog(store.lanes({ databaseId: tenant.id, namespaceId: "ns_1" }));
      const rested = Promise.withResolvers<unknown>();
      const task = store.task.bind(store);
      store.task = async (request, lane, namespaceId) => {
        const frame = await task(request, lane, namespaceId);
        if (request.op === "rest") rested.resolve(frame.reply);
        return frame;
      };
      clock.turn(REST_MS);
      assertEquals(await rested.promise, { t: "rested", rests: true });
    }, { clock });
  },
);
