// What a process keeps of exports and imports: whose they are, for how long, and what ends them.
import { assert, assertEquals } from "@std/assert";
import { systemClock } from "../../lib/core/clock.ts";
import { AppError } from "../../lib/core/errors.ts";
import { exportLimits, importLimits } from "../../lib/core/limits_of_transfers.ts";
import { KeptExports } from "../../lib/services/transfer/kept_exports.ts";
import { KeptImports } from "../../lib/services/transfer/kept_imports.ts";
import { TransferPlaces } from "../../lib/services/transfer/transfer_places.ts";
import { TransferRoom } from "../../lib/tenant/transfer/transfer_room.ts";
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
