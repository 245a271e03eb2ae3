// What is removed goes once, with all that belongs to it: nothing in the control plane names a database that nobody can bring
// back.
import { assertEquals, assertRejects } from "@std/assert";
import { AppError } from "../../lib/core/errors.ts";
import { DELETED_KEEP_MS } from "../../lib/core/limits.ts";
import { sweepLeftovers } from "../../lib/services/removal/remove_records.ts";
import { oneStore } from "../testing/cases.ts";
import { secondApp } from "../replay/second_app.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import type { TestNamespace } from "../testing/test_namespace.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";

const { run, test } = oneStore();
Deno.test("records of removed databases", run);

/** Kinds of keys that name the database. */
async function kindsOf({ deps }: StartedApp, databaseId: string): Promise<string[]> {
  const keys = await Array.fromAsync(deps.kv.list({ prefix: [] }), ({ key }) => key);
  const kinds = keys.filter((key) => key.includes(databaseId)).map(([kind]) => String(kind));
  return [...new Set(kinds)].sort();
}

/** One of everything that the owner of a database can add to it, by its route. */
function additionsTo({ slug }: Pick<TestNamespace, "slug">): (readonly [path: string, body: object])[] {
  const path = `/api/namespaces/${slug}/databases/main`;
  const query = { kind: "query", method: "GET", sql: "SELECT 1", input: [], output: "rows" };
  return [
    [`${path}/rules`, { tableGlob: "*", effect: "deny" }],
    [`${path}/endpoints`, { ...query, slug: "one", name: "One" }],
    [`${path}/webhooks`, { url: "https://receiver.example/", events: ["change"] }],
    [`/v1/db/${slug}/main/claim_branch`, { purpose: "a test", ref: "pr-1", ttlSec: 2_592_000 }],
  ];
}

async function addAll(app: StartedApp, namespace: TestNamespace): Promise<void> {
  for (const [path, body] of additionsTo(namespace)) {
    const answer = await app.request("POST", path, { token: namespace.token, body });
    assertEquals(Math.floor(answer.status / 100), 2, answer.text);
  }
}

const remove = (app: StartedApp, path: string, confirm: string) =>
  app.request("DELETE", `/api/namespaces/${path}`, { token: app.operatorKey, body: { confirm } });

test("of many deletions of one thing at once, on two instances, one is told that it has deleted it", async () => {
  await using app = await startApp();
  await using other = secondApp(app);
  const { token, slug } = await app.namespace();
  const additions = [
    ["/api/namespaces/acme/tokens", { name: "spare", role: "read" }],
    ...additionsTo({ slug }).slice(0, 3),
  ] as const;
  for (const [path, body] of additions) {
    const made = await app.request("POST", path, { token, body });
    const { id, slug } = made.body.data as { readonly id?: string; readonly slug?: string };
    const gone = await Promise.all(
      Array.from(
        { length: 12 },
        (_, at) => (at % 2 ? app : other).request("DELETE", `${path}/${slug ?? id}`, { token }),
      ),
    );
    const statuses = gone.map(({ status }) => status).sort();
    assertEquals([path, ...statuses], [path, 200, ...Array(11).fill(404)]);
  }
  const audit = await app.request("GET", "/api/namespaces/acme/audit", { token });
  const acts = audit.text.match(/(?<=")\w+\.(revoked|deleted)(?=")/g) ?? [];
  assertEquals(
    acts.sort(),
    ["endpoint.deleted", "rule.deleted", "token.revoked", "webhook.deleted"],
    audit.text,
  );
});

test("what belongs to a deleted database stays while it can come back, and goes with it", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  const acme = await app.namespace();
  await addAll(app, acme);
  const before = await kindsOf(app, acme.database.id);
  for (const kind of ["branch", "endpoint", "rule", "webhook"]) {
    assertEquals(before.includes(kind), true, kind);
  }
  assertEquals((await remove(app, "acme/databases/main", "main")).status, 200);
  clock.turn(DELETED_KEEP_MS - 60_000);
  await sweepLeftovers(app.deps);
  const kept = await kindsOf(app, acme.database.id);
  for (const kind of ["endpoint", "rule", "webhook"]) assertEquals(kept.includes(kind), true, kind);
  clock.turn(120_000);
  await sweepLeftovers(app.deps);
  assertEquals(await kindsOf(app, acme.database.id), []);
});

test("a deleted namespace leaves nothing of its databases, of its money and of its people", async () => {
  await using app = await startApp();
  const acme = await app.namespace();
  await addAll(app, acme);
  const path = "/api/namespaces/acme";
  const credit = { amountUsd: 1, reference: "one" };
  await app.request("POST", `${path}/credits`, { token: app.operatorKey, body: credit });
  const member = { email: "ada@example.com", role: "admin" };
  await app.request("POST", `${path}/members`, { token: app.operatorKey, body: member });
  await acme.query("SELECT 1");
  await app.deps.query.meter.tick();
  const { id = "" } = await app.deps.control.namespaces.bySlug("acme") ?? {};
  const before = await kindsOf(app, id);
  for (const kind of ["balance", "balance_block", "credit", "member", "usage"]) {
    assertEquals(before.includes(kind), true, `${kind} of ${before}`);
  }
  assertEquals((await remove(app, "acme", "acme")).status, 200);
  assertEquals(await kindsOf(app, acme.database.id), []);
  assertEquals(await kindsOf(app, id), []);
});

test("nothing is added to a database that another process has just deleted", async () => {
  await using app = await startApp({ clock: new TurnableClock() });
  await using other = secondApp(app);
  const acme = await app.namespace();
  const path = "/api/namespaces/acme/databases/main";
  assertEquals((await other.request("GET", path, { token: acme.token })).status, 200);
  assertEquals(
    (await other.request("POST", `${acme.database.path}/query`, {
      token: acme.token,
      body: { sql: "SELECT 1" },
    })).status,
    200,
  );
  assertEquals((await remove(app, "acme/databases/main", "main")).status, 200);
  const before = await kindsOf(app, acme.database.id);
  for (const [path, body] of additionsTo(acme)) {
    const answer = await other.request("POST", path, { token: acme.token, body });
    assertEquals([answer.status, answer.body.code], [404, "database_not_found"], path);
  }
  assertEquals(await kindsOf(app, acme.database.id), before);
});

test("what is over goes on a full disk too, in the room of the reserve, which one sweep asks for twice at most", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  const { database } = await app.namespace();
  assertEquals((await remove(app, "acme/databases/main", "main")).status, 200);
  clock.turn(DELETED_KEEP_MS + 1);
  const { control: { databases }, tenants } = app.deps;
  const [expireDeleted, { reserve }] = [databases.expireDeleted.bind(databases), tenants];
  let [refusals, lent] = [3, 0];
  databases.expireDeleted = (namespaceId) =>
    refusals-- > 0 ? Promise.reject(new AppError("storage_full")) : expireDeleted(namespaceId);
  Object.assign(tenants, { reserve: { lend: (bytes: number) => (lent += bytes) > 0 } });
  try {
    await assertRejects(() => sweepLeftovers(app.deps), /full/);
    assertEquals([refusals, lent], [0, 1024 * 1024]);
    refusals = 1;
    await sweepLeftovers(app.deps);
    assertEquals([refusals, lent], [-1, 1536 * 1024]);
    assertEquals(await kindsOf(app, database.id), []);
  } finally {
    Object.assign(tenants, { reserve });
  }
});
