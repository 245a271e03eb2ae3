// Webhooks in bounds: receivers that are slow or inside, how many there may be, and that idle ones cost nothing.
import { assert, assertEquals } from "@std/assert";
import { AppError } from "../../lib/core/errors.ts";
import { newId } from "../../lib/core/ids.ts";
import { pause } from "../../lib/core/pause.ts";
import { MAX_WEBHOOKS } from "../../lib/core/limits_of_changes.ts";
import { WebhookDeliverer } from "../../lib/services/webhooks/webhook_deliverer.ts";
import { startReceiver } from "./receiver.ts";
import { hookWorld } from "./webhooks_world.ts";
import { oneStore } from "../testing/cases.ts";
import { answerAfter, SWITCHING } from "../testing/interim_answers.ts";
import { rowsOf } from "../testing/test_namespace.ts";

const { run, test } = oneStore();
Deno.test("webhook bounds", run);

test("a receiver that never answers, trickles, or answers without end is left in time, and holds up no other", async () => {
  await using world = await hookWorld();
  const { app, receiver, tenant, add, until } = world;
  await add();
  receiver.answer = () =>
    new Response(
      new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024)) }, {
        highWaterMark: 0,
      }),
    );
  await tenant.setup("INSERT INTO a VALUES (1)");
  const endless = await until(({ deliveries }) => deliveries.length === 1);
  assertEquals(endless.deliveries[0]?.status, 200);
  using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const trickling = (async () => {
    const connection = await silent.accept();
    try {
      for (const byte of new TextEncoder().encode(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(1000)}`)) {
        await connection.write(new Uint8Array([byte]));
        await pause(50);
      }
    } catch {
      // The service has left.
    }
    connection.close();
  })();
  const { deliverer, sending } = app.deps.webhooks;
  assert(deliverer);
  const outcome = await sending.post({
    url: new URL(`http://127.0.0.1:${silent.addr.port}/`),
    headers: {},
    body: "{}",
    timeoutMs: 300,
    allowPrivate: true,
  });
  assertEquals(outcome, { status: null, failure: "timeout" });
  await trickling;
});

test("a receiver that sends interim answers without end is left, and a few of them are none of its faults", async () => {
  await using world = await hookWorld();
  const { tenant, call, add } = world;
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { id } = await add({ url: `http://127.0.0.1:${listener.addr.port}/`, events: ["backup.late"] });
  const outcomes: unknown[] = [];
  for (const interim of [10, 100]) {
    const tested = call("POST", `/${id}/test`);
    await answerAfter(await listener.accept(), interim, "HTTP/1.1 204 No Content\r\n\r\n");
    const { data: { status, failure } } = await tested;
    outcomes.push([interim, status, failure]);
    assertEquals(rowsOf(await tenant.query("SELECT 1")), [[1]]);
  }
  assertEquals(outcomes, [[10, 204, null], [100, null, "connection"]]);
});

test("a receiver that switches to another protocol has not answered, and its message is not under way for ever", async () => {
  await using world = await hookWorld();
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { id } = await world.add({ url: `http://127.0.0.1:${listener.addr.port}/`, events: ["backup.late"] });
  const tested = world.call("POST", `/${id}/test`);
  using connection = await listener.accept();
  await connection.read(new Uint8Array(4096));
  await connection.write(new TextEncoder().encode(SWITCHING));
  const { data: { status, failure } } = await tested;
  assertEquals([status, failure], [null, "connection"]);
  assertEquals(await connection.read(new Uint8Array(1)), null);
});

test("without the operator's leave no webhook goes inside, whatever its address is called", async () => {
  await using world = await hookWorld({});
  const { app, receiver, call } = world;
  const port = new URL(receiver.url).port;
  const refused = [
    receiver.url,
    `https://127.0.0.1:${port}/`,
    `https://127.1:${port}/`,
    `https://2130706433:${port}/`,
    `https://0x7f.1/`,
    `https://[::1]:${port}/`,
    `https://[::ffff:127.0.0.1]:${port}/`,
    `https://0.0.0.0:${port}/`,
    "https://169.254.169.254/latest/meta-data",
    "https://user:secret@app.example/",
    "https://app.example/#part",
    "ftp://app.example/",
    "file:///etc/passwd",
    "no address",
  ];
  for (const url of refused) {
    const answer = await call("POST", "", { url, events: ["change"] });
    assertEquals([url, answer.status, answer.code], [url, 400, "validation_failed"]);
    // The way out is named where there is one.
    const canBeLet = /^https?:/.test(url) && !/user|#/.test(url);
    assertEquals([url, JSON.stringify(answer).includes("WEBHOOKS_PRIVATE=1")], [url, canBeLet]);
  }
  // A name that leads inside is found out where it counts: at the connection.
  const added = await call("POST", "", { url: `https://localhost:${port}/`, events: ["change"] });
  assertEquals(added.status, 201);
  for (const url of refused) {
    const changed = await call("PATCH", `/${added.data.id}`, { url });
    assertEquals([url, changed.status, changed.code], [url, 400, "validation_failed"]);
  }
  const tested = await call("POST", `/${added.data.id}/test`);
  assertEquals([tested.data.status, tested.data.failure], [null, "refused"]);
  assertEquals(receiver.received, []);
  assert(!app.logLines.some((line) => line.includes("whsec_")));
});

