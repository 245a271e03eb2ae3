// What is removed from an archive where a clock was behind for a while, or an object is damaged.
import { assertEquals, assertRejects } from "@std/assert";
import { DAY_MS } from "../../lib/core/clock.ts";
import { pause } from "../../lib/core/pause.ts";
import { objectName } from "../../lib/tenant/archive/archive_names.ts";
import { digestOf } from "../../lib/tenant/archive/digest.ts";
import { Tenant } from "../contracts/tenant_store.ts";
import { openArchived } from "./archive_world.ts";
import { FolderObjects } from "../../lib/tenant/archive/folder_objects.ts";
import { believedMs, pruneArchive } from "../../lib/tenant/archive/prune_archive.ts";

const NOW_MS = 1_800_000_000_000;
const BEFORE_MS = NOW_MS - 30 * DAY_MS;

const epochOf = (number: number) => `${String(number).padStart(8, "0")}-00000000`;
const known = () => Promise.resolve(true);

/** Puts an epoch there: what it begins with, and a segment that was read `readMs`. */
async function putEpoch(
  store: FolderObjects,
  databaseId: string,
  { number, atMs, readMs }: { readonly number: number; readonly atMs: number; readonly readMs: number },
): Promise<void> {
  const epoch = epochOf(number);
  const begin = new TextEncoder().encode(
    JSON.stringify({ version: 1, databaseId, atMs, pieces: 0, gapFromMs: null, before: null }),
  );
  const names = [
    objectName({ epoch, kind: "begin", number: 0, readMs: 0, sha256: digestOf(begin) }),
    objectName({ epoch, kind: "wal", number: 0, readMs, sha256: "0".repeat(64) }),
  ];
  for (const name of names) await store.put(`db/${databaseId}/${name}`, begin);
}

