// GET …/audit: who did what in a namespace, and in one of its databases.
import { assert, assertEquals } from "@std/assert";
import { oneStore, testSteps } from "../testing/cases.ts";
import { signIn } from "../testing/person.ts";
import { sweepLifetimes, withLifetimes } from "../../lib/store/lifetimes.ts";
import { Audit } from "../../lib/control/audit.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { newId } from "../../lib/core/ids.ts";
import { silentLog } from "../../lib/core/log.ts";
import { startApp } from "../testing/start_app.ts";
import { type DecisionWorld, decisionWorld } from "../writes/decision_world.ts";

const { run, test } = oneStore();
Deno.test("audit", run);

interface Entry {
  readonly id: string;
  readonly at: string;
  readonly actor: string;
  readonly actorName: string | null;
  readonly action: string;
  readonly database: string | null;
  readonly target: string | null;
  readonly facts: Readonly<Record<string, unknown>>;
}

async function audit(
  { app, shop }: Pick<DecisionWorld, "app" | "shop">,
  query = "",
): Promise<{ entries: Entry[]; next: string | null; text: string }> {
  const answer = await app.request("GET", `/api/namespaces/${shop.slug}/audit${query}`, {
    token: shop.token,
  });
  assertEquals(answer.status, 200, answer.text);
  return {
    entries: answer.body.data as Entry[],
    next: answer.body.meta?.nextCursor ?? null,
    text: answer.text,
  };
}

const WHOLE = { sinceMs: null, untilMs: null, cursor: null, pageSize: 100 };

