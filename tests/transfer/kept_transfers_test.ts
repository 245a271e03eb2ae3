// What a process keeps of exports and imports: whose they are, for how long, and what ends them.
import { assert, assertEquals } from "@std/assert";
import { systemClock } from "../../lib/core/clock.ts";
import { AppError } from "../../lib/core/errors.ts";
import { exportLimits, importLimits } from "../../lib/core/limits_of_transfers.ts";
import { type KeptExport, KeptExports } from "../../lib/services/transfer/kept_exports.ts";
import { pause } from "../../lib/core/pause.ts";
import { KeptImports } from "../../lib/services/transfer/kept_imports.ts";
import { TransferPlaces } from "../../lib/services/transfer/transfer_places.ts";
import type { TransferReport } from "../../lib/tenant/transfer/job.ts";
import { TransferRoom, type TransferRun } from "../../lib/tenant/transfer/transfer_room.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";

async function withRoom(work: (room: TransferRoom, clock: TurnableClock) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  const room = new TransferRoom({ folder, environment: {} });
  try {
    await work(room, new TurnableClock());
  } finally {
    await room.close();
  }
}

function codeOf(act: () => unknown): string {
  try {
    act();
    return "done";
  } catch (error) {
    return error instanceof AppError ? error.code : String(error);
  }
}

/** The same of an act that takes time. */
function laterCodeOf(act: () => Promise<unknown>): Promise<string> {
  return act().then(
    () => "done",
    (error: unknown) => error instanceof AppError ? error.code : String(error),
  );
}

const DONE: TransferReport = { state: "done", tables: 0, rows: 0, notKept: [] };

/** The run of a child that is none: nobody here reads or writes it. */
function runOf(run: Pick<TransferRun, "kill" | "ended">): TransferRun {
  return {
    ...run,
    get process(): Deno.ChildProcess {
      throw new Error("there is no process");
    },
  };
}

function isThere(path: string): Promise<boolean> {
  return Deno.stat(path).then(() => true, () => false);
}

Deno.test("an export is its database's, is found for an hour, and its copy stays as long as somebody reads it", async () => {
  await withRoom(async (room, clock) => {
    const kept = new KeptExports(room, clock);
    const owner = { databaseId: "db_1", namespaceId: "ns_1", callerId: "tok_1" };
    const one = await kept.begin(owner, { format: "csv", table: null, safe: false });
    one.state = "ready";
    one.readers = 1;
    assertEquals(kept.find(one.id, "db_1"), one);
    assertEquals(codeOf(() => kept.find(one.id, "db_2")), "export_not_found");
    clock.turn(exportLimits.keepMs);
    assertEquals(codeOf(() => kept.find(one.id, "db_1")), "export_not_found");
    await kept.sweep();
    assertEquals(await isThere(room.folderOf(one.id)), true);
    one.readers = 0;
    await kept.sweep();
    assertEquals(await isThere(room.folderOf(one.id)), false);
  });
});

Deno.test("of exports that are too many the oldest goes, of whoever has most: a token's in a database, a namespace's in a process", async () => {
  await withRoom(async (room, clock) => {
    const kept = new KeptExports(room, clock);
    const begin = async (databaseId: string, namespaceId: string, callerId: string) => {
      const one = await kept.begin({ databaseId, namespaceId, callerId }, {
        format: "csv",
        table: null,
        safe: false,
      });
      one.state = "ready";
      return one;
    };
    const left = async (all: readonly { readonly id: string }[]) =>
      await Promise.all(all.map(({ id }) => isThere(room.folderOf(id))));
    const admins = await begin("db_1", "ns_1", "admin");
    const readers = [];
    for (let at = 0; at < 4; at++) readers.push(await begin("db_1", "ns_1", "reader"));
    assertEquals(await left([admins, ...readers]), [true, false, false, true, true]);
    const third = await begin("db_1", "ns_1", "other");
    assertEquals(await left([admins, ...readers.slice(2), third]), [true, false, true, true]);
    const many = [];
    for (let at = 0; many.length < exportLimits.kept - 3; at++) {
      many.push(await begin(`db_many_${at}`, "ns_many", "many"));
    }
    const more = await begin("db_more", "ns_many", "many");
    const fourth = await begin("db_2", "ns_2", "admin");
    assertEquals(await left([admins, ...readers.slice(3), third, ...many.slice(0, 3), more, fourth]), [
      ...[true, true, true, false, false, true, true, true],
    ]);
  });
});

Deno.test("an export that is being made, begins or is read stays, whatever its age; ended, it ends its child first", async () => {
  await withRoom(async (room, clock) => {
    const kept = new KeptExports(room, clock);
    const ended = Promise.withResolvers<TransferReport>();
    const killed: string[] = [];
    const run = runOf({ kill: () => void killed.push("run"), ended: ended.promise });
    const busy: readonly Partial<KeptExport>[] = [{ state: "copying" }, { starts: true }, { run }];
    const all: KeptExport[] = [];
    for (const [at, one] of busy.entries()) {
      const owner = { databaseId: `db_${at}`, namespaceId: `ns_${at}`, callerId: "tok_1" };
      const made = await kept.begin(owner, { format: "csv", table: null, safe: false });
      all.push(Object.assign(made, { state: "ready" as const }, one));
    }
    clock.turn(2 * exportLimits.keepMs);
    await kept.sweep();
    const there = () => Promise.all(all.map(({ id }) => isThere(room.folderOf(id))));
    assertEquals(await there(), [true, true, true]);
    const [copying, starts, runs] = all;
    for (const one of [copying, starts]) Object.assign(one ?? {}, { state: "ready", starts: false });
    await kept.sweep();
    assertEquals(await there(), [false, false, true]);
    clock.turn(-2 * exportLimits.keepMs);
    const cancelled = kept.cancel(runs?.id ?? "", "db_2");
    assertEquals([killed, codeOf(() => kept.find(runs?.id ?? "", "db_2"))], [["run"], "export_not_found"]);
    await pause(10);
    assertEquals(await there(), [false, false, true]);
    ended.resolve(DONE);
    await cancelled;
    assertEquals(await there(), [false, false, false]);
  });
});

