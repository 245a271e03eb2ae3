// Webhooks, with real receivers: what they are sent, in which order, how often, and what happens when one fails.
import { assert, assertEquals, assertRejects } from "@std/assert";
import { LEASE_MS } from "../../lib/control/webhooks.ts";
import { AppError } from "../../lib/core/errors.ts";
import { AGAIN_MS, deliverNext, type Delivery, RETRY_MS } from "../../lib/services/webhooks/deliver_next.ts";
import { noteBackupLate, noteLateBackups } from "../../lib/services/webhooks/note_late_backups.ts";
import { dyingKv, secondApp } from "../replay/second_app.ts";
import { hookWorld, seqsIn } from "./webhooks_world.ts";

Deno.test("a webhook is sent every change once and in order, signed, and what comes meanwhile together", async () => {
  await using world = await hookWorld();
  const { receiver, tenant, add, until } = world;
  const { id, secret } = await add();
  assert(/^whk_/.test(id) && /^whsec_/.test(secret));
  const first = Promise.withResolvers<void>();
  receiver.answer = async () => {
    await first.promise;
    return new Response("x".repeat(1000));
  };
  await tenant.setup("INSERT INTO a VALUES (1)");
  await tenant.setup(...Array.from({ length: 130 }, (_, at) => `INSERT INTO a VALUES (${at + 2})`));
  first.resolve();
  while (seqsIn(receiver.received).length < 131) await receiver.got(receiver.received.length + 1);
  const seen = seqsIn(receiver.received);
  assertEquals(seen, seen.map((_, at) => (seen[0] ?? 0) + at));
  assert(receiver.received.every(({ data }) => (data.changes?.length ?? 0) <= 100));
  assertEquals(new Set(receiver.received.map(({ id }) => id)).size, receiver.received.length);
  const shown = await until(({ deliveries }) => deliveries.length === receiver.received.length);
  assertEquals([shown.state, shown.tries], ["ok", 0]);
});

Deno.test("a webhook that an earlier version made before the first change is sent that change, and no reset", async () => {
  await using world = await hookWorld();
  const { app, receiver, tenant, call } = world;
  const fresh = await tenant.createDatabase("fresh");
  const added = await call("POST", "/../../fresh/webhooks", { url: receiver.url, events: ["change"] });
  assertEquals(added.status, 201, JSON.stringify(added));
  receiver.secrets = [added.data.secret];
  const place = { seq: 0, epoch: 0 };
  await app.deps.control.webhooks.changeState(added.data.id, (state) => ({ ...state, place }));
  const sql = "CREATE TABLE a (id)";
  const made = await app.request("POST", `${fresh.path}/query`, { token: tenant.token, body: { sql } });
  assertEquals(made.status, 200, made.text);
  await receiver.got(1);
  const changes = receiver.received.flatMap(({ data }) => data.changes ?? []);
  assertEquals(changes.map(({ kinds }) => kinds.join()), ["schema"]);
});

Deno.test("what fails is sent again under one id with one content, later and later, and then no more", async () => {
  await using world = await hookWorld();
  const { receiver, tenant, add, later, until, call } = world;
  const { id } = await add();
  const answers = [500, 302, 404, 200];
  receiver.answer = (_, at) =>
    new Response(null, { status: answers[at - 1] ?? 503, headers: { location: receiver.url } });
  await tenant.setup("INSERT INTO a VALUES (1)");
  for (const [at, ms] of RETRY_MS.slice(0, 3).entries()) {
    await until(({ tries }) => tries === at + 1);
    await tenant.setup(`INSERT INTO a VALUES (${at + 2})`);
    assertEquals(receiver.received.length, at + 1);
    later(ms - 1000);
    later(1000);
    await receiver.got(at + 2);
  }
  assertEquals(new Set(receiver.received.slice(0, 4).map(({ id, body }) => id + body)).size, 1);
  // What came meanwhile follows, and now nobody answers well.
  await receiver.got(5);
  assertEquals(receiver.received[4]?.data.changes?.length, 3);
  for (const [at, ms] of RETRY_MS.entries()) {
    await until(({ tries }) => tries === at + 1);
    later(ms);
  }
  const failed = await until(({ state }) => state === "failed");
  assertEquals([failed.tries, receiver.received.length], [10, 14]);
  later(1e9);
  await tenant.setup("INSERT INTO a VALUES (100)");
  assertEquals((await call("POST", `/${id}/redeliver`)).status, 200);
  await receiver.got(15);
  // Still in its turn, and with its id.
  assertEquals(receiver.received[14]?.id, receiver.received[4]?.id);
  receiver.answer = () => new Response(null, { status: 204 });
  later(60_000);
  // It, and behind it what came when all had failed.
  await receiver.got(17);
  await until(({ state, deliveries }) => state === "ok" && deliveries[0]?.status === 204);
  const [head] = receiver.received[0]?.data.changes ?? [];
  const before = receiver.received.length;
  await call("POST", `/${id}/redeliver`, { since: head?.id });
  await receiver.got(before + 1);
  assertEquals(seqsIn(receiver.received.slice(before))[0], Number(head?.id.split("-")[1]) + 1);
});

