// Streams of changes: where they begin again, who may open one, and when one ends.
import { assert, assertEquals, assertThrows } from "@std/assert";
import type { Target } from "../../lib/access/resolve_target.ts";
import { BEARER_CHECK_MS, followerLimits } from "../../lib/core/limits_of_changes.ts";
import { pause } from "../../lib/core/pause.ts";
import { beginningOf, changeOf } from "../../lib/services/changes/change.ts";
import { DatabaseChanges } from "../../lib/services/changes/database_changes.ts";
import { CHANGES_AT_ONCE } from "../../lib/services/changes/read_changes.ts";
import { streamChanges } from "../../lib/services/changes/stream_changes.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { oneStore } from "../testing/cases.ts";
import { money } from "../money/money_world.ts";
import { changesWorld, kernel, openStream } from "./changes_world.ts";

const { test, run } = oneStore();
Deno.test("streams of changes begin, go on and end as they should", run);

test("a stream has all that is kept, then each change, and goes on behind the last id", async () => {
  await using world = await changesWorld();
  const { tenant, open } = world;
  await tenant.setup("CREATE TABLE a (id)");
  const stream = await open();
  assertEquals([stream.status, stream.headers.get("content-type")], [200, "text/event-stream"]);
  assertEquals(stream.headers.get("cache-control"), "no-store, no-transform");
  await tenant.setup("INSERT INTO a VALUES (1)");
  const events = await stream.events(2);
  assertEquals(events.map(({ event, change }) => [event, ...kernel(change)]), [
    ["change", "a", "schema", 0],
    ["change", "a", "insert", 1],
  ]);
  await stream.close();
  await tenant.setup("INSERT INTO a VALUES (2)", "CREATE TABLE b (id)", "INSERT INTO b VALUES (1)");
  const [first] = events;
  const again = await open("?tables=A&since=now", { lastEventId: first?.id ?? "" });
  assertEquals((await again.events(2)).map(({ change }) => change.kinds.join()), ["insert", "insert"]);
  await again.close();
  const fresh = await open("?since=now");
  await tenant.setup("DELETE FROM b");
  assertEquals((await fresh.events(1)).map(({ change }) => kernel(change)), [["b", "delete", 1]]);
  await fresh.close();
});

test("who does not read holds nothing, and gets all of it later, in order", async () => {
  await using world = await changesWorld();
  const { tenant, open, poll } = world;
  const { cursor: beginning } = await poll();
  await tenant.setup("CREATE TABLE a (id)");
  const slow = await open();
  for (let round = 0; round < 30; round++) {
    await Promise.all(Array.from({ length: 40 }, () => tenant.query("INSERT INTO a VALUES (1)")));
  }
  let cursor = beginning;
  const all: string[] = [];
  for (let more = true; more;) {
    const { data, cursor: next } = await poll(`?since=${cursor}`);
    all.push(...data.map(({ id }) => id));
    more = data.length > 0;
    cursor = next;
  }
  const seen: string[] = [];
  while (seen.length < all.length) {
    const events = await slow.events(1);
    assert(events.length > 0, "the stream has ended");
    seen.push(...events.map(({ id }) => id));
  }
  assertEquals(seen, all);
  await slow.close();
});

test("a stream that has told nothing can be gone on with where its branch was reset meanwhile", async () => {
  await using world = await changesWorld();
  const { app, tenant } = world;
  await tenant.setup("CREATE TABLE a (id)");
  const post = async (path: string, body: object) => {
    const answer = await app.request("POST", `${tenant.database.path}${path}`, { token: tenant.token, body });
    assert(answer.status < 300, answer.text);
  };
  await post("/claim_branch", { purpose: "test", ref: "b" });
  const url = `${tenant.database.path}@b/changes`;
  const openBranch = async (search: string, headers: Record<string, string> = {}) =>
    openStream(
      await app.app.request(`${url}${search}`, {
        headers: { authorization: `Bearer ${tenant.token}`, accept: "text/event-stream", ...headers },
      }),
    );
  const ids = [];
  for (const search of ["", "?since=now"]) {
    const silent = await openBranch(search);
    ids.push(await silent.firstId());
    await silent.close();
  }
  assertEquals(ids[0], ids[1]);
  await post("/branches/b/reset", {});
  const again = await openBranch("?since=now", { "last-event-id": ids[1] ?? "" });
  assertEquals((await again.events(1)).map(({ event }) => event), ["reset"]);
  await again.close();
});