async function withStore(
  work: (store: FolderObjects, left: (id: string) => Promise<string[]>, folder: string) => Promise<void>,
) {
  const folder = await Deno.makeTempDir();
  const store = new FolderObjects(folder);
  const left = async (databaseId: string) => {
    const keys = await Array.fromAsync(store.keys(`db/${databaseId}/`));
    return [...new Set(keys.map((key) => key.split("/")[2] ?? ""))].sort();
  };
  try {
    await work(store, left, folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("an epoch that began while the clock was years behind makes the one before it no older", async () => {
  await withStore(async (store, left) => {
    await putEpoch(store, "db_a", { number: 0, atMs: NOW_MS - 3 * DAY_MS, readMs: NOW_MS - 2 * DAY_MS });
    await putEpoch(store, "db_a", { number: 1, atMs: DAY_MS, readMs: NOW_MS });
    await pruneArchive(store, BEFORE_MS, known);
    assertEquals(await left("db_a"), [epochOf(0), epochOf(1)]);
    await pruneArchive(store, NOW_MS - DAY_MS, known);
    assertEquals(await left("db_a"), [epochOf(1)]);
  });
});

Deno.test("a damaged beginning keeps what is old of its own database only", async () => {
  await withStore(async (store, left) => {
    for (const id of ["db_a", "db_b", "db_c"]) {
      for (const number of [0, 1]) {
        const atMs = NOW_MS - (100 - number) * DAY_MS;
        await putEpoch(store, id, { number, atMs, readMs: atMs });
      }
    }
    const keys = await Array.fromAsync(store.keys(`db/db_a/${epochOf(1)}/begin-`));
    for (const key of keys) await store.put(key, new Uint8Array(1));
    await assertRejects(() => pruneArchive(store, BEFORE_MS, known), /lost or altered/);
    assertEquals(await left("db_a"), [epochOf(0), epochOf(1)]);
    for (const id of ["db_b", "db_c"]) assertEquals(await left(id), [epochOf(1)]);
  });
});

Deno.test("a removal that breaks off leaves no epoch that looks whole, and the next one removes the rest", async () => {
  await withStore(async (store, left) => {
    for (const number of [0, 1]) {
      const atMs = NOW_MS - (100 - number) * DAY_MS;
      await putEpoch(store, "db_a", { number, atMs, readMs: atMs });
    }
    const remove = store.remove.bind(store);
    let removed = 0;
    store.remove = async (key) => {
      if (removed++ > 0) throw new Error("the store is away");
      await remove(key);
    };
    await assertRejects(() => pruneArchive(store, BEFORE_MS, known), /away/);
    store.remove = remove;
    const keys = await Array.fromAsync(store.keys(`db/db_a/${epochOf(0)}/`));
    assertEquals(keys.map((key) => /([a-z]+)-[^/]*$/.exec(key)?.[1]), ["wal"]);
    await pruneArchive(store, BEFORE_MS, known);
    assertEquals(await left("db_a"), [epochOf(1)]);
  });
});

Deno.test("the last epoch that is whole stays before half of one, and one that has only begun is as old as its beginning", async () => {
  await withStore(async (store, left) => {
    for (const [id, number] of [["db_a", 0], ["db_a", 1], ["db_b", 0]] as const) {
      const atMs = NOW_MS - (100 - number) * DAY_MS;
      await putEpoch(store, id, { number, atMs: id === "db_b" ? NOW_MS : atMs, readMs: atMs });
    }
    for (const [half, kind] of [[`db_a/${epochOf(1)}`, "begin"], [`db_b/${epochOf(0)}`, "wal"]]) {
      for await (const key of store.keys(`db/${half}/${kind}-`)) await store.remove(key);
    }
    await pruneArchive(store, BEFORE_MS, (id) => Promise.resolve(id === "db_a"));
    assertEquals([await left("db_a"), await left("db_b")], [[epochOf(0), epochOf(1)], [epochOf(0)]]);
  });
});

Deno.test("nothing is removed by the time of this machine where the store has told none, or is behind by more than a day", () => {
  assertEquals(believedMs({ toldMs: null }, NOW_MS), -Infinity);
  assertEquals(believedMs({ toldMs: NOW_MS - 3 * DAY_MS }, NOW_MS), NOW_MS - 2 * DAY_MS);
  assertEquals(believedMs({ toldMs: NOW_MS + DAY_MS }, NOW_MS), NOW_MS);
});

Deno.test("what killed writes have left in a folder goes after a day, and nothing else does", async () => {
  await withStore(async (store, _left, folder) => {
    const part = (of: string) => `${of}.${crypto.randomUUID()}.part`;
    const [old, young, foreign] = [part("a-1"), part("a-2"), "mine.part"];
    for (const key of ["db/a-1", old, young, foreign]) {
      await store.put(key, new Uint8Array(1));
      const writtenMs = Date.now() - (key === young ? 0 : 2 * DAY_MS);
      await Deno.utime(`${folder}/${key}`, new Date(writtenMs), new Date(writtenMs));
    }
    await store.removeUnfinished();
    const left = Array.from(Deno.readDirSync(folder), ({ name }) => name);
    assertEquals(left.sort(), [young, "db", foreign].sort());
    assertEquals(await Array.fromAsync(store.keys("db/")), ["db/a-1"]);
  });
});

Deno.test("a service that archives into a folder removes what killed writes have left there", async () => {
  const root = await Deno.makeTempDir();
  const part = `${root}/archive/db/a-1.${crypto.randomUUID()}.part`;
  await Deno.mkdir(`${root}/archive/db`, { recursive: true });
  await Deno.writeTextFile(part, "");
  await Deno.utime(part, new Date(DAY_MS), new Date(DAY_MS));
  const store = await openArchived(`${root}/data`, { kind: "folder", folder: `${root}/archive` });
  try {
    await Tenant.create(store, ["CREATE TABLE t (a)"]);
    const isThere = () => Deno.stat(part).then(() => true, () => false);
    for (let look = 0; look < 500 && await isThere(); look++) {
      await pause(10);
    }
    assertEquals(await isThere(), false);
  } finally {
    await store.close();
    await Deno.remove(root, { recursive: true });
  }
});
