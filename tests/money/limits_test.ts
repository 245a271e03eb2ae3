// An exhausted balance, a monthly cap, credits: who may do what, and what a call gets that there is no money for.
import { assert, assertEquals } from "@std/assert";
import { LEASE_MS } from "../../lib/control/balance/balance_limits.ts";
import { oneStore } from "../testing/cases.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { signIn } from "../testing/person.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { credit, money, nano } from "./money_world.ts";

const { run, test } = oneStore();
Deno.test("limits", run);

const settings = { WELCOME_CREDIT_USD: "0.00003" };

/** Inserts until there is no money; the number that were acknowledged. */
async function spendAll(tenant: TestNamespace): Promise<number> {
  for (let done = 0;; done++) {
    const answer = await tenant.query("INSERT INTO t VALUES (1)");
    if (answer.status === 200) continue;
    assertEquals([answer.status, answer.body.code], [402, "balance_exhausted"], answer.text);
    return done;
  }
}

async function rowCount(app: StartedApp, tenant: TestNamespace): Promise<unknown> {
  // Straight from the pipeline's own free read.
  const answer = await app.request("GET", `${tenant.database.path}/tables`, { token: tenant.token });
  return (answer.body.data as { name: string; rowCount: number }[]).find(({ name }) => name === "t")
    ?.rowCount;
}

test("without money nothing runs and the answer is 402; credit makes it run again at once", async () => {
  await using app = await startApp({ settings });
  const tenant = await app.namespace();
  assertEquals((await tenant.query("CREATE TABLE t (a)")).status, 200);
  const done = await spendAll(tenant);
  assert(done > 2);
  for (const sql of ["SELECT 1", "INSERT INTO t VALUES (2)", "DROP TABLE t", "SELEC 1"]) {
    assertEquals((await tenant.query(sql)).body.code, "balance_exhausted");
  }
  assertEquals((await tenant.batch([["SELECT 1"]])).status, 402);
  assertEquals(await rowCount(app, tenant), done);
  const spent = await money(app, tenant);
  assertEquals([spent.balance, spent.credited], [0, 30_000]);
  assert(spent.writtenOff < 10_000, `${spent.writtenOff}`);
  const added = await credit(app, tenant.slug, { amountUsd: 1, reference: "invoice 1" });
  assertEquals(added.status, 201, added.text);
  const again = await tenant.query("INSERT INTO t VALUES (3)");
  assertEquals(again.status, 200, again.text);
  assertEquals(rowsOf(await tenant.query("SELECT count(*) FROM t")), [[done + 1]]);
});

test("a burst on an almost empty balance overspends by no more than what runs at once", async () => {
  await using app = await startApp({ settings });
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (a)");
  const answers = await Promise.all(
    Array.from({ length: 120 }, () => tenant.query("INSERT INTO t VALUES (1)")),
  );
  const ok = answers.filter(({ status }) => status === 200);
  for (const { status, body, text } of answers) {
    if (status !== 200) assertEquals([status, body.code], [402, "balance_exhausted"], text);
  }
  assertEquals(await rowCount(app, tenant), ok.length);
  await app.deps.query.meter.close();
  const { balance, used, writtenOff } = await money(app, tenant);
  const cost = ok.reduce((sum, { body }) => sum + nano(body.meta?.costUsd), 0);
  assert(ok.length < answers.length);
  assert(used + writtenOff >= cost, "an acknowledged call was not paid");
  assertEquals(balance === 0 || used + balance === 30_000, true);
  assert(writtenOff <= 2 * 2600, `${writtenOff}`);
});

test("a namespace without any credit cannot run a statement", async () => {
  await using app = await startApp({ settings: { WELCOME_CREDIT_USD: "0" } });
  const tenant = await app.namespace();
  assertEquals((await tenant.query("SELECT 1")).body.code, "balance_exhausted");
  await credit(app, tenant.slug, { amountUsd: 0.000001, reference: "the smallest" });
  assertEquals((await tenant.query("SELECT 1")).status, 200);
});

test("one namespace's exhausted balance does not stop another", async () => {
  await using app = await startApp({ settings });
  const tenant = await app.namespace();
  const other = await app.namespace("umbrella");
  await tenant.setup("CREATE TABLE t (a)");
  await spendAll(tenant);
  assertEquals((await other.query("SELECT 1")).status, 200);
});

