// An archive in a bucket that is away for a while, is left half-written, or is somebody else's by now.
import { assert, assertEquals } from "@std/assert";
import { pause } from "../../lib/core/pause.ts";
import { HOUR_MS, systemClock } from "../../lib/core/clock.ts";
import { AppError } from "../../lib/core/errors.ts";
import { newId } from "../../lib/core/ids.ts";
import type { LocalStore } from "../../lib/tenant/local/local_store.ts";
import { Tenant } from "../contracts/tenant_store.ts";
import type { TurnableClock } from "../testing/turnable_clock.ts";
import { codeOf, countAt, until, withBucket } from "./archive_world.ts";

const SCHEMA = "CREATE TABLE t (id INTEGER PRIMARY KEY, a BLOB)";
/** More than the time within which the archive is told of a change. */
const TOLD_MS = 120_000;
const MB = 1024 * 1024;
const SPOOL_MB = 5;
/** Longer than a change waits until it is sent, and than nobody asks who owns the place. */
const SENT_MS = 11_000;
const OWNED_MS = 61_000;

/** Half of an epoch, as a sending that was cut off leaves it: each pruning removes it. */
const halfOf = (id: string) => `shop/cubby/db/${id}/00000000-00000000/base-00000000-${"0".repeat(64)}`;

const archived = (store: LocalStore, id: string, label: string, clock: Pick<TurnableClock, "now">) =>
  codeOf(store.archive?.toSnapshot(id, { atMs: clock.now(), label }));
const addRow = (tenant: Tenant, bytes: number) =>
  tenant.run("write", [[`INSERT INTO t (a) VALUES (randomblob(${bytes}))`]]);

Deno.test("a bucket that is away for a day: the spool stays within its bound, the gap is told, the rest comes back", async () => {
  await withBucket(async ({ s3, clock, open }) => {
    // What is done here ends now: a file has the time of the machine.
    clock.turn(-40 * HOUR_MS);
    const store = await open("data", { spoolMb: SPOOL_MB });
    const tenant = await Tenant.create(store, [SCHEMA]);
    await addRow(tenant, 10);
    assertEquals(await archived(store, tenant.id, "first", clock), "archive_too_early");
    const before = clock.now();
    assertEquals(await archived(store, tenant.id, "before", clock), "done");
    await untilIdle(store, tenant.id, clock);
    s3.away = () => true;
    for (let hours = 0; hours < 24; hours += 6) {
      clock.turn(6 * HOUR_MS);
      await addRow(tenant, 2_000_000);
      // Once nobody asks for a moment, and the look that reads what is too much has no write behind it.
      if (hours === 12) await until(() => spoolBytes(store, tenant.id) > SPOOL_MB * MB);
      else assertEquals(await archived(store, tenant.id, "away", clock), "archive_unavailable");
      assert(((await store.archive?.status(tenant.id))?.lagMs ?? 0) >= hours * HOUR_MS);
      clock.turn(SENT_MS);
      await until(() => spoolBytes(store, tenant.id) <= SPOOL_MB * MB);
    }
    assertEquals(await store.ready(), ["archive_away"]);
    assertEquals(store.archive?.late(), [tenant.id]);
    assertEquals(store.archive?.late(), [tenant.id], "nobody was told yet");
    store.archive?.toldLate(tenant.id);
    assertEquals(store.archive?.late(), []);
    await until(() => spoolBytes(store, tenant.id) === 0);
    const lost = clock.now();

    clock.turn(systemClock.now() - clock.now());
    s3.away = () => false;
    await until(async () => (await store.ready()).length === 0);
    await until(async () => ((await store.archive?.status(tenant.id))?.lagMs ?? HOUR_MS) < HOUR_MS);
    assertEquals(store.archive?.late(), []);
    assertEquals(await countAt(store, tenant.id, clock.now(), "now"), 5);
    assertEquals(await countAt(store, tenant.id, before, "then"), 1);
    const told = await store.archive?.toSnapshot(tenant.id, { atMs: lost, label: "gap" }).then(
      () => "",
      (error) => error instanceof AppError && error.code === "archive_gap" ? error.message : String(error),
    );
    const [, from = "", to = ""] = /^Choose a moment until (\S+) or from (\S+) on; /.exec(told ?? "") ?? [];
    // The hours before the first write that waited are no part of it.
    assert(
      Date.parse(from) >= before + 6 * HOUR_MS - TOLD_MS && Date.parse(from) < before + 7 * HOUR_MS,
      told,
    );
    assert(Date.parse(to) > lost, told);
  });
});