test("a stream ends when its token is revoked, when its database is gone, and when the service stops", async () => {
  await using world = await changesWorld();
  const { app, tenant, open } = world;
  await tenant.setup("CREATE TABLE a (id)");
  const reader = await tenant.mint("read");
  const other = await tenant.createDatabase("other");
  const revoked = await open("", { token: reader.token });
  const dropped = openStream(
    await app.app.request(`${other.path}/changes`, {
      headers: { authorization: `Bearer ${tenant.token}`, accept: "text/event-stream" },
    }),
  );
  const stopped = await open();
  await Promise.all([revoked.events(1), stopped.events(1)]);
  const api = "/api/namespaces/acme";
  await app.request("DELETE", `${api}/tokens/${reader.id}`, { token: tenant.token });
  const gone = await app.request("DELETE", `${api}/databases/other`, {
    token: tenant.token,
    body: { confirm: "other" },
  });
  assertEquals(gone.status, 200, gone.text);
  await Promise.all([revoked.ended(), dropped.ended()]);
  const refused = await open("", { token: reader.token });
  assertEquals(refused.status, 401);
  await refused.close();
  app.deps.changes.stop();
  await stopped.ended();
});

test("a ticket opens one stream with the rights of its token, and no token is in the address", async () => {
  await using world = await changesWorld();
  const { app, tenant, open } = world;
  await tenant.setup("CREATE TABLE a (id)");
  const reader = await tenant.mint("read");
  const issued = await app.request("POST", `${tenant.database.path}/changes/ticket`, { token: reader.token });
  assertEquals(issued.status, 201, issued.text);
  const { url } = JSON.parse(issued.text).data;
  assert(!url.includes(reader.token));
  const several = await Promise.all([1, 2, 3].map(() => open("", { url })));
  assertEquals(several.map(({ status }) => status).sort(), [200, 404, 404]);
  const stream = several.find(({ status }) => status === 200);
  assertEquals(stream?.headers.get("access-control-allow-origin"), "*");
  assertEquals((await stream?.events(1))?.map(({ change }) => kernel(change)), [["a", "schema", 0]]);
  for (const one of several) await one.close();
  const ends = await app.request("POST", `${tenant.database.path}/changes/ticket`, { token: reader.token });
  await app.request("DELETE", `/api/namespaces/acme/tokens/${reader.id}`, { token: tenant.token });
  const late = await open("", { url: JSON.parse(ends.text).data.url });
  assertEquals(late.status, 401);
  await late.close();
});

test("a ticket is good for a minute", async () => {
  const clock = new TurnableClock();
  await using world = await changesWorld({ clock });
  const { app, tenant: { token, database }, open } = world;
  const urls = await Promise.all(["early", "late"].map(async () => {
    const issued = await app.request("POST", `${database.path}/changes/ticket`, { token });
    return String(JSON.parse(issued.text).data.url);
  }));
  const statuses = [];
  for (const url of urls) {
    clock.turn(30_000);
    const stream = await open("", { url });
    statuses.push(stream.status);
    await stream.close();
  }
  assertEquals(statuses, [200, 404]);
});

test("a ticket opens no stream of another database that has the name since", async () => {
  await using world = await changesWorld();
  const { app, tenant: { token, createDatabase }, open } = world;
  const { path } = await createDatabase("other");
  const issued = await app.request("POST", `${path}/changes/ticket`, { token });
  await app.request("DELETE", "/api/namespaces/acme/databases/other", { token, body: { confirm: "other" } });
  await createDatabase("other");
  const stream = await open("", { url: JSON.parse(issued.text).data.url });
  assertEquals(stream.status, 404);
  await stream.close();
});

test("an address that can be no ticket's is refused without asking the control plane", async () => {
  await using world = await changesWorld();
  const { changeTickets } = world.app.deps.control;
  changeTickets.take = () => Promise.reject(new TypeError("nobody asks"));
  for (const junk of ["x", `pchg_${"0".repeat(38)}`]) {
    const { status, body } = await world.app.request("GET", `/v1/changes/${junk}`);
    assertEquals([status, body.code], [404, "ticket_not_found"]);
  }
});

test("a wait for changes is as long as the clock of the service says", async () => {
  const clock = new TurnableClock();
  const beginning = beginningOf("db");
  const changes = new DatabaseChanges({
    beginning,
    read: () => {
      clock.turn(61_000);
      return Promise.resolve([]);
    },
    newest: () => Promise.resolve(beginning),
    pollMs: 60_000,
    clock,
  });
  const signal = AbortSignal.timeout(2000);
  assertEquals(await changes.next(null, { waitMs: 60_000, signal }), []);
  assert(!signal.aborted);
  changes.close();
});

