// Copies and removals of locations in one sqld take turns, whichever instance makes them: where both happen at one moment,
// sqld never answers anybody again.
import { CommitNotices } from "../../lib/tenant/commit_notices.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { systemClock } from "../../lib/core/clock.ts";
import { silentLog } from "../../lib/core/log.ts";
import { streamOnce } from "../../lib/core/send_once.ts";
import { Catalog } from "../../lib/tenant/remote/locations/catalog.ts";
import { withDefaults } from "../../lib/tenant/remote/server/remote_context.ts";
import { LocationTurns, type RemovalTurn } from "../../lib/tenant/remote/locations/location_turns.ts";
import { RequestsUnderWay } from "../../lib/tenant/remote/server/requests_under_way.ts";
import { SqldPlatform } from "../../lib/tenant/sqld/sqld_platform.ts";
import { withSqld } from "./sqld_world.ts";

interface World {
  readonly turns: LocationTurns;
  readonly catalog: Catalog;
  /** Takes the turn to remove and keeps it, however long the test takes. */
  removing(): Promise<RemovalTurn>;
}

async function withTurns(body: (world: World) => Promise<void>): Promise<void> {
  await withSqld(async ({ sqld: { url, adminUrl } }) => {
    // No wait ends by itself.
    const clock = { ...systemClock, monotonicMs: () => 0 };
    const [log, fetch] = [silentLog, streamOnce];
    const platform = new SqldPlatform({ url, adminUrl, adminToken: null, tokens: null, fetch, log });
    const settings = withDefaults({ clock, log, fetch, queryTimeoutMs: 5000, logDays: 30, snapshotDays: 7 });
    const catalog = new Catalog({
      ...settings,
      platform,
      underWay: new RequestsUnderWay(),
      commits: new CommitNotices({ others: true }),
    });
    const turns = new LocationTurns(clock, catalog);
    const removing = async () => {
      const turn = await turns.takeRemoval();
      assert(turn);
      await catalog.change([["UPDATE removal SET until = until + ?", [1e9]]]);
      return turn;
    };
    await body({ turns, catalog, removing });
  });
}

/** Locations that are being made, or that nobody uses. */
async function noted(catalog: Catalog): Promise<string[]> {
  return (await catalog.select("SELECT place FROM loose ORDER BY place", [])).map((row) => String(row[0]));
}

Deno.test("nobody begins to remove while a copy is made, nor while somebody else removes", async () => {
  await withTurns(async ({ turns, catalog, removing }) => {
    await turns.copying(["a"], async (end) => {
      assertEquals(await turns.takeRemoval(), null);
      await catalog.change([end]);
    });
    const turn = await removing();
    assertEquals([await turns.takeRemoval(), await turns.insistOnRemoval()], [null, null]);
    await turns.noteRemoved(turn, { removed: ["a"], isOver: true });
    assertEquals(await noted(catalog), []);
    await removing();
  });
});

Deno.test("a copy begins when the removal that was under way has ended", async () => {
  await withTurns(async ({ turns, catalog, removing }) => {
    const turn = await removing();
    const order: string[] = [];
    const copying = turns.copying(["a"], async (end) => {
      order.push("copied");
      await catalog.change([end]);
    });
    for (let asked = 0; asked < 5; asked++) assertEquals(await noted(catalog), []);
    order.push("removed");
    await turns.noteRemoved(turn, { removed: [], isOver: true });
    await copying;
    assertEquals(order, ["removed", "copied"]);
  });
});

Deno.test("a copy that fails holds up no removal, and what it has left goes, but nothing that has an owner", async () => {
  await withTurns(async ({ turns, catalog, removing }) => {
    const failing = () => turns.copying(["a", "b", "c"], () => Promise.reject(new TypeError("no copy")));
    await assertRejects(failing, /no copy/);
    await catalog.change([["INSERT INTO tenant VALUES (?, ?, 0, 0)", ["db", "b"]]]);
    assertEquals(await turns.orphans(), [], "they may still be under way");
    await catalog.change([["UPDATE loose SET since = since - 601000", []]]);
    assertEquals(await turns.orphans(), ["a", "c"]);
    await removing();
  });
});