Deno.test("one id has one content also where the instance dies that changes which tables are told of", async () => {
  await using world = await hookWorld();
  const { app, receiver, tenant, add, later, until } = world;
  const { id } = await add();
  receiver.answer = () => new Response(null, { status: 503 });
  await tenant.setup("CREATE TABLE b (id)", "INSERT INTO a VALUES (1)", "INSERT INTO b VALUES (1)");
  await until(({ tries }) => tries > 0);
  for (let commits = 0, answered = false; !answered; commits++) {
    assert(commits < 12);
    await using dying = secondApp({ ...app, deps: { ...app.deps, kv: dyingKv(app.deps.kv, commits) } });
    const path = `/api/namespaces/acme/databases/main/webhooks/${id}`;
    const body = { tables: [commits % 2 === 0 ? "b" : "a"] };
    answered = (await dying.request("PATCH", path, { token: app.operatorKey, body })).status === 200;
    const before = receiver.received.length;
    later(86_400_000);
    await receiver.got(before + 1);
    await until(({ tries }) => tries > before);
  }
  const contents = new Map(receiver.received.map((one) => [one.id, one.body]));
  for (const one of receiver.received) assertEquals(one.body, contents.get(one.id));
  assert(contents.size > 1);
});

Deno.test("410 ends a webhook, Retry-After is heard, and a paused one is sent what it missed", async () => {
  await using world = await hookWorld();
  const { app, receiver, tenant, add, later, until, call } = world;
  const { id } = await add();
  const untilMs = app.deps.query.clock.now() + 3_600_000;
  const headers = { "retry-after": new Date(untilMs).toUTCString() };
  receiver.answer = () => new Response(null, { status: 503, headers });
  await tenant.setup("INSERT INTO a VALUES (1)");
  await until(({ tries }) => tries === 1);
  assertEquals((await app.deps.control.webhooks.state(id))?.nextMs, Math.floor(untilMs / 1000) * 1000);
  later(3_000_000);
  receiver.answer = () => new Response(null, { status: 410 });
  assertEquals(receiver.received.length, 1);
  later(700_000);
  await until(({ state }) => state === "gone");
  later(1e9);
  assertEquals(receiver.received.length, 2);
  receiver.answer = () => new Response(null, { status: 200 });
  assertEquals((await call("PATCH", `/${id}`, { enabled: false })).status, 200);
  await call("POST", `/${id}/redeliver`, {});
  await tenant.setup("INSERT INTO a VALUES (2)");
  await call("PATCH", `/${id}`, { enabled: true });
  while (seqsIn(receiver.received.slice(2)).length < 2) await receiver.got(receiver.received.length + 1);
});