test("a receiver that is silent holds up no other webhook of its database", async () => {
  await using world = await hookWorld();
  await using other = startReceiver();
  const { receiver, tenant, add } = world;
  const silent = Promise.withResolvers<Response>();
  receiver.answer = () => silent.promise;
  await add();
  await add({ url: other.url });
  receiver.secrets = [];
  await tenant.setup("INSERT INTO a VALUES (1)");
  await other.got(1);
  await tenant.setup("INSERT INTO a VALUES (2)");
  await other.got(2);
  await receiver.got(1);
  assertEquals(receiver.received.length, 1);
  silent.resolve(new Response(null, { status: 204 }));
});

test("test messages are in the bound of messages that are under way, and others are told when there is room again", async () => {
  await using world = await hookWorld();
  const { receiver, add, call } = world;
  const { id } = await add({ events: ["backup.late"] });
  const silent = Promise.withResolvers<Response>();
  receiver.answer = async () => (await silent.promise).clone();
  const ask = async () => {
    const { status, code = "" } = await call("POST", `/${id}/test`);
    return `${status} ${code}`;
  };
  const underWay: Promise<string>[] = [];
  while (receiver.received.length < 8) {
    const asked = ask();
    const answer = await Promise.race([asked, receiver.got(underWay.length + 1).then(() => null)]);
    // To look whether there is something new takes a place too, for a moment.
    if (answer === null) underWay.push(asked);
    else assertEquals(answer, "429 webhooks_busy");
  }
  assertEquals(await Promise.all(Array.from({ length: 12 }, ask)), Array(12).fill("429 webhooks_busy"));
  silent.resolve(new Response(null, { status: 204 }));
  assertEquals(await Promise.all(underWay), Array(8).fill("201 "));
  assertEquals(receiver.received.length, 8);
  assertEquals((await call("POST", `/${id}/test`)).status, 201);
});

test("all namespaces together have so many messages under way, and room again with each that ends", async () => {
  await using world = await hookWorld();
  const { deliverer } = world.app.deps.webhooks;
  await deliverer.stop();
  const { promise, resolve } = Promise.withResolvers<void>();
  const send = (at: number, work: () => Promise<void>) =>
    deliverer.withRoom(`ns_${at % 16}`, work).then(() => "sent", ({ code }) => code);
  const underWay = Array.from({ length: 64 }, (_, at) => send(at, () => promise));
  const fails = () => Promise.reject(new AppError("webhooks_busy"));
  assertEquals(await send(1, () => Promise.resolve()), "webhooks_busy");
  resolve();
  assertEquals(new Set(await Promise.all(underWay)), new Set(["sent"]));
  for (let at = 0; at < 70; at++) await send(at, fails);
  assertEquals(await send(1, () => Promise.resolve()), "sent");
});

test("a webhook that is added while all are being read is told of the next change", async () => {
  await using world = await hookWorld();
  const { app, receiver, tenant, add, until } = world;
  const { deliverer, sending } = app.deps.webhooks;
  await deliverer.stop();
  const { webhooks } = sending.control;
  const goesOn = Promise.withResolvers<void>();
  const reading = Promise.withResolvers<void>();
  let reads = 0;
  const all = async () => {
    const read = await webhooks.all();
    if (++reads === 1) {
      reading.resolve();
      await goesOn.promise;
    }
    return read;
  };
  const slow = Object.create(webhooks, { all: { value: all } });
  const next = new WebhookDeliverer({ ...sending, control: { ...sending.control, webhooks: slow } });
  const started = next.start();
  await reading.promise;
  await add();
  await next.sweep();
  await tenant.setup("INSERT INTO a VALUES (1)");
  await receiver.got(1);
  await until(({ deliveries }) => deliveries.length === 1);
  // It looks once more, and would find what comes now.
  await pause(100);
  goesOn.resolve();
  await started;
  await tenant.setup("INSERT INTO a VALUES (2)");
  // The next look at all of them would be half a minute away.
  const tooLate = Promise.withResolvers<void>();
  const timer = setTimeout(tooLate.resolve, 20_000);
  await Promise.race([receiver.got(2), tooLate.promise]);
  clearTimeout(timer);
  assertEquals(receiver.received.length, 2);
  await next.stop();
});