test("where KV has no room for what calls cost, reads go on and writes are refused", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (a)");
  const { kv } = app.deps;
  const atomic = kv.atomic.bind(kv);
  kv.atomic = () =>
    Object.assign(atomic(), { commit: () => Promise.reject(new TypeError("database or disk is full")) });
  // Then nothing is reserved any more.
  clock.turn(LEASE_MS);
  const outcomeOf = async (sql: string) => {
    const { status, body } = await tenant.query(sql);
    return [status, body.code];
  };
  assertEquals(await outcomeOf("SELECT a FROM t"), [200, undefined]);
  for (let waits = 0; waits < 2; waits++) {
    assertEquals(await outcomeOf("INSERT INTO t VALUES (1)"), [503, "storage_full"]);
    // KV is asked again by then.
    clock.turn(1000);
  }
  kv.atomic = atomic;
  assertEquals(await outcomeOf("INSERT INTO t VALUES (2)"), [200, undefined]);
  assertEquals(rowsOf(await tenant.query("SELECT a FROM t")), [[2]]);
});

test("a credit's reference counts once, also when it comes many times at once", async () => {
  await using app = await startApp();
  const { slug, ...tenant } = await app.namespace();
  const body = { amountUsd: 2.5, reference: "invoice 7" };
  const answers = await Promise.all(Array.from({ length: 12 }, () => credit(app, slug, body)));
  assertEquals(new Set(answers.map(({ status }) => status)), new Set([201]));
  const data = answers.map((answer) => answer.body.data as Record<string, unknown>);
  assertEquals(data.filter(({ repeated }) => repeated === false).length, 1);
  assertEquals(new Set(data.map(({ createdAt, amountUsd }) => `${createdAt} ${amountUsd}`)).size, 1);
  assertEquals((await money(app, { ...tenant, slug })).credited, 7.5e9);
  const other = await credit(app, slug, { ...body, amountUsd: 3 });
  assertEquals([other.status, other.body.code, other.body.issues?.[0]?.path], [
    400,
    "validation_failed",
    "amountUsd",
  ]);
  assertEquals((await credit(app, slug, { ...body, reference: "Invoice 7" })).status, 201);
  assertEquals((await money(app, { ...tenant, slug })).credited, 10e9);
});

test("a credit whose commit was not confirmed is in the audit once, when it is sent again", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const { kv } = app.deps;
  const atomic = kv.atomic.bind(kv);
  // The first commit takes effect, and its answer is lost.
  kv.atomic = () => {
    kv.atomic = atomic;
    const operation = atomic();
    const commit = operation.commit.bind(operation);
    operation.commit = async () => {
      await commit();
      throw new Error("the connection broke");
    };
    return operation;
  };
  const body = { amountUsd: 2, reference: "Invoice 9" };
  assertEquals((await credit(app, tenant.slug, body)).body.code, "meter_unreachable");
  const again = await credit(app, tenant.slug, body);
  assertEquals([again.status, again.body.data], [201, { ...Object(again.body.data), repeated: true }]);
  const audit = await app.request("GET", `/api/namespaces/${tenant.slug}/audit`, { token: tenant.token });
  const entries: { action: string; facts: unknown }[] = JSON.parse(audit.text).data;
  assertEquals(entries.filter(({ action }) => action === "credit.added").map(({ facts }) => facts), [body]);
});

test("only the operator credits, in amounts and references that make sense", async () => {
  await using app = await startApp();
  const { slug, token } = await app.namespace();
  const good = { amountUsd: 1, reference: "r" };
  assertEquals((await credit(app, slug, good, token)).body.code, "operator_required");
  assertEquals((await credit(app, "nobody", good)).body.code, "namespace_not_found");
  const bad = [
    ...[0, -1, 1e-9, 9_000_001, "1", null].map((amountUsd) => ({ ...good, amountUsd })),
    ...["", "x".repeat(201), "\u{1F4B6}".repeat(201), "a\u0000", "\ud800", 7].map((reference) => ({
      ...good,
      reference,
    })),
    { ...good, currency: "EUR" },
    { amountUsd: 1 },
  ];
  for (const body of bad) {
    const answer = await credit(app, slug, body);
    assertEquals([answer.status, answer.body.code], [400, "validation_failed"], JSON.stringify(body));
  }
  const longest = await credit(app, slug, { ...good, reference: "\u{1F4B6}".repeat(200) });
  assertEquals(longest.status, 201, longest.text);
  for (let at = 0; at < 2; at++) await credit(app, slug, { amountUsd: 4_500_000, reference: `big ${at}` });
  const most = await credit(app, slug, { amountUsd: 9_000_000, reference: "too big" });
  assertEquals([most.status, most.body.issues?.[0]?.path], [400, "amountUsd"]);
});

