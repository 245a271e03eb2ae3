// Streams that reads leave open at sqld for the next ones: never used for another database, few, and no promise.
import { assert, assertEquals } from "@std/assert";
import type { Fetch } from "../../lib/tenant/remote/hrana/poster.ts";
import { rowsOf, Tenant } from "../contracts/tenant_store.ts";
import { withSqld } from "./sqld_world.ts";

/** What went over the wire: on which stream, for which location, and on which stream it was left. */
interface Seen {
  readonly location: string;
  readonly baton: string | null;
  readonly closes: boolean;
  /** Null as long as there is no answer. */
  left: string | null;
  /** Of a request that was stopped nobody reads the answer: the server closes what it left open. */
  readonly signal: AbortSignal | null;
}

function watched(seen: Seen[]): Fetch {
  return async (url, init) => {
    if (!url.endsWith("/v3/pipeline") || typeof init.body !== "string") return await fetch(url, init);
    const location = new Headers(init.headers).get("x-namespace-bin") ?? "";
    const { baton, requests } = JSON.parse(init.body);
    const closes = requests.at(-1).type === "close";
    const one: Seen = { location, baton, closes, left: null, signal: init.signal ?? null };
    seen.push(one);
    const answer = await fetch(url, init);
    const text = await answer.text();
    if (answer.ok) one.left = JSON.parse(text).baton;
    return new Response(text, { status: answer.status });
  };
}

Deno.test("a stream is used for the database that it was opened for, and each gets its own rows", async () => {
  await withSqld(async (world) => {
    const seen: Seen[] = [];
    const store = world.store({ fetch: watched(seen) });
    const tenants: Tenant[] = [];
    for (let n = 0; n < 5; n++) tenants.push(await Tenant.create(store, ["CREATE TABLE t (a)"]));
    for (const [n, tenant] of tenants.entries()) await tenant.run("write", [["INSERT INTO t VALUES (?)", n]]);
    seen.length = 0;
    for (let round = 0; round < 10; round++) {
      const rows = await Promise.all(
        Array.from({ length: 30 }, (_, at) => tenants[at % 5]?.rows("SELECT a FROM t")),
      );
      assertEquals(rows, Array.from({ length: 30 }, (_, at) => [[at % 5]]));
    }
    const opened = new Map(seen.flatMap(({ location, left }) => left === null ? [] : [[left, location]]));
    const used = seen.filter(({ baton }) => baton !== null);
    assertEquals(used.filter(({ location, baton }) => opened.get(baton ?? "") !== location), []);
    assert(used.length > 20, `${used.length} of ${seen.length} requests were on a stream of an earlier one`);
    const open = seen.filter(({ left, signal }) =>
      left !== null && !signal?.aborted && !seen.some(({ baton }) => baton === left)
    );
    assert(open.length > 0 && open.length <= 8, `${open.length} streams are open`);
    await store.close();
    const still = open.filter(({ left }) => !seen.some(({ baton, closes }) => baton === left && closes));
    assertEquals(still.length, 0, "closed with the store");
  });
});

Deno.test("streams that the server has forgotten cost nobody anything", async () => {
  await withSqld(async (world) => {
    const tenant = await Tenant.create(world.store(), ["CREATE TABLE t (a)"]);
    await tenant.run("write", [["INSERT INTO t VALUES (1)"]]);
    for (let round = 0; round < 3; round++) {
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, () => tenant.run("read", [["SELECT a FROM t"]])),
      );
      assertEquals(outcomes.map((outcome) => rowsOf(outcome)), Array(20).fill([[1]]));
      await world.sqld.kill();
      await world.sqld.restart();
    }
  });
});

Deno.test("a statement that is stopped on a stream that was left open leaves nothing to the next one", async () => {
  await withSqld(async (world) => {
    const tenant = await Tenant.create(world.store(), ["CREATE TABLE t (a)"]);
    const endless = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT count(*) FROM c";
    for (let round = 0; round < 4; round++) {
      assertEquals(await tenant.rows("SELECT 1"), [[1]]);
      const outcome = await tenant.run("read", [[endless]], { timeoutMs: 300 });
      assert(outcome.ok === false);
      assertEquals(outcome.failure.kind, "timeout");
      assertEquals((await tenant.run("read", [["SELECT nothing FROM t"]])).ok, false);
      assertEquals((await tenant.run("write", [["INSERT INTO t VALUES (1)"]])).ok, true);
    }
    assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[4]]);
  });
});