Deno.test("an export whose folder cannot be made is storage_full, and is none", async () => {
  await withRoom(async (room, clock) => {
    const kept = new KeptExports(room, clock);
    const { make } = room;
    let id = "";
    room.make = (asked) => {
      id = asked;
      return Promise.reject(new Error("no space left"));
    };
    const owner = { databaseId: "db_1", namespaceId: "ns_1", callerId: "tok_1" };
    const begin = () => kept.begin(owner, { format: "csv", table: null, safe: false });
    assertEquals(await laterCodeOf(begin), "storage_full");
    assertEquals(codeOf(() => kept.find(id, "db_1")), "export_not_found");
    room.make = make;
    // It takes nobody's place.
    for (let at = 0; at < exportLimits.runningOfNamespace; at++) {
      assertEquals((await begin()).state, "copying");
    }
    assertEquals(await laterCodeOf(begin), "too_many_transfers");
  });
});

Deno.test("of texts that hold places for clients who take little, the slowest gives way, and only from a minute on", async () => {
  await withRoom(async (room, clock) => {
    const kept = new KeptExports(room, clock);
    const { slowAfterMs, slowBytesPerSec } = exportLimits;
    const broken: string[] = [];
    const begin = async (name: string, namespaceId: string, format: "csv" | "sqlite" = "csv") => {
      const owner = { databaseId: `db_${name}`, namespaceId, callerId: "tok_1" };
      const one = await kept.begin(owner, { format, table: null, safe: false });
      one.state = "writing";
      one.run = runOf({ kill: () => {}, ended: Promise.resolve(DONE) });
      kept.noteStart(one);
      one.breakOff = (why) => void broken.push(`${name} ${why}`);
      return one;
    };
    const refused = (namespaceId: string) => laterCodeOf(() => begin("no", namespaceId));
    const slow = await begin("slow", "ns_1");
    await begin("file", "ns_1", "sqlite");
    clock.turn(slowAfterMs - 10_000);
    assertEquals([await refused("ns_1"), broken], ["too_many_transfers", []]);
    clock.turn(10_000);
    const enough = slowBytesPerSec * slowAfterMs / 1000;
    slow.sentBytes = 2 * enough;
    assertEquals([await refused("ns_1"), broken], ["too_many_transfers", []]);
    slow.sentBytes = enough / 2;
    const slower = await begin("slower", "ns_1");
    assertEquals([broken.splice(0), slow.gaveWay], [["slow too_many_transfers"], true]);
    assertEquals(await refused("ns_1"), "too_many_transfers");
    // Of a namespace that has its own places taken one of its own gives way, whoever else takes less; and what was sent before
    // a child began again is none of it.
    const [one, again] = [await begin("one", "ns_2"), await begin("again", "ns_2")];
    again.sentBytes = 10 * enough;
    kept.noteStart(again);
    clock.turn(slowAfterMs);
    one.sentBytes = enough / 2;
    again.sentBytes += enough / 4;
    slower.sentBytes = 1;
    await begin("next", "ns_2");
    assertEquals(broken.splice(0), ["again too_many_transfers"]);
    // Taken once more, it has its place again, and its minute.
    kept.noteStart(again);
    assertEquals([await refused("ns_2"), broken.splice(0)], ["too_many_transfers", [
      "one too_many_transfers",
    ]]);
    await begin("last", "ns_3");
    assertEquals(broken.splice(0), ["slower too_many_transfers"]);
  });
});

Deno.test("the id of an import is its database's, is free again once it has failed, and is known for a while", async () => {
  await withRoom((room, clock) => {
    const kept = new KeptImports(room, clock);
    const begin = (databaseId: string) =>
      kept.begin({ id: "mine", format: "sql", mode: "create" }, databaseId, "builds");
    const one = begin("db_1");
    assertEquals(codeOf(() => kept.find("db_2", "mine")), "import_not_found");
    const other = begin("db_2");
    assertEquals([kept.find("db_1", "mine"), kept.find("db_2", "mine")], [one, other]);
    assertEquals(codeOf(() => begin("db_1")), "import_refused");
    assertEquals(one.cancel(), true);
    assertEquals(codeOf(() => one.begin("building")), "import_cancelled");
    one.state = "failed";
    const again = begin("db_1");
    again.begin("placing");
    assertEquals([again.cancel(), again.signal.aborted], [false, false]);
    clock.turn(importLimits.keepMs);
    assertEquals(kept.find("db_1", "mine"), again);
    again.state = "done";
    assertEquals(codeOf(() => kept.find("db_1", "mine")), "import_not_found");
    return Promise.resolve();
  });
});

Deno.test("of all namespaces together only so many files come at a time", async () => {
  const places = new TransferPlaces(systemClock, { namespaces: () => [], endSlow: () => false });
  const { promise, resolve } = Promise.withResolvers<void>();
  const upload = (at: number) =>
    places.duringUpload(`ns_${at}`, () => promise).then(() => "came", ({ code }) => code);
  const coming = Array.from({ length: importLimits.uploads }, (_, at) => upload(at));
  assertEquals(await upload(-1), "too_many_transfers");
  resolve();
  assert((await Promise.all(coming)).every((outcome) => outcome === "came"));
  assertEquals(await upload(-1), "came");
});
