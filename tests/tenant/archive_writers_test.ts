// Who writes at a place, and who removes there: a copied data folder is another installation, the same one started anew is not.
import { pause } from "../../lib/core/pause.ts";
import { assert, assertEquals } from "@std/assert";
import { DAY_MS } from "../../lib/core/clock.ts";
import { ArchiveOwner } from "../../lib/tenant/archive/archive_owner.ts";
import { NotedPlace } from "../../lib/tenant/archive/archive_place.ts";
import { FolderObjects } from "../../lib/tenant/archive/folder_objects.ts";
import { Tenant } from "../contracts/tenant_store.ts";
import { codeOf, countAt, openArchived, until, withBucket } from "./archive_world.ts";

const SCHEMA = "CREATE TABLE t (a)";
const INSERT = "INSERT INTO t VALUES (1)";

/** As an operator copies a folder of a service that runs: with all times, and without the lock of the process. */
async function copyFolder(from: string, to: string): Promise<void> {
  const { success } = await new Deno.Command("cp", { args: ["-a", from, to] }).output();
  assert(success);
}

const messageOf = (work: Promise<unknown>) => work.then(() => "opened", (error: Error) => error.message);

Deno.test("a copy of the data folder is refused where the first one archives, and the first one goes on unasked", async () => {
  await withBucket(async ({ root, clock, open }) => {
    const store = await open("data");
    const tenant = await Tenant.create(store, [SCHEMA]);
    await store.archive?.toSnapshot(tenant.id, { atMs: clock.now(), label: "one" });
    await copyFolder(`${root}/data`, `${root}/copy`);
    const refused = await messageOf(open("copy"));
    assert(refused.startsWith("Give ARCHIVE_URL a prefix of its own"), refused);
    await tenant.run("write", [[INSERT]]);
    assertEquals(await countAt(store, tenant.id, clock.now(), "two"), 1);
    await store.close();
    // The same folder, again and under another path.
    await (await open("data")).close();
    await Deno.rename(`${root}/data`, `${root}/moved`);
    const moved = await open("moved");
    assertEquals(await moved.ready(), []);
  });
});

Deno.test("a copy that was told to take over shares no epoch with the first one, though the log was being folded in", async () => {
  await withBucket(async ({ s3, root, clock, open }) => {
    const store = await open("data");
    const tenant = await Tenant.create(store, [SCHEMA]);
    await store.archive?.toSnapshot(tenant.id, { atMs: clock.now(), label: "one" });
    await copyFolder(`${root}/data`, `${root}/copy`);
    const state = `${root}/copy/archive/${tenant.id.slice(-2).toLowerCase()}/${tenant.id}/state.json`;
    const noted = JSON.parse(await Deno.readTextFile(state));
    await Deno.writeTextFile(state, JSON.stringify({ ...noted, phase: "folding" }));
    const copy = await open("copy", { takeOver: true });
    const copied = Tenant.at(copy, tenant.id);
    for (const one of [tenant, copied]) await one.run("write", [[INSERT]]);
    await codeOf(store.archive?.toSnapshot(tenant.id, { atMs: clock.now(), label: "both" }));
    await copy.archive?.toSnapshot(tenant.id, { atMs: clock.now(), label: "both" });
    const segments = [...s3.objects.keys()].map((key) => /\/([^/]+\/wal-\d{8})-/.exec(key)?.[1]).filter((
      key,
    ) => key !== undefined);
    assertEquals(segments.length, new Set(segments).size, segments.join());
    assertEquals(await countAt(copy, tenant.id, clock.now(), "now"), 1);
  });
});