Deno.test("a former secret signs too for a day, tables filter, and a test message says what became of it", async () => {
  await using world = await hookWorld();
  const { receiver, tenant, add, later, call } = world;
  const { id, secret } = await add({ tables: ["B"] });
  const rotated = await call("PATCH", `/${id}`, { rotateSecret: true });
  receiver.secrets = [secret, rotated.data.secret];
  await tenant.setup("INSERT INTO a VALUES (1)", "CREATE TABLE b (id)");
  await receiver.got(1);
  assertEquals(receiver.received.map(({ signatures, data }) => [signatures, data.changes?.length]), [[2, 1]]);
  later(25 * 3_600_000);
  receiver.secrets = [];
  const tested = await call("POST", `/${id}/test`);
  assertEquals([tested.status, tested.data.status, receiver.received[1]?.type], [201, 200 + 4, "test"]);
  assertEquals(receiver.received[1]?.signatures, 1);
  assertEquals((await call("DELETE", `/${id}`)).status, 200);
  await tenant.setup("DROP TABLE b");
  assertEquals((await call("POST", `/${id}/test`)).code, "webhook_not_found");
  assertEquals(receiver.received.length, 2);
});

Deno.test("approvals that are asked for and decided, and a late backup, are told once each, without values", async () => {
  await using world = await hookWorld();
  const { app, receiver, tenant, add } = world;
  await add({ events: ["approval.requested", "approval.decided", "backup.late"] });
  await tenant.setup("INSERT INTO a VALUES (4711)");
  await app.request("POST", "/api/namespaces/acme/databases/main/rules", {
    token: tenant.token,
    body: { tableGlob: "a", actions: ["delete"], effect: "require_approval" },
  });
  const held = JSON.parse((await tenant.query("DELETE FROM a WHERE id = ?", [4711])).text);
  const approvalId = held.approvalUrl.split("/").at(-1);
  await receiver.got(1);
  await app.request("POST", `/api/namespaces/acme/approvals/${approvalId}/approve`, {
    token: app.operatorKey,
  });
  await receiver.got(2);
  const { control, clock, tenants } = app.deps;
  const late = new Set([tenant.database.id]);
  const archive = {
    late: () => [...late],
    toldLate: (databaseId: string) => void late.delete(databaseId),
    status: () => Promise.resolve({ archivedUntilMs: null, lagMs: null, strain: null }),
    firstMs: () => Promise.reject(new TypeError("nobody asks")),
    toSnapshot: () => Promise.reject(new TypeError("nobody asks")),
    withObjects: () => Promise.reject(new Error("not asked for")),
  };
  const deps = { control, clock, tenants: { commits: tenants.commits, archive } };
  const { webhooks } = control;
  const addEvent = webhooks.addEvent.bind(webhooks);
  webhooks.addEvent = () => Promise.reject(new AppError("meter_unreachable"));
  await assertRejects(() => noteLateBackups(deps), /control plane did not answer/);
  webhooks.addEvent = addEvent;
  for (let minute = 0; minute < 2; minute++) await noteLateBackups(deps);
  await receiver.got(3);
  assertEquals(receiver.received.map(({ type }) => type), [
    "approval.requested",
    "approval.decided",
    "backup.late",
  ]);
  const pages = receiver.received.slice(0, 2).map(({ body }) => JSON.parse(body).data.approvalUrl);
  assertEquals(pages, [held.approvalUrl, held.approvalUrl]);
  const text = receiver.received.map(({ body }) => body).join();
  assert(text.includes(approvalId) && !text.includes("4711") && !text.includes(held.approvalToken));
});

Deno.test("a message that comes due while its owner ends his interest in it is not sent", async () => {
  await using world = await hookWorld();
  const { app, receiver, tenant, add, later, until, call } = world;
  const { id } = await add({ events: ["change", "backup.late"] });
  receiver.answer = () => new Response(null, { status: 503 });
  await tenant.setup("INSERT INTO a VALUES (1)");
  await until(({ tries }) => tries === 1);
  const { webhooks } = app.deps.control;
  const pending = (await webhooks.state(id))?.pending ?? null;
  const find = webhooks.find.bind(webhooks);
  const changed = Promise.withResolvers<void>();
  // Between the reading of the record and whatever the deliverer does next.
  webhooks.find = async (databaseId, webhookId) => {
    webhooks.find = find;
    const before = await find(databaseId, webhookId);
    await call("PATCH", `/${id}`, { events: ["backup.late"] });
    // As if the message had been noted just before its owner's change.
    await webhooks.changeState(id, (state) => ({ ...state, pending }));
    later(RETRY_MS[0] ?? 0);
    changed.resolve();
    return before;
  };
  await tenant.setup("INSERT INTO a VALUES (2)");
  await changed.promise;
  await noteBackupLate(app.deps, { databaseId: tenant.database.id, archivedAt: null, lagSec: 1 });
  await receiver.got(2);
  assertEquals(receiver.received.map(({ type }) => type), ["change", "backup.late"]);
});

