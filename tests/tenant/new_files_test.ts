// Files of new databases: copies of the first one that a process makes, and neither made nor dropped after others' work.
import { assert, assertEquals, assertRejects } from "@std/assert";
import { configFromEnvironment } from "../../lib/config.ts";
import { AppError } from "../../lib/core/errors.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { newId } from "../../lib/core/ids.ts";
import { silentLog } from "../../lib/core/log.ts";
import { createLocalStore } from "../../lib/tenant/local/create_local_store.ts";
import type { LocalStore } from "../../lib/tenant/local/local_store.ts";
import { NewFiles } from "../../lib/tenant/local/files/new_files.ts";
import { databasePath } from "../../lib/tenant/local/files/tenant_paths.ts";
import { Tenant, tenantCall } from "../contracts/tenant_store.ts";
import { ENDLESS } from "../testing/endless.ts";

const T = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)";

async function withStore(body: (store: LocalStore, folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "cubby_new_" });
  const store = await createLocalStore({
    ...{ dataDirectory: folder, queryTimeoutMs: 60_000, logDays: 30, snapshotDays: 7, maxChildren: 3 },
    ...{ clock: systemClock, log: silentLog },
    engineEnvironment: configFromEnvironment().engineEnvironment,
  });
  try {
    await body(store, folder);
  } finally {
    await store.close();
    await Deno.remove(folder, { recursive: true });
  }
}

/** New files whose first one `make` makes. */
async function withNewFiles(
  make: (path: string) => Promise<void>,
  body: (
    files: NewFiles,
    read: (id: string) => Promise<string>,
    pathOf: (id: string) => string,
  ) => Promise<void>,
): Promise<void> {
  const tenants = await Deno.makeTempDir({ prefix: "cubby_new_" });
  const pathOf = (id: string) => databasePath(tenants, id);
  try {
    const files = new NewFiles({ tenants, makeInChild: (id) => make(pathOf(id)) });
    await body(files, (id) => Deno.readTextFile(pathOf(id)), pathOf);
  } finally {
    await Deno.remove(tenants, { recursive: true });
  }
}

const anId = () => newId("db", systemClock.now());

Deno.test("what is told of a new database's file is what is there, of the first one and of its copies", async () => {
  await withStore(async (store) => {
    for (let at = 0; at < 3; at++) {
      const id = anId();
      assertEquals(await store.create(id), await store.storageOf(id));
    }
  });
});

Deno.test("a copy is on the disk with every folder that leads to it, and nobody else's to read", async () => {
  // Their last two characters are the names of their folders.
  const ids = ["10A", "20A", "30B"].map((end) => anId().slice(0, -3) + end);
  await withNewFiles((path) => Deno.writeTextFile(path, "whole"), async (files, _read, pathOf) => {
    const { sync } = Deno.FsFile.prototype;
    let synced = 0;
    Deno.FsFile.prototype.sync = function (this: Deno.FsFile) {
      synced++;
      return sync.call(this);
    };
    try {
      const each: number[] = [];
      for (const id of ids) {
        synced = 0;
        await files.make(id);
        each.push(synced);
      }
      // The first is made by a child. A copy syncs its file and its folder, and of a new folder the one around it.
      assertEquals(each, [0, 2, 3]);
    } finally {
      Deno.FsFile.prototype.sync = sync;
    }
    for (const id of ids.slice(1)) assertEquals(((await Deno.stat(pathOf(id))).mode ?? 0) & 0o777, 0o600);
  });
});

Deno.test("databases made at once are empty, apart from each other, and one file each without a log", async () => {
  await withStore(async (store, folder) => {
    const tenants = await Promise.all(Array.from({ length: 8 }, () => Tenant.create(store, [])));
    for (const { id } of tenants) {
      const names = [];
      for await (
        const { name } of Deno.readDir(databasePath(`${folder}/tenants`, id).slice(0, -`/${id}.db`.length))
      ) {
        if (name.startsWith(id)) names.push(name);
      }
      assertEquals(names, [`${id}.db`]);
    }
    await Promise.all(tenants.map((tenant) => tenant.run("schema", [[T]])));
    for (const [at, tenant] of tenants.entries()) {
      await tenant.run("write", [["INSERT INTO t (a) VALUES (?)", `of ${at}`]]);
    }
    const late = await Tenant.create(store, [T]);
    assertEquals(await late.rows("SELECT a FROM t"), []);
    assertEquals(await late.rows("SELECT count(*) FROM _service_meta_audit WHERE operation = 'insert'"), [[
      0,
    ]]);
    const rows = await Promise.all(tenants.map((tenant) => tenant.rows("SELECT a FROM t")));
    assertEquals(rows, tenants.map((_, at) => [[`of ${at}`]]));
  });
});