Deno.test("a service that another one has just taken over from begins no epoch there and adds no backup", async () => {
  await withBucket(async ({ s3, root, clock, open }) => {
    const store = await open("data");
    const tenant = await Tenant.create(store, [SCHEMA, INSERT]);
    await store.archive?.toSnapshot(tenant.id, { atMs: clock.now(), label: "one" });
    await copyFolder(`${root}/data`, `${root}/copy`);
    await open("copy", { takeOver: true });
    const late = await Tenant.create(store, [SCHEMA, INSERT]);
    const asked = store.archive?.toSnapshot(late.id, { atMs: clock.now(), label: "late" });
    assertEquals(await codeOf(asked), "archive_unavailable");
    const begun = [...s3.objects.keys()].filter((key) => key.includes(late.id) && key.includes("/begin-"));
    assertEquals([begun, await store.ready()], [[], ["archive_taken"]]);
    let isWritten = false;
    const backup = () => Promise.resolve(void (isWritten = true));
    assertEquals(
      await messageOf(store.archive?.withObjects(backup, "owner_looked_up") ?? Promise.resolve()),
      "",
    );
    assertEquals(isWritten, false);
  });
});

Deno.test("a service that does not own the place removes nothing there, whoever owns it", async () => {
  await withBucket(async ({ s3, clock, open }) => {
    const store = await open("data");
    const tenant = await Tenant.create(store, [SCHEMA, INSERT]);
    await store.archive?.toSnapshot(tenant.id, { atMs: clock.now(), label: "one" });
    const kept = () => [...s3.objects.keys()].filter((key) => key.includes(tenant.id)).sort();
    const before = kept();
    assert(before.length > 0);
    await store.close();
    // It starts while nobody answers, so that it is told only later whose the place is; the database is idle by then.
    clock.turn(60 * DAY_MS);
    s3.away = () => true;
    const other = await open("other");
    s3.away = () => false;
    await Tenant.create(other, [SCHEMA, INSERT]);
    await until(async () => (await other.ready()).includes("archive_taken"));
    // The day's look comes within a second.
    clock.turn(2 * DAY_MS);
    await pause(3000);
    assertEquals(kept(), before);
    assertEquals(await countAt(await open("data"), tenant.id, clock.now(), "still"), 1);
  });
});

Deno.test("a service that finds out late that the place is another one goes on with nothing there until it is started anew", async () => {
  await withBucket(async ({ s3, root, clock, open }) => {
    const store = await open("data");
    const tenant = await Tenant.create(store, [SCHEMA, INSERT]);
    await store.archive?.toSnapshot(tenant.id, { atMs: clock.now(), label: "one" });
    await store.close();
    s3.objects.clear();
    s3.away = () => true;
    const late = await open("data");
    await Tenant.at(late, tenant.id).run("write", [[INSERT]]);
    s3.away = () => false;
    await until(async () => (await late.ready()).includes("archive_taken"));
    await late.close();
    assertEquals([...s3.objects.keys()], []);
    // Its folder is that of an earlier version, which has noted no place.
    await Deno.remove(`${root}/data/archive/place`);
    assertEquals(await countAt(await open("data"), tenant.id, clock.now(), "anew"), 2);
  });
});

Deno.test("a bucket that is not there is a store that is away, and nobody else's", async () => {
  const root = await Deno.makeTempDir();
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () => new Response("<Error><Code>NoSuchBucket</Code></Error>", { status: 404 }),
  );
  const endpoint = `http://127.0.0.1:${server.addr.port}`;
  const url = { kind: "s3", bucket: "mistyped", prefix: "cubby/", endpoint, region: "eu-central-1" } as const;
  const store = await openArchived(`${root}/data`, url);
  try {
    await Tenant.create(store, [SCHEMA, INSERT]);
    await until(async () => (await store.ready()).length > 0);
    assertEquals(await store.ready(), ["archive_away"]);
  } finally {
    await store.close();
    await Deno.remove(root, { recursive: true });
  }
});