Deno.test("an event that expired before it arrived holds up no later one, nor does a change that is not wanted any more", async () => {
  await using world = await hookWorld();
  const { app, receiver, tenant, add, later, until, call } = world;
  const { id } = await add({ events: ["change", "backup.late"] });
  receiver.answer = () => new Response(null, { status: 503 });
  await tenant.setup("INSERT INTO a VALUES (1)");
  await until(({ tries }) => tries === 1);
  const { kv, control } = app.deps;
  const before = await control.webhooks.state(id);
  assertEquals([typeof before?.pending?.until, before?.pending?.eventId], ["object", null]);
  await call("PATCH", `/${id}`, { events: ["backup.late"] });
  // As if the message had been noted just before its owner's change.
  await control.webhooks.changeState(id, (state) => ({ ...state, pending: before?.pending ?? null }));
  const late = (lagSec: number) =>
    noteBackupLate(app.deps, { databaseId: tenant.database.id, archivedAt: null, lagSec });
  await late(1);
  later(RETRY_MS[0] ?? 0);
  await receiver.got(2);
  await until(({ tries }) => tries === 2);
  assertEquals(receiver.received.map(({ type }) => type), ["change", "backup.late"]);
  for await (const { key } of kv.list({ prefix: ["webhook_event"] })) await kv.delete(key);
  receiver.answer = () => new Response(null, { status: 204 });
  await late(2);
  later(RETRY_MS[1] ?? 0);
  await receiver.got(3);
  assertEquals(receiver.received[2]?.data, { archivedAt: null, lagSec: 2 });
});

Deno.test("a webhook is told of nothing from before it was made, nor from before an event was added to it", async () => {
  await using world = await hookWorld();
  const { app, receiver, tenant, call, add, until } = world;
  await app.request("POST", "/api/namespaces/acme/databases/main/rules", {
    token: tenant.token,
    body: { tableGlob: "a", actions: ["delete"], effect: "require_approval" },
  });
  await tenant.setup("INSERT INTO a VALUES (1), (2), (3), (4)");
  const hold = async (id: number) => {
    const held = JSON.parse((await tenant.query("DELETE FROM a WHERE id = ?", [id])).text);
    return String(held.approvalUrl.split("/").at(-1));
  };
  const late = (lagSec: number) =>
    noteBackupLate(app.deps, { databaseId: tenant.database.id, archivedAt: null, lagSec });
  await hold(1);
  await late(1);
  const { id } = await add({ events: ["backup.late"] });
  await hold(2);
  await tenant.setup("INSERT INTO a VALUES (5)");
  await late(2);
  await receiver.got(1);
  // A message whose arrival is not noted yet, because its owner changes the webhook meanwhile, comes once more.
  await until(({ deliveries }) => deliveries.length === 1);
  const events = ["backup.late", "approval.requested", "change"];
  assertEquals((await call("PATCH", `/${id}`, { events })).status, 200);
  const asked = await hold(3);
  await receiver.got(2);
  await tenant.setup("INSERT INTO a VALUES (6)");
  await receiver.got(3);
  const [backup, approval, change] = receiver.received;
  assertEquals([backup?.type, backup?.data.lagSec], ["backup.late", 2]);
  assertEquals(approval?.type, "approval.requested");
  assert(approval?.body.includes(asked), approval?.body);
  assertEquals(change?.data.changes?.map(({ kinds }) => kinds.join()), ["insert"]);
  assertEquals(receiver.received.length, 3);
});

