// Copies of a database's file that are made before the write slot is taken: what becomes of them is one state, whatever
// happens to the file meanwhile. And files that the service has built, as snapshots.
import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { systemClock } from "../../lib/core/clock.ts";
import { AppError } from "../../lib/core/errors.ts";
import { newId } from "../../lib/core/ids.ts";
import { earlyState, isOneState } from "../../lib/tenant/local/child/early_copy.ts";
import { copyDatabase, stagedCopy } from "../../lib/tenant/local/child/file_copy.ts";
import { Tenant, tenantCall } from "../contracts/tenant_store.ts";
import { withLocalStore } from "../testing/local_store.ts";

const SCHEMA = "CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, b BLOB)";
const FILL = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400) " +
  "INSERT INTO t (a, b) SELECT 0, randomblob(10000) FROM n";

Deno.test("a snapshot of a large database is one state, whatever is written while it is taken", async () => {
  await withLocalStore(async (store) => {
    const tenant = await Tenant.create(store, [SCHEMA]);
    await tenant.run("write", [[FILL]]);
    const writing = { on: true };
    const writer = (async () => {
      // Every row has the same value in each state, and each write changes every page.
      while (writing.on) await tenant.run("write", [["UPDATE t SET a = a + 1, b = randomblob(10000)"]]);
    })();
    for (let round = 0; round < 6; round++) await tenant.database.takeSnapshot(`s${round}`);
    const copy = newId("db", systemClock.now());
    await store.copy(copy, { databaseId: tenant.id, snapshot: null });
    writing.on = false;
    await writer;
    const copies = store.open({ databaseId: copy, namespaceId: "ns_1" });
    assertEquals((await copies.inspect([])).failure, null);
    let before = -1;
    for (let round = 0; round < 6; round++) {
      await tenant.database.restore(`s${round}`, { undoLabel: `u${round}` });
      const [[least, most, count] = []] = await tenant.rows("SELECT min(a), max(a), count(*) FROM t");
      assertEquals([least, count], [most, 400]);
      assert(Number(least) >= before, "a later snapshot has an earlier state");
      before = Number(least);
    }
  });
});

Deno.test("a snapshot and a copy are taken while somebody holds the write slot, and have nothing of what he writes", async () => {
  await withLocalStore(async (store) => {
    for (const rows of [1, 400]) {
      const tenant = await Tenant.create(store, [SCHEMA]);
      await tenant.run("write", [[FILL.replace("400", String(rows))]]);
      const { schemaVersion } = await tenant.database.inspect([]);
      const holder = tenant.database.begin({ mode: "immediate", tokenId: "tok_1" });
      // Enough that a part of it is in the log before its end.
      const ran = await holder.run(tenantCall(schemaVersion, "write", [["UPDATE t SET a = 9"], [FILL]]));
      assert(ran.ok, JSON.stringify(ran));
      await tenant.database.takeSnapshot("held");
      const copy = newId("db", systemClock.now());
      await store.copy(copy, { databaseId: tenant.id, snapshot: null });
      assert(!holder.ended);
      assertEquals(await holder.commit(), null);
      const count = "SELECT count(*), sum(a) FROM t";
      assertEquals(await tenant.rows(count), [[rows + 400, 9 * rows]]);
      assertEquals(await Tenant.at(store, copy).rows(count), [[rows, 0]]);
      await tenant.database.restore("held", { undoLabel: "undo" });
      assertEquals(await tenant.rows(count), [[rows, 0]]);
    }
  });
});

Deno.test("of many that take a snapshot under one label at the same time, one has it", async () => {
  await withLocalStore(async (store) => {
    const tenant = await Tenant.create(store, [SCHEMA]);
    await tenant.run("write", [[FILL]]);
    const taken = await Promise.all(
      Array.from(
        { length: 6 },
        () => tenant.database.takeSnapshot("one").then(() => "taken", (error) => error.code),
      ),
    );
    assertEquals(taken.toSorted(), [...Array(5).fill("slug_taken"), "taken"]);
    assertEquals((await tenant.database.snapshots()).map(({ label }) => label), ["one"]);
  });
});