testSteps("the audit of a namespace", decisionWorld, {
  "names who did what to what, newest first, and holds no secret": async (world) => {
    const { app, shop, agent } = world;
    const api = `/api/namespaces/${shop.slug}`;
    const { token } = await shop.mint("read");
    await app.request("DELETE", `${api}/tokens/${agent.id}`, { token: shop.token });
    const body = { slug: "list", name: "List", kind: "query", method: "GET", output: "rows" };
    const spec = { ...body, sql: "SELECT id FROM items", input: [] };
    const at = `${api}/databases/main/endpoints`;
    assertEquals((await app.request("POST", at, { token: shop.token, body: spec })).status, 201);
    // The second one changes nothing.
    for (let round = 0; round < 2; round++) {
      assertEquals((await app.request("POST", `${at}/list/publish`, { token: shop.token })).status, 200);
    }
    const { entries, text } = await audit(world);
    assertEquals(entries.map(({ action }) => action), [
      ...["endpoint.moved", "endpoint.created", "token.revoked", "token.created", "token.created"],
      ...["rule.created", "token.created", "database.created", "namespace.created"],
    ]);
    const [moved, , revoked, created] = entries;
    assertEquals([moved?.database, moved?.target, moved?.facts["status"]], ["main", "list", "published"]);
    assertEquals([revoked?.actor, revoked?.actorName, revoked?.target], [shop.id, "test", agent.id]);
    assertEquals([created?.actor, created?.actorName, created?.database], ["operator", "the operator", null]);
    for (const secret of [token, shop.token, agent.token, "SELECT id"]) assert(!text.includes(secret));
  },
  "names each endpoint that was made of a table": async (world) => {
    const { app, shop } = world;
    const at = `/api/namespaces/${shop.slug}/databases/main/endpoints/scaffold-crud`;
    const body = { table: "items", operations: ["list", "get"] };
    assertEquals((await app.request("POST", at, { token: shop.token, body })).status, 200);
    const { entries } = await audit(world);
    const made = entries.filter(({ action }) => action === "endpoint.created");
    assertEquals(made.map(({ actor, target }) => [actor, target]), [
      [shop.id, "get-item"],
      [shop.id, "list-items"],
    ]);
  },
  "tells who decided about a write, and who signed in": async (world) => {
    const mara = await signIn(world.app, {
      role: "admin",
      namespace: world.shop.slug,
      email: "mara@example.com",
    });
    const held = await world.hold("DELETE FROM items WHERE id = 7");
    const path = `/api/namespaces/${world.shop.slug}/approvals/${held.id}/approve`;
    assertEquals((await world.app.request("POST", path, { headers: mara.headers })).status, 200);
    const { entries: [approved] } = await audit(world);
    const { action, actor, actorName, database, target, facts } = approved ?? {};
    assertEquals([action, actor, actorName, database, target, facts?.["rows"]], [
      ...["approval.approved", mara.id, "mara@example.com", "main", held.id],
      3,
    ]);
  },
  "comes in pages, and between two times": async (world) => {
    const all = (await audit(world)).entries;
    const first = await audit(world, "?pageSize=2");
    assertEquals(first.entries, all.slice(0, 2));
    const rest = await audit(world, `?cursor=${first.next}`);
    assertEquals([rest.entries, rest.next], [all.slice(2), null]);
    const from = encodeURIComponent(all[0]?.at ?? "");
    const since = (await audit(world, `?since=${from}`)).entries;
    assert(since.length > 0 && since.every(({ at }) => at >= (all[0]?.at ?? "")));
    const until = (await audit(world, `?until=${from}`)).entries;
    assert(until.every(({ at }) => at < (all[0]?.at ?? "")));
    assertEquals(since.length + until.length, all.length);
    const wrong = await world.app.request("GET", `/api/namespaces/${world.shop.slug}/audit?cursor=evt_1`, {
      token: world.shop.token,
    });
    assertEquals([wrong.status, wrong.body.issues?.[0]?.path], [400, "cursor"]);
  },
  "holds nothing between two times of which the second is the earlier": async (world) => {
    const between = "since=2027-01-02T00:00:00Z&until=2027-01-01T00:00:00Z";
    for (const database of ["", "&database=main"]) {
      const { entries, next } = await audit(world, `?${between}${database}`);
      assertEquals([entries, next], [[], null], database);
    }
    const { next } = await audit(world, "?pageSize=1");
    assertEquals((await audit(world, `?since=9999-01-01T00:00:00Z&cursor=${next}`)).entries, []);
  },
  "with a database, tells that one's mutations": async (world) => {
    await world.shop.setup("INSERT INTO notes VALUES (50, 1), (51, 1)");
    const { entries: [last], text } = await audit(world, "?database=main");
    assertEquals([last?.action, last?.actor, last?.target, last?.facts["rowsWritten"]], [
      ...["query", world.shop.id, "notes"],
      2,
    ]);
    assert(!text.includes("INSERT"));
    const page = await audit(world, "?database=main&pageSize=1");
    assertEquals(page.entries.length, 1);
    const next = await audit(world, `?database=main&pageSize=1&cursor=${page.next}`);
    assert((next.entries[0]?.id ?? "") < (page.entries[0]?.id ?? ""));
  },
  "with a database, names who is there still, and nobody for who is gone": async ({ app, shop, agent }) => {
    const api = `/api/namespaces/${shop.slug}`;
    const write = async (token: string, id: number) => {
      const body = { sql: "INSERT INTO notes VALUES (?, 1)", params: [id] };
      const { status, text } = await app.request("POST", `${shop.database.path}/query`, { token, body });
      assertEquals(status, 200, text);
    };
    await write(shop.token, 60);
    await write(agent.token, 61);
    const listed = await app.request("GET", `${api}/tokens`, { token: shop.token });
    const names = new Map(
      (listed.body.data as { id: string; name: string }[]).map(({ id, name }) => [id, name]),
    );
    const seen = async () =>
      (await audit({ app, shop }, "?database=main&pageSize=2")).entries.map((
        one,
      ) => [one.actor, one.actorName]);
    const [own, agents] = [names.get(shop.id), names.get(agent.id)];
    assert(own !== undefined && agents !== undefined);
    assertEquals(await seen(), [[agent.id, agents], [shop.id, own]]);
    await app.request("DELETE", `${api}/tokens/${agent.id}`, { token: shop.token });
    assertEquals(await seen(), [[agent.id, null], [shop.id, own]]);
  },
  "is read by every member, and by no other namespace": async (world) => {
    const path = `/api/namespaces/${world.shop.slug}/audit`;
    const viewer = await signIn(world.app, { role: "viewer", namespace: world.shop.slug });
    assertEquals((await world.app.request("GET", path, { headers: viewer.headers })).status, 200);
    await world.app.namespace(`${world.shop.slug}-b`);
    const stranger = await signIn(world.app, { role: "admin", namespace: `${world.shop.slug}-b` });
    const foreign = await world.app.request("GET", path, { headers: stranger.headers });
    assertEquals([foreign.status, foreign.body.code], [403, "namespace_mismatch"]);
  },
}, test);

test("what was done is forgotten with the namespace", async () => {
  await using app = await startApp();
  const { slug } = await app.namespace();
  const { id = "" } = await app.deps.control.namespaces.bySlug(slug) ?? {};
  const count = async () => (await app.deps.control.audit.list(id, WHOLE)).records.length;
  assert(await count() > 0);
  const operator = { token: app.operatorKey, body: { confirm: slug } };
  assertEquals((await app.request("DELETE", `/api/namespaces/${slug}`, operator)).status, 200);
  assertEquals(await count(), 0);
});

test("what was done is forgotten after as many days as logs are kept", async () => {
  using kv = withLifetimes(await Deno.openKv(":memory:"), systemClock);
  const audit = new Audit(kv, { days: 2, log: silentLog });
  const at = systemClock.now();
  await audit.add({
    ...{ id: newId("aud", at), namespaceId: "ns_1", at, actor: "operator", actorName: "the operator" },
    ...{ action: "namespace.created", database: null, target: "acme", facts: {} },
  });
  for (const [days, left] of [[1, 1], [3, 0]] as const) {
    await sweepLifetimes(kv, at + days * 86_400_000);
    assertEquals((await audit.list("ns_1", WHOLE)).records.length, left);
  }
});