Deno.test("a database is made and dropped while a statement of another one runs without end in its child", async () => {
  await withStore(async (store) => {
    const [first, other] = [await Tenant.create(store, [T]), await Tenant.create(store)];
    // The child has the file open that is to be dropped, and then another one's statement to run.
    await first.rows("SELECT a FROM t");
    const { schemaVersion } = await other.database.inspect([]);
    const gone = new AbortController();
    let runs = true;
    const endless = tenantCall(schemaVersion, "read", [[ENDLESS]], { signal: () => gone.signal });
    const running = other.database.run(endless).catch(() => {}).finally(() => {
      runs = false;
    });
    // It is sent in the first of these turns.
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    const made = anId();
    await store.create(made);
    assertEquals((await store.storageOf(made)).state, "ok");
    await store.drop(first.id);
    assertEquals((await store.storageOf(first.id)).state, "corrupt");
    assert(runs, "the statement has ended by itself");
    gone.abort();
    await running;
    // The child that had it open has closed it by now, or does so; nothing of it comes back.
    assertEquals(await other.rows("SELECT 1"), [[1]]);
    assertEquals((await store.storageOf(first.id)).sizeBytes, 0);
  });
});

Deno.test("the first file of a process is made by a child, and the others are copies of it", async () => {
  let made = 0;
  const make = async (path: string) => await Deno.writeTextFile(path, `file ${++made}`);
  await withNewFiles(make, async (files, read) => {
    const ids = Array.from({ length: 20 }, anId);
    await Promise.all(ids.map((id) => files.make(id)));
    assertEquals(await Promise.all(ids.map(read)), ids.map(() => "file 1"));
  });
});

Deno.test("where the first file of a process cannot be made, those that waited for it are made nevertheless", async () => {
  let tries = 0;
  const make = async (path: string) => {
    if (++tries === 1) throw new AppError("store_unavailable");
    await Deno.writeTextFile(path, "whole");
  };
  await withNewFiles(make, async (files, read) => {
    const ids = Array.from({ length: 5 }, anId);
    const settled = await Promise.allSettled(ids.map((id) => files.make(id)));
    assertEquals(settled.map(({ status }) => status), ["rejected", ...Array(4).fill("fulfilled")]);
    assertEquals(await Promise.all(ids.slice(1).map(read)), Array(4).fill("whole"));
  });
});

Deno.test("a file that is there already is not overwritten, and what cannot be copied a child tells", async () => {
  let refused = 0;
  const make = async (path: string) => {
    try {
      await Deno.writeTextFile(path, "whole", { createNew: true });
    } catch {
      refused++;
      throw new AppError("store_unavailable");
    }
  };
  await withNewFiles(make, async (files, read) => {
    const [first, other] = [anId(), anId()];
    await files.make(first);
    await files.make(other);
    await assertRejects(() => files.make(other));
    assertEquals([await read(other), refused], ["whole", 1]);
  });
});

Deno.test("where the disk takes no folder for a new database or a copy, storage is full, and later it is made", async () => {
  await withStore(async (store) => {
    const [from, made, copied] = [anId(), anId(), anId()];
    await store.create(from);
    const mkdir = Deno.mkdir;
    const full = Object.assign(new Error("No space left on device (os error 28): mkdir"), { code: "ENOSPC" });
    Deno.mkdir = () => Promise.reject(full);
    const copy = () => store.copy(copied, { databaseId: from, snapshot: null });
    try {
      await assertRejects(() => store.create(made), /storage is full/);
      await assertRejects(copy, /storage is full/);
    } finally {
      Deno.mkdir = mkdir;
    }
    await store.create(made);
    await copy();
    assert(await store.storageOf(copied));
  });
});

Deno.test("the lanes that made a database's file belong to the namespace of whoever opens it next", async () => {
  await withStore(async (store) => {
    const id = newId("db", systemClock.now());
    await store.create(id);
    await store.open({ databaseId: id, namespaceId: "ns_1" }).inspect([]);
    assertEquals(store.lanes({ databaseId: id, namespaceId: "" }).namespaceId, "ns_1");
  });
});

Deno.test("while the folder of the databases is away none is made beside it, and the next one is made where it is back", async () => {
  await withStore(async (store, folder) => {
    await store.create(anId());
    await Deno.rename(`${folder}/tenants`, `${folder}/away`);
    for (let at = 0; at < 2; at++) {
      const error = await assertRejected(store.create(anId()));
      assertEquals(error.code, "store_unavailable");
    }
    await Deno.rename(`${folder}/away`, `${folder}/tenants`);
    const id = anId();
    assertEquals(await store.create(id), await store.storageOf(id));
  });
});

async function assertRejected(work: Promise<unknown>): Promise<AppError> {
  const error = await work.then(() => null, (reason: unknown) => reason);
  assert(error instanceof AppError, String(error));
  return error;
}