/** What a disk holds, by path below the folder. */
async function diskOf(folder: string, below = ""): Promise<Map<string, { bytes: Uint8Array; mtime: Date }>> {
  const found = new Map<string, { bytes: Uint8Array; mtime: Date }>();
  for await (const { name, isDirectory } of Deno.readDir(`${folder}${below}`)) {
    const path = `${below}/${name}`;
    if (isDirectory) { for (const one of await diskOf(folder, path)) found.set(...one); }
    else {
      const { mtime } = await Deno.stat(`${folder}${path}`);
      found.set(path, { bytes: await Deno.readFile(`${folder}${path}`), mtime: mtime ?? new Date() });
    }
  }
  return found;
}

/** Takes it back to that: files keep their numbers and their times, as those of a disk do that is restored as a whole. */
async function takeBack(folder: string, disk: Awaited<ReturnType<typeof diskOf>>): Promise<void> {
  for (const path of (await diskOf(folder)).keys()) {
    if (!disk.has(path)) await Deno.remove(`${folder}${path}`);
  }
  for (const [path, { bytes, mtime }] of disk) {
    await Deno.writeFile(`${folder}${path}`, bytes);
    await Deno.utime(`${folder}${path}`, mtime, mtime);
  }
}

for (const goesOn of ["is written", "is only asked for a moment"]) {
  Deno.test(`a disk that was taken back to an earlier time begins an epoch when it ${goesOn}, and what it had since can be restored`, async () => {
    await withBucket(async ({ s3, root, clock, open }) => {
      const store = await open("data");
      const tenant = await Tenant.create(store, [SCHEMA, INSERT]);
      await store.archive?.toSnapshot(tenant.id, { atMs: clock.now(), label: "one" });
      await store.close();
      const disk = await diskOf(`${root}/data`);

      const later = await open("data");
      let future = 0;
      for (let round = 0; round < 2; round++) {
        clock.turn(10_000);
        await Tenant.at(later, tenant.id).run("write", [[INSERT]]);
        future = clock.now();
        await later.archive?.toSnapshot(tenant.id, { atMs: future, label: `later${round}` });
      }
      await later.close();

      clock.turn(10_000);
      await takeBack(`${root}/data`, disk);
      const back = await open("data");
      const again = Tenant.at(back, tenant.id);
      assertEquals(await again.rows("SELECT count(*) FROM t"), [[1]]);
      const isWritten = goesOn === "is written";
      if (isWritten) { for (let row = 0; row < 4; row++) await again.run("write", [[INSERT]]); }
      clock.turn(10_000);
      assertEquals(await countAt(back, tenant.id, clock.now(), "now"), isWritten ? 5 : 1);
      assertEquals(await countAt(back, tenant.id, future, "future"), 3);
      const segments = [...s3.objects.keys()].map((key) => /\/([^/]+\/wal-\d{8})-/.exec(key)?.[1]).filter((
        one,
      ) => one);
      assertEquals(segments.length, new Set(segments).size, segments.join());
    });
  });
}

Deno.test("of two that begin at an empty place at once one archives there, and ends with the next start", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const objects = new FolderObjects(`${folder}/objects`);
    const { promise: bothLooked, resolve } = Promise.withResolvers<void>();
    let looks = 0;
    const get = async (key: string) => {
      const found = await objects.get(key);
      if (++looks === 2) resolve();
      await bothLooked;
      return found;
    };
    await Deno.mkdir(`${folder}/states`);
    const options = { takeOver: false, noted: new NotedPlace(`${folder}/states`) };
    const owner = () =>
      new ArchiveOwner(
        { get, put: (...all) => objects.put(...all) },
        { writer: "one", madeAtMs: 1, inode: 1 },
        options,
      );
    const both = [owner(), owner()];
    const outcomes = await Promise.all(both.map((one) => messageOf(one.claim({ isOpen: false }))));
    const refused = outcomes.filter((said) => said.startsWith("Start one service at a time on ARCHIVE_URL"));
    assertEquals([outcomes.length, refused.length], [2, 1], outcomes.join());
    const first = both[outcomes.indexOf("opened")];
    assertEquals(await first?.holds(), true);
    const next = owner();
    await next.claim({ isOpen: false });
    assertEquals([await first?.holds(), await next.holds()], [false, true]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