test("a monthly cap stops calls with a code of its own; raising it, taking it away or a new month lets them run", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  const tenant = await app.namespace();
  const path = `/api/namespaces/${tenant.slug}`;
  const cap = async (monthlyCapUsd: unknown) => {
    const answer = await app.request("PATCH", path, { token: app.operatorKey, body: { monthlyCapUsd } });
    return answer.status;
  };
  await tenant.setup("CREATE TABLE t (a)");
  const reach = async () => {
    for (let done = 0;; done++) {
      const answer = await tenant.query("INSERT INTO t VALUES (1)");
      if (answer.status === 200) {
        assert(done < 100, "the cap does not hold");
        continue;
      }
      assertEquals([answer.status, answer.body.code], [402, "monthly_cap_reached"], answer.text);
      return;
    }
  };
  assertEquals(await cap(0.00003), 200);
  await reach();
  assertEquals(await cap(0.00006), 200);
  await reach();
  assertEquals(await cap(0), 200);
  await reach();
  assertEquals(await cap(null), 200);
  assertEquals((await tenant.query("SELECT 1")).status, 200);
  const { used, writtenOff, balance } = await money(app, tenant);
  assert(used < 100_000 && writtenOff === 0 && balance > 4.9e9, `${used}`);
  assertEquals(await cap(0.00001), 200);
  await reach();
  // 31 days bring another month, whatever day it is.
  clock.turn(31 * 86_400_000);
  assertEquals((await tenant.query("SELECT 1")).status, 200);
  for (const wrong of [-1, "1", 9_000_001]) assertEquals(await cap(wrong), 400);
});

test("another cap takes a sign-in of the last 15 minutes, and the audit has both; the name and the same cap take none", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  const tenant = await app.namespace();
  const path = `/api/namespaces/${tenant.slug}`;
  const { headers } = await signIn(app, { role: "admin" });
  const change = async (body: object) => {
    const answer = await app.request("PATCH", path, { headers, body });
    return [answer.status, answer.body.code ?? null];
  };
  assertEquals(await change({ monthlyCapUsd: 25 }), [200, null]);
  clock.turn(15 * 60_000);
  for (const monthlyCapUsd of [26, 24, null]) {
    assertEquals(await change({ monthlyCapUsd, name: "Never" }), [403, "sign_in_again"]);
  }
  assertEquals(await change({ name: "Acme Limited", monthlyCapUsd: 25 }), [200, null]);
  const lifted = await app.request("PATCH", path, { token: tenant.token, body: { monthlyCapUsd: null } });
  assertEquals(JSON.parse(lifted.text).data.name, "Acme Limited");
  const audit = JSON.parse((await app.request("GET", `${path}/audit`, { token: tenant.token })).text).data;
  const changes = audit.filter(({ action }: { action: string }) => action === "namespace.changed");
  assertEquals(changes.map(({ facts }: { facts: object }) => facts), [
    { monthlyCapUsd: "none", formerMonthlyCapUsd: 25 },
    {},
    { monthlyCapUsd: 25, formerMonthlyCapUsd: "none" },
  ]);
});

test("the cap stands in the balance, and a change of the name leaves it", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const path = `/api/namespaces/${tenant.slug}`;
  const read = async () =>
    (await app.request("GET", `${path}/balance`, { token: tenant.token })).body.data as Record<
      string,
      unknown
    >;
  assertEquals((await read())["monthlyCapUsd"], null);
  for (const body of [{ monthlyCapUsd: 2.5 }, { name: "Acme Limited" }]) {
    const changed = await app.request("PATCH", path, { token: app.operatorKey, body });
    assertEquals([changed.status, JSON.parse(changed.text).data.monthlyCapUsd], [200, 2.5]);
  }
  const record = await app.request("GET", path, { token: tenant.token });
  assertEquals([JSON.parse(record.text).data.monthlyCapUsd, JSON.parse(record.text).data.name], [
    2.5,
    "Acme Limited",
  ]);
  assertEquals((await read())["monthlyCapUsd"], 2.5);
  assertEquals([(await read())["currency"], (await read())["monthUsedUsd"]], ["USD", 0]);
  // Who may read: an admin token of this namespace and the operator, nobody else.
  const stranger = await app.namespace("umbrella");
  const { token } = await tenant.mint("write");
  for (const [bearer, statuses] of [[stranger.token, [403, 404]], [token, [403]]] as const) {
    for (const name of ["balance", "usage"]) {
      const { status } = await app.request("GET", `${path}/${name}`, { token: bearer });
      assert((statuses as readonly number[]).includes(status), `${name} ${status}`);
    }
  }
});