Deno.test("the archive is behind since the first write that waits, behind a restart too, and a gap begins there", async () => {
  await withBucket(async ({ s3, clock, open }) => {
    clock.turn(-40 * HOUR_MS);
    const first = await open("data", { spoolMb: SPOOL_MB });
    const { id } = await Tenant.create(first, [SCHEMA]);
    await untilIdle(first, id, clock);
    clock.turn(6 * HOUR_MS);
    // What was committed a moment before the archive was told of it is not taken for sent.
    const idle = clock.now() - TOLD_MS;
    const lagMs = async (store: LocalStore) => (await store.archive?.status(id))?.lagMs ?? Infinity;
    s3.away = () => true;
    await addRow(Tenant.at(first, id), 10);
    assert(await lagMs(first) < HOUR_MS);
    clock.turn(HOUR_MS);
    await until(() => spoolBytes(first, id) > 0);
    await first.close();
    const store = await open("data", { spoolMb: SPOOL_MB });
    const lag = await lagMs(store);
    assert(lag >= HOUR_MS && lag < 2 * HOUR_MS, String(lag));
    for (let row = 0; row < 3; row++) await addRow(Tenant.at(store, id), 2_000_000);
    clock.turn(SENT_MS);
    await until(() => spoolBytes(store, id) > SPOOL_MB * MB);
    clock.turn(SENT_MS);
    await until(() => spoolBytes(store, id) === 0);
    clock.turn(6 * HOUR_MS);
    s3.away = () => false;
    await until(async () => await lagMs(store) < HOUR_MS);
    assertEquals(await countAt(store, id, idle, "idle"), 0);
    assertEquals(await archived(store, id, "gap", { now: () => idle + 2 * HOUR_MS }), "archive_gap");
  });
});

/** Until nothing of the database waits, all of which is due. */
async function untilIdle(store: LocalStore, id: string, clock: TurnableClock): Promise<void> {
  clock.turn(SENT_MS);
  await until(async () => (await store.archive?.status(id))?.lagMs === 0);
}