test("more changes than are read at once are told one part after the other, without waiting for another one", async () => {
  const beginning = beginningOf("db");
  let last = 0;
  const changes = new DatabaseChanges({
    beginning,
    read: (after) => {
      const from = (after?.seq ?? 0) + 1;
      const length = Math.min(CHANGES_AT_ONCE, last - from + 1);
      return Promise.resolve(Array.from({ length }, (_, at) => changeOf([from + at, 1, 0, "[]", 1, 1])));
    },
    newest: () => Promise.resolve(beginning),
    pollMs: 60_000,
    clock: new TurnableClock(),
  });
  const wait = { waitMs: 2000, signal: AbortSignal.timeout(2000) };
  const first = changes.next(beginning, wait);
  await pause(100);
  last = 2 * CHANGES_AT_ONCE + 1;
  changes.changed();
  const told = [...await first];
  while (told.length < last && !wait.signal.aborted) {
    told.push(...await changes.next(told.at(-1)?.place ?? beginning, wait));
  }
  assertEquals(told.map(({ place }) => place.seq), Array.from({ length: last }, (_, at) => at + 1));
  changes.close();
});

test("a HEAD and a place that is no place open no stream, and use no ticket up", async () => {
  await using world = await changesWorld();
  const { app, tenant, open } = world;
  const { token, database: { path } } = tenant;
  const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream" };
  const issued = await app.request("POST", `${path}/changes/ticket`, { token });
  const { url } = JSON.parse(issued.text).data;
  const nowhere = await open("", { url, lastEventId: "yesterday" });
  assertEquals(nowhere.status, 400);
  await nowhere.close();
  for (const address of [`${path}/changes`, url]) {
    const asked = app.app.request(address, { method: "HEAD", headers });
    // Without a refusal it would wait for the end of the stream.
    app.deps.changes.stop();
    const answer = await asked;
    assertEquals([answer.status, answer.headers.get("allow")], [405, "GET"]);
  }
  assertEquals((await app.request("HEAD", `${path}/changes`, { token })).status, 200);
  const late = await open("", { url });
  // The ticket is there; nobody follows any more.
  assertEquals(late.status, 429);
  await late.close();
});

test("only so many follow a database, and a follower who has gone leaves its place", async () => {
  await using world = await changesWorld();
  const { app, tenant, open } = world;
  const namespace = await app.deps.control.namespaces.bySlug("acme");
  const target = {
    databaseId: tenant.database.id,
    namespaceId: namespace?.id ?? "",
    namespaceSlug: "acme",
    databaseSlug: "main",
    branchRef: "main",
  };
  const places = Array.from({ length: followerLimits.ofDatabase - 1 }, () => app.deps.changes.follow(target));
  const last = await open();
  assertEquals(last.status, 200);
  const refused = await app.request("GET", `${tenant.database.path}/changes?waitSec=1`, {
    token: tenant.token,
  });
  assertEquals([refused.status, refused.body.code], [429, "follower_limit"]);
  assert(refused.headers.get("retry-after"));
  await last.close();
  // A poll leaves its place with its answer.
  const polled = await app.request("GET", `${tenant.database.path}/changes?since=now&waitSec=1`, {
    token: tenant.token,
  });
  assertEquals(polled.status, 200, polled.text);
  const next = await open();
  assertEquals(next.status, 200);
  await next.close();
  for (const { leave } of places) leave();
  // Who leaves one database makes room for one more of the namespace.
  const { changes } = app.deps;
  const [one, other] = ["db_one", "db_other"].map((databaseId) => ({
    ...target,
    databaseId,
    namespaceId: "ns_other",
  }));
  assert(one && other);
  const inTwo = Array.from(
    { length: followerLimits.ofNamespace },
    (_, at) => changes.follow(at < followerLimits.ofDatabase ? one : other),
  );
  for (let round = 0; round < 2; round++) {
    assertThrows(() => changes.follow(other), /as many follow/);
    inTwo.pop()?.leave();
    inTwo.push(changes.follow(other));
  }
  // Who is left counts, and who leaves twice has left once.
  const [stays, ...gone] = inTwo;
  for (const { leave } of [...gone, ...gone]) leave();
  const again = gone.map((_, at) => changes.follow(at < followerLimits.ofDatabase - 1 ? one : other));
  assertThrows(() => changes.follow(other), /as many follow/);
  for (const each of [stays, ...again]) each?.leave();
});