Deno.test("a copy of before is not used once the log has begun again", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/t.db`;
    using database = new DatabaseSync(path);
    database.exec(`PRAGMA journal_mode=WAL; ${SCHEMA}; ${FILL}`);
    // The log was moved into the file as a whole, so this begins it again.
    database.exec("INSERT INTO t (a) VALUES (0)");
    const early = earlyState(path, systemClock.now());
    await Deno.copyFile(path, stagedCopy(`${folder}/c.db`));
    // What moves into the file is still in the log.
    database.exec("INSERT INTO t (a) VALUES (1); PRAGMA wal_checkpoint(PASSIVE)");
    assert(isOneState(early, path, systemClock.now()));
    database.exec("PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO t (a) VALUES (2)");
    assert(!isOneState(early, path, systemClock.now()));
    copyDatabase(path, `${folder}/c.db`, early);
    using copy = new DatabaseSync(`${folder}/c.db`);
    assertEquals({ ...copy.prepare("SELECT count(*) AS n, sum(a) AS s FROM t").get() }, { n: 403, s: 3 });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a copy of before is used only of the same file, and where there is no log, of one that has long not changed", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const [path, other] = [`${folder}/t.db`, `${folder}/other.db`];
    const changedMs = 1_700_000_000_000;
    const write = async (to: string, text: string, atMs: number) => {
      await Deno.writeTextFile(to, text);
      await Deno.utime(to, new Date(atMs), new Date(atMs));
    };
    await write(path, "one", changedMs);
    const [early, fresh] = [earlyState(path, changedMs + 2000), earlyState(path, changedMs + 500)];
    assertEquals([isOneState(early, path, changedMs + 3000), isOneState(fresh, path, changedMs + 3000)], [
      true,
      false,
    ]);
    assertEquals(isOneState(early, path, changedMs + 500), false);
    for (const [text, atMs] of [["two", changedMs + 5000], ["three", changedMs]] as const) {
      await write(path, text, atMs);
      assertEquals(isOneState(early, path, changedMs + 9000), false, text);
    }
    // Another file has its name, size, time and log.
    await write(path, "one", changedMs);
    await Deno.writeTextFile(`${path}-wal`, "x".repeat(32));
    const beside = earlyState(path, changedMs + 9000);
    assertEquals(isOneState(beside, path, changedMs + 9000), true);
    await write(other, "one", changedMs);
    await Deno.rename(other, path);
    assertEquals(isOneState(beside, path, changedMs + 9000), false);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a copy that fails leaves nothing", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/t.db-wal`, "a log without its file");
    const made = () =>
      [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => name.startsWith("c."));
    let failure: unknown = null;
    try {
      copyDatabase(`${folder}/t.db`, `${folder}/c.db`);
    } catch (error) {
      failure = error;
    }
    assertEquals([failure instanceof Deno.errors.NotFound, made()], [true, []]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a file that the service has built becomes a snapshot, and the restore to it can be undone", async () => {
  await withLocalStore(async (store) => {
    const files = store.files;
    assert(files !== null);
    const tenant = await Tenant.create(store, [SCHEMA]);
    await tenant.run("write", [["INSERT INTO t (a) VALUES (1)"]]);
    const path = `${files.scratch}/built.db`;
    {
      using built = new DatabaseSync(path);
      built.exec("CREATE TABLE t (a); INSERT INTO t VALUES (2)");
    }
    await files.adopt(tenant.id, path, "foreign");
    // Whether it is sound is seen by the restore, which then changes nothing.
    assertEquals(await codeOf(tenant.database.restore("foreign", { undoLabel: "u0" })), "snapshot_corrupt");
    assertEquals(await tenant.rows("SELECT a FROM t"), [[1]]);

    const other = await Tenant.create(store, [SCHEMA]);
    await other.run("write", [["INSERT INTO t (a) VALUES (3)"]]);
    await other.database.takeSnapshot("whole");
    const folder = `${files.scratch}/../tenants/${other.id.slice(-2).toLowerCase()}/${other.id}.snapshots`;
    const [snapshot] = [...Deno.readDirSync(folder)].filter(({ name }) => name.endsWith(".whole.db"));
    using whole = new DatabaseSync(`${folder}/${snapshot?.name}`);
    whole.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    whole.exec(`VACUUM INTO '${path}'`);
    assertEquals((await files.adopt(tenant.id, path, "built")).label, "built");
    assertEquals(await codeOf(files.adopt(tenant.id, path, "built")), "slug_taken");
    await tenant.database.restore("built", { undoLabel: "u1" });
    assertEquals(await tenant.rows("SELECT a FROM t"), [[3]]);
    await tenant.database.restore("u1", { undoLabel: "u2" });
    assertEquals(await tenant.rows("SELECT a FROM t"), [[1]]);
  });
});

function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(() => "done", (error) => error instanceof AppError ? error.code : "unknown");
}