/** Null for a file that was sent, or got its name, meanwhile. */
function sizeIfThere(path: string): number | null {
  try {
    return Deno.statSync(path).size;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** What waits for the bucket. */
function spoolBytes(store: LocalStore, id: string): number {
  const folder = `${store.files.scratch}/../archive/${id.slice(-2).toLowerCase()}/${id}`;
  const files = [...Deno.readDirSync(folder)].filter(({ name }) => name.includes("~"));
  return files.reduce((sum, { name }) => sum + (sizeIfThere(`${folder}/${name}`) ?? 0), 0);
}

Deno.test("half of an epoch in the bucket is none: another installation that takes over brings back what is before it", async () => {
  await withBucket(async ({ s3, clock, open }) => {
    const store = await open("data");
    const tenant = await Tenant.create(store, [SCHEMA]);
    assertEquals(await store.archive?.status(newId("db", clock.now())), {
      archivedUntilMs: null,
      lagMs: null,
      strain: null,
    });
    await addRow(tenant, 10);
    assertEquals(await archived(store, tenant.id, "one", clock), "done");
    clock.turn(48 * HOUR_MS);
    await addRow(tenant, 10);
    s3.away = (method, key) => method === "PUT" && /\/00000001-.*\/begin-/.test(key);
    assertEquals(await archived(store, tenant.id, "half", clock), "archive_unavailable");
    const keys = [...s3.objects.keys()];
    assert(keys.some((key) => /\/00000001-.*\/base-/.test(key)));
    s3.away = () => false;

    // The machine is lost: another one goes on.
    const other = await open("other", { takeOver: true });
    assertEquals(await countAt(other, tenant.id, clock.now(), "taken"), 2);
    await Tenant.at(other, tenant.id).database.restore("taken", { undoLabel: "undo" });
    assertEquals(await Tenant.at(other, tenant.id).rows("SELECT count(*) FROM t"), [[2]]);
    await addRow(Tenant.at(other, tenant.id), 10);
    assertEquals(await archived(other, tenant.id, "goes-on", clock), "done");

    // The first one was not lost after all: it sends nothing any more, and says so.
    const sent = new Set(s3.objects.keys());
    clock.turn(OWNED_MS);
    await addRow(tenant, 10);
    assertEquals(await archived(store, tenant.id, "no-longer", clock), "archive_unavailable");
    assertEquals(await store.ready(), ["archive_taken"]);
    // The other one may remove the half meanwhile.
    assertEquals([...s3.objects.keys()].filter((key) => !sent.has(key)), []);
    assertEquals(await other.ready(), []);
    assertEquals(await countAt(other, tenant.id, clock.now(), "still"), 3);
  });
});

for (
  const [isLost, name] of [
    [false, "what waited in the spool when a service ended is sent by the next one, although nobody writes"],
    [true, "so is what waited of a database whose file is lost"],
  ] as const
) {
  Deno.test(name, async () => {
    await withBucket(async ({ s3, clock, open }) => {
      const store = await open("data");
      const tenant = await Tenant.create(store, [SCHEMA]);
      assertEquals(await archived(store, tenant.id, "base", clock), "done");
      s3.away = () => true;
      await addRow(tenant, 1_500_000);
      clock.turn(SENT_MS);
      const file = store.files.scratch.replace(/scratch$/, "tenants") +
        `/${tenant.id.slice(-2).toLowerCase()}/${tenant.id}.db`;
      await until(() => Deno.statSync(`${file}-wal`).size === 0);
      await store.close();
      if (isLost) {
        for (const end of ["", "-wal", "-shm"]) await Deno.remove(`${file}${end}`).catch(() => {});
      }
      s3.away = () => false;
      const sent = s3.objects.size;
      const next = await open("data");
      clock.turn(SENT_MS);
      await until(() => s3.objects.size > sent);
      await until(async () => ((await next.archive?.status(tenant.id))?.lagMs ?? SENT_MS) < SENT_MS);
      assertEquals(await countAt(next, tenant.id, clock.now(), "whole"), 1);
    });
  });
}

Deno.test("the last epoch of a database that was made from the archive stays until its next one is there", async () => {
  await withBucket(async ({ s3, clock, open }) => {
    const store = await open("data");
    const [made, lost] = [await Tenant.create(store, [SCHEMA]), await Tenant.create(store, [SCHEMA])];
    for (const tenant of [made, lost]) assertEquals(await archived(store, tenant.id, "one", clock), "done");
    const folder = store.files.scratch.replace(/scratch$/, "");
    await store.close();
    // A new machine has the files, and knows nothing of what was sent.
    await Deno.remove(`${folder}archive`, { recursive: true });
    await Deno.remove(`${folder}tenants/${lost.id.slice(-2).toLowerCase()}/${lost.id}.db`);
    clock.turn(40 * 24 * HOUR_MS);
    s3.away = (method, key) => method === "PUT" && key.includes(made.id);
    const next = await open("data", { takeOver: true });
    await addRow(await Tenant.create(next, [SCHEMA]), 10);
    const has = (id: string) => [...s3.objects.keys()].some((key) => key.includes(id));
    // They are looked through in the order of their ids.
    assert(made.id < lost.id);
    await until(() => !has(lost.id));
    assert(has(made.id));
  });
});

Deno.test("a pruning that the bucket has broken off is made up for within hours", async () => {
  await withBucket(async ({ s3, clock, open }) => {
    const store = await open("a");
    const tenant = await Tenant.create(store, [SCHEMA]);
    const half = halfOf(tenant.id);
    const isGone = async () => {
      await addRow(tenant, 1);
      for (let look = 0; look < 300 && s3.objects.has(half); look++) {
        await pause(10);
      }
      return !s3.objects.has(half);
    };
    assertEquals(await archived(store, tenant.id, "first", clock), "done");
    s3.objects.set(half, new Uint8Array(1));
    // The first pruning may have been before the half was there.
    if (!await isGone()) {
      clock.turn(25 * HOUR_MS);
      assert(await isGone());
    }
    let tried = 0;
    s3.away = (method, key) => method === "DELETE" && key === half && tried++ === 0;
    s3.objects.set(half, new Uint8Array(1));
    clock.turn(25 * HOUR_MS);
    await addRow(tenant, 1);
    await until(() => tried > 0);
    assert(s3.objects.has(half));
    // The failure may be noted only after the clock was turned.
    let gone = false;
    for (let turn = 0; turn < 4 && !gone; turn++) {
      clock.turn(2 * HOUR_MS);
      gone = await isGone();
    }
    assert(gone);
  });
});