test("what is read of a database is shared by all who follow it, until the last of them leaves", async () => {
  await using world = await changesWorld();
  const { app: { deps: { changes } }, tenant } = world;
  const target = {
    ...{ databaseId: tenant.database.id, namespaceId: "ns_1", namespaceSlug: "acme" },
    ...{ databaseSlug: "main", branchRef: "main" },
  };
  const [first, second] = [changes.follow(target), changes.follow(target)];
  assert(first.changes === second.changes);
  first.leave();
  first.leave();
  assertEquals(second.changes.isClosed, false);
  second.leave();
  assertEquals(second.changes.isClosed, true);
  const third = changes.follow(target);
  assert(third.changes !== second.changes && !third.changes.isClosed);
  third.leave();
});

test("a stream ends at the look that finds another database in its place", async () => {
  const clock = new TurnableClock();
  await using world = await changesWorld({ clock });
  const { app: { deps }, tenant } = world;
  const namespace = await deps.control.namespaces.bySlug("acme");
  const target: Target = {
    ...{ databaseId: tenant.database.id, namespaceId: namespace?.id ?? "", namespaceSlug: "acme" },
    ...{ databaseSlug: "main", branchRef: "main", role: "read" },
  };
  const looks: boolean[] = [true, false];
  const { control, query, changes: feeds } = deps;
  const stream = openStream(
    new Response(
      await streamChanges({ control, query, feeds, target }, {
        ...{ since: "now", tables: null, taken: () => {} },
        isAllowed: () => looks.shift() ?? true,
      }),
    ),
  );
  await stream.firstId();
  await tenant.setup("CREATE TABLE a (id)");
  for (const isTold of [true, false]) {
    clock.turn(2 * BEARER_CHECK_MS);
    await tenant.setup("INSERT INTO a VALUES (1)");
    assertEquals((await stream.events(1)).length > 0, isTold);
  }
  assertEquals(looks, []);
});

test("a stream of a bearer who still counts goes on behind each look at that", async () => {
  const clock = new TurnableClock();
  await using world = await changesWorld({ clock });
  const { tenant, open } = world;
  await tenant.setup("CREATE TABLE a (id)");
  const stream = await open("?since=now");
  for (let look = 1; look <= 3; look++) {
    clock.turn(2 * BEARER_CHECK_MS);
    await tenant.setup(`INSERT INTO a VALUES (${look})`);
    assertEquals((await stream.events(1)).map(({ change }) => kernel(change)), [["a", "insert", 1]]);
  }
  await stream.close();
});

test("a token of another database is refused, one of a branch follows the branch, and each call costs one request", async () => {
  await using world = await changesWorld();
  const { app, tenant, open, poll } = world;
  const other = await tenant.createDatabase("other");
  const scoped = await tenant.mint("read", {
    scopes: [{ databaseId: other.id, branchRef: "main", role: "read" }],
  });
  const outside = await app.request("GET", `${tenant.database.path}/changes`, { token: scoped.token });
  assertEquals([outside.status, outside.body.code], [403, "out_of_scope"]);
  assertEquals((await poll("", { path: other.path, token: scoped.token })).data, []);
  await app.deps.query.meter.tick();
  const before = await money(app, tenant);
  await poll();
  await poll("?waitSec=1");
  await (await open()).close();
  // What is refused costs nothing.
  for (const accept of ["application/json", "text/event-stream"]) {
    const headers = { authorization: `Bearer ${tenant.token}`, accept };
    const refused = await app.app.request(`${tenant.database.path}/changes?since=yesterday`, { headers });
    assertEquals([refused.status, (await refused.json()).issues[0].path], [400, "since"]);
  }
  await app.deps.query.meter.tick();
  const after = await money(app, tenant);
  assertEquals(after.used - before.used, 3 * 500);
});

test("a stream is no step of a plan, and the step is as good as before", async () => {
  await using world = await changesWorld();
  const { app, tenant: { token, database: { path } } } = world;
  const step = { "plan-key": "p", "plan-step": "1" };
  const refused = await app.request("GET", `${path}/changes`, {
    token,
    headers: { ...step, accept: "text/event-stream" },
  });
  assertEquals([refused.status, refused.body.issues?.[0]?.path], [400, "Plan-Key"], refused.text);
  for (const replayed of [null, "true"]) {
    const polled = await app.request("GET", `${path}/changes`, { token, headers: step });
    assertEquals([polled.status, polled.headers.get("plan-replayed")], [200, replayed], polled.text);
  }
});