Deno.test("an event that is added takes away nothing that a paused webhook waits for, and is told from then on", async () => {
  await using world = await hookWorld();
  const { app, receiver, tenant, call, add } = world;
  await app.request("POST", "/api/namespaces/acme/databases/main/rules", {
    token: tenant.token,
    body: { tableGlob: "a", actions: ["delete"], effect: "require_approval" },
  });
  const { id } = await add({ events: ["change", "backup.late"] });
  const change = async (body: object) => assertEquals((await call("PATCH", `/${id}`, body)).status, 200);
  await change({ enabled: false });
  await tenant.setup("INSERT INTO a VALUES (1), (2)");
  await tenant.query("DELETE FROM a WHERE id = ?", [1]);
  await noteBackupLate(app.deps, { databaseId: tenant.database.id, archivedAt: null, lagSec: 7 });
  await change({ events: ["change", "backup.late", "approval.requested"] });
  await change({ enabled: true });
  await receiver.got(2);
  await tenant.query("DELETE FROM a WHERE id = ?", [2]);
  await receiver.got(3);
  assertEquals(receiver.received.map(({ type }) => type), ["backup.late", "change", "approval.requested"]);
  assertEquals(receiver.received[1]?.data.changes?.length, 1);
});

Deno.test("events are told once each when the clock was put back behind some that were told", async () => {
  await using world = await hookWorld();
  const { app, receiver, tenant, add, later, until } = world;
  await add({ events: ["backup.late"] });
  const late = (lagSec: number) =>
    noteBackupLate(app.deps, { databaseId: tenant.database.id, archivedAt: null, lagSec });
  const told = async (lagSec: number) => {
    await late(lagSec);
    await receiver.got(lagSec);
  };
  await told(1);
  later(3_600_000);
  await told(2);
  later(600_000);
  await told(3);
  later(-4_100_000);
  await told(4);
  await told(5);
  later(3_600_000);
  await told(6);
  later(3_600_000);
  await told(7);
  await until(({ deliveries }) => deliveries.length === 7);
  assertEquals(receiver.received.map(({ data }) => data.lagSec), [1, 2, 3, 4, 5, 6, 7]);
});

Deno.test("what a receiver did not take while the clock was put back is there once the clock is as far as before", async () => {
  await using world = await hookWorld();
  const { app, receiver, tenant, add, later, until } = world;
  await add({ events: ["backup.late"] });
  const late = (lagSec: number) =>
    noteBackupLate(app.deps, { databaseId: tenant.database.id, archivedAt: null, lagSec });
  later(3_600_000);
  await late(1);
  await receiver.got(1);
  later(-3_500_000);
  receiver.answer = () => new Response(null, { status: 503 });
  await late(2);
  await until(({ tries }) => tries === 1);
  receiver.answer = () => new Response(null, { status: 204 });
  later(7_200_000);
  await receiver.got(3);
  assertEquals(receiver.received.map(({ data }) => data.lagSec), [1, 2, 2]);
});

Deno.test("a receiver that asks for more than a day has a day, also where another process, whose clock is behind, looks", async () => {
  await using world = await hookWorld();
  const { app: { deps }, receiver, tenant, add, until } = world;
  receiver.answer = () => new Response(null, { status: 503, headers: { "retry-after": "1000000" } });
  const { id } = await add();
  const startedMs = deps.query.clock.now();
  await tenant.setup("INSERT INTO a VALUES (1)");
  await until(({ tries }) => tries === 1);
  const webhook = await deps.control.webhooks.find(tenant.database.id, id);
  const state = await deps.control.webhooks.state(id);
  assert(webhook && state);
  const failedMs = state.nextMs - 86_400_000;
  assert(failedMs >= startedMs && failedMs <= deps.query.clock.now(), `${failedMs - startedMs}`);
  const { databaseId, namespaceId } = webhook;
  const target = { databaseId, namespaceId, namespaceSlug: "acme", databaseSlug: "main", branchRef: "main" };
  const ms = 86_400_000 + 2000;
  const looked = { nowMs: state.nextMs - ms, webhook, target, hold: () => Promise.resolve(null) };
  assertEquals(await deliverNext(deps.webhooks.sending, looked), { again: "later", ms });
});