test("webhooks that have nothing to send, or wait for a later attempt, write nothing", async () => {
  await using world = await hookWorld();
  const { app, receiver, tenant, add, until } = world;
  const { deliverer } = app.deps.webhooks;
  await add();
  await add({ events: ["backup.late"] });
  receiver.secrets = [];
  await tenant.setup("INSERT INTO a VALUES (1)");
  await receiver.got(1);
  await until(({ deliveries }) => deliveries.length === 1);
  receiver.answer = () => new Response(null, { status: 503 });
  await add({ tables: ["b"] });
  receiver.secrets = [];
  await tenant.setup("CREATE TABLE b (v)");
  // Both that are told of the table.
  await until((_, all) => all.filter(({ tries }) => tries === 1).length === 2);
  const noted = () =>
    Array.fromAsync(app.deps.kv.list({ prefix: [] }), ({ key, versionstamp }) => [key.join(), versionstamp])
      .then((entries) => entries.filter(([key]) => key?.startsWith("webhook")));
  // What is under way ends first; then another process looks at all of them.
  await deliverer.stop();
  const before = await noted();
  assert(before.length > 6);
  const { sending } = app.deps.webhooks;
  const looked = new Set<string>();
  const all = Promise.withResolvers<void>();
  const stateEntry = (id: string) => {
    if (looked.add(id).size === 3) all.resolve();
    return sending.control.webhooks.stateEntry(id);
  };
  const webhooks = Object.create(sending.control.webhooks, { stateEntry: { value: stateEntry } });
  const next = new WebhookDeliverer({ ...sending, control: { ...sending.control, webhooks } });
  await next.start();
  await all.promise;
  next.changed(tenant.database.id);
  await next.sweep();
  await next.stop();
  assertEquals(await noted(), before);
});

test("events of a minute that are more than a record takes are told once each, and a webhook can be added after them", async () => {
  await using world = await hookWorld();
  const { app, receiver, tenant, add, call, later, until } = world;
  const { control, query: { clock } } = app.deps.webhooks.sending;
  const { id } = await add({ events: ["backup.late"] });
  const lately = Array.from({ length: 2100 }, () => newId("wev", clock.now()));
  // As many as it takes: there is no room for the message under way.
  const fills = async (count: number) => {
    try {
      // A list that was read takes more room than one that was made.
      const told = structuredClone(lately.slice(-count));
      return await control.webhooks.changeState(id, (state) => ({ ...state, told }));
    } catch {
      return null;
    }
  };
  let count = lately.length;
  while (await fills(count) === null) count -= 1;
  assert(count > 1000);
  const happens = () =>
    control.webhooks.addEvent(tenant.database.id, { type: "backup.late", at: clock.now(), data: {} });
  for (const deliveries of [1, 2]) {
    await happens();
    later(1);
    await until((shown) => shown.deliveries.length === deliveries);
  }
  later(3_600_000);
  await app.deps.webhooks.deliverer.stop();
  assertEquals(new Set(receiver.received.map(({ id }) => id)).size, 2);
  assertEquals(receiver.received.length, 2);
  await Promise.all(lately.map(happens));
  assertEquals((await call("POST", "", { url: receiver.url, events: ["backup.late"] })).status, 201);
});

test("of webhooks that are added at once no more are kept than a database may have", async () => {
  await using world = await hookWorld();
  const { receiver, call } = world;
  const added = await Promise.all(
    Array.from(
      { length: MAX_WEBHOOKS + 5 },
      () => call("POST", "", { url: receiver.url, events: ["change"] }),
    ),
  );
  assertEquals(added.filter(({ status }) => status === 201).length, MAX_WEBHOOKS);
  assertEquals(added.filter(({ code }) => code === "validation_failed").length, 5);
  const [first] = added.filter(({ status }) => status === 201);
  assertEquals((await call("DELETE", `/${first?.data.id}`)).status, 200);
  assertEquals((await call("POST", "", { url: receiver.url, events: ["change"] })).status, 201);
});