Deno.test("of processes that deliver for one webhook each waits for who has its lease, and notes nothing once another has it", async () => {
  await using world = await hookWorld();
  const { app: { deps }, receiver, tenant, add } = world;
  const { control: { webhooks }, webhooks: { deliverer, sending } } = deps;
  const { id } = await add();
  await deliverer.stop();
  await tenant.setup("INSERT INTO a VALUES (1)");
  const webhook = await webhooks.find(tenant.database.id, id);
  assert(webhook);
  const { databaseId, namespaceId } = webhook;
  const target = { databaseId, namespaceId, namespaceSlug: "acme", databaseSlug: "main", branchRef: "main" };
  const nowMs = deps.query.clock.now();
  const hold = (holder: string, later = 0) =>
    webhooks.hold(id, { holder, nowMs: nowMs + later, alone: false });
  const deliver = (hold: Delivery["hold"]) => deliverNext(sending, { nowMs, webhook, target, hold });
  const deliverAll = async () => {
    while ((await deliver(() => hold("one"))).again === "now");
  };
  // As it stands where many were sent by an earlier version.
  const shown = { messageId: "one", type: "change", at: 0, ms: 0, status: 200, failure: null } as const;
  await webhooks.changeState(id, (state) => ({ ...state, deliveries: Array(30).fill(shown) }));
  // The other one delivers between a process's look and its lease.
  const late = await deliver(async () => {
    await deliverAll();
    return await hold("one");
  });
  assertEquals(late, { again: "now" });
  await deliverAll();
  assertEquals(receiver.received.length, 1);
  await tenant.setup("INSERT INTO a VALUES (2)");
  assertEquals(await deliver(() => hold("two")), { again: "later", ms: AGAIN_MS });
  assertEquals(receiver.received.length, 1);
  const one = await hold("one", LEASE_MS - 1);
  const two = await hold("two", 2 * LEASE_MS - 1);
  assert(one?.entry.value && two?.entry.value);
  assertEquals(await webhooks.note(one, one.entry.value), false);
  // Its owner changes the state, too, and asks nobody for a lease.
  assert(await webhooks.changeState(id, (state) => ({ ...state })));
  assertEquals(await webhooks.note(two, two.entry.value), false);
  const many = ["one", "three", "four"].map((holder) => hold(holder, 4 * LEASE_MS));
  const held = (await Promise.all(many)).filter((found) => found !== null);
  assertEquals(held.length, 1);
  assert(held[0]?.entry.value);
  assertEquals(await webhooks.note(held[0], held[0].entry.value), true);
  assertEquals((await webhooks.state(id))?.deliveries.length, 20);
  // What has ended, or is paused, sends nothing, whoever has the lease.
  const again = () => webhooks.hold(id, { holder: "one", nowMs: nowMs + 6 * LEASE_MS, alone: true });
  const paused = { nowMs, webhook: { ...webhook, enabled: false }, target, hold: again };
  assertEquals(await deliverNext(sending, paused), { again: "when_changed" });
  await webhooks.changeState(id, (state) => ({ ...state, ended: "gone" }));
  assertEquals(await deliver(again), { again: "when_changed" });
  assertEquals(receiver.received.length, 1);
});

Deno.test("a message that failed while the clock was a month ahead is sent once it is put back", async () => {
  await using world = await hookWorld();
  const { receiver, tenant, add, later, until } = world;
  await add();
  later(30 * 86_400_000);
  receiver.answer = () => new Response(null, { status: 503 });
  await tenant.setup("INSERT INTO a VALUES (1)");
  await until(({ tries }) => tries === 1);
  receiver.answer = () => new Response(null, { status: 204 });
  later(-30 * 86_400_000);
  await receiver.got(2);
  await until(({ state }) => state === "ok");
  assertEquals(new Set(receiver.received.map(({ id }) => id)).size, 1);
});

Deno.test("names of tables that together are longer than a record may be are refused", async () => {
  await using world = await hookWorld();
  const tables = Array.from({ length: 100 }, (_, at) => String(at).padEnd(900, "x"));
  const { id } = await world.add();
  for (const [method, path] of [["POST", ""], ["PATCH", `/${id}`]] as const) {
    const events = ["change"];
    const refused = await world.call(method, path, { url: world.receiver.url, events, tables });
    assertEquals([refused.status, refused.code], [400, "validation_failed"], method);
  }
});
