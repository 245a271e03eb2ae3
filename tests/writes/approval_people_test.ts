// Who may see and decide what waits: admins of the namespace who have just signed in, and the operator.
import { assertEquals } from "@std/assert";
import type { ApiAnswer, ApiRequest } from "../testing/call_api.ts";
import { signIn } from "../testing/person.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { oneStore, testSteps } from "../testing/cases.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { type DecisionWorld, decisionWorld, shownIn } from "./decision_world.ts";

const { run, test } = oneStore();
Deno.test("approval people", run);

const code = ({ status, body }: ApiAnswer) => [status, body.code ?? "ok"];

/** One call about an approval by a person's session, without a bearer. */
function callAs({ app, shop }: DecisionWorld, headers: ApiRequest["headers"]) {
  const base = `/api/namespaces/${shop.slug}/approvals`;
  return (method: string, path: string, body?: unknown) =>
    app.request(method, `${base}${path}`, {
      ...(headers === undefined ? {} : { headers }),
      ...(body === undefined ? {} : { body }),
    });
}

testSteps("a member of the namespace", decisionWorld, {
  "who is an admin decides, by name": async (world) => {
    const held = await world.hold("UPDATE items SET price = 1 WHERE id = 1");
    const mara = await signIn(world.app, {
      role: "admin",
      namespace: world.shop.slug,
      email: "mara@example.com",
    });
    const call = callAs(world, mara.headers);
    assertEquals(shownIn(await call("POST", `/${held.id}/look`)).look, 0);
    const approved = shownIn(await call("POST", `/${held.id}/approve`, { look: 0 }));
    assertEquals([approved["decidedBy"], approved["decidedByName"]], [mara.id, "mara@example.com"]);
    assertEquals((await world.redeem(held)).status, 200);
    const other = await world.hold("DELETE FROM items");
    const denied = shownIn(await call("POST", `/${other.id}/deny`, { reason: "Not all of them" }));
    assertEquals([denied.state, denied["decidedBy"], denied["reason"]], [
      "denied",
      mara.id,
      "Not all of them",
    ]);
  },
  "who is no admin any more has approved nothing, and another person decides": async (world) => {
    const { app, shop } = world;
    for (const [method, body] of [["PATCH", { role: "editor" }], ["DELETE", undefined]] as const) {
      const held = await world.hold("UPDATE items SET price = price + 1 WHERE id = 1");
      const person = await signIn(app, { role: "admin", namespace: shop.slug });
      const call = callAs(world, person.headers);
      assertEquals(
        shownIn(await call("POST", `/${held.id}/approve`, { look: 0, snapshot: true })).state,
        "approved",
      );
      const path = `/api/namespaces/${shop.slug}/members/${person.id}`;
      const changed = await app.request(method, path, { token: app.operatorKey, ...(body ? { body } : {}) });
      assertEquals(changed.status, 200, changed.text);
      assertEquals(code(await world.redeem(held)), [409, "approval_pending"], method);
      const { state, decidedBy } = await world.show(held.id) as { state: string; decidedBy?: string };
      assertEquals([state, decidedBy ?? null], ["pending", null]);
      assertEquals((await world.call("POST", held.id, "approve", { body: { look: 0 } })).status, 200);
      assertEquals((await world.redeem(held)).status, 200, method);
    }
  },
  "who is a viewer or an editor reads and decides nothing": async (world) => {
    const { id } = await world.hold("UPDATE items SET price = 1 WHERE id = 1");
    for (const role of ["viewer", "editor"] as const) {
      const person = await signIn(world.app, { role, namespace: world.shop.slug });
      const call = callAs(world, person.headers);
      assertEquals((await call("GET", "?state=pending")).status, 200);
      assertEquals(shownIn(await call("GET", `/${id}`)).id, id);
      for (const verb of ["look", "approve", "deny"]) {
        assertEquals(code(await call("POST", `/${id}/${verb}`)), [403, "role_too_low"], `${role} ${verb}`);
      }
    }
    assertEquals((await world.show(id)).state, "pending");
  },
  "of another namespace sees nothing, nor does an agent": async (world) => {
    const { id } = await world.hold("UPDATE items SET price = 1 WHERE id = 1");
    await world.app.namespace(`${world.shop.slug}-b`);
    const person = await signIn(world.app, { role: "admin", namespace: `${world.shop.slug}-b` });
    const call = callAs(world, person.headers);
    for (const [method, verb] of [["GET", ""], ["POST", "/look"], ["POST", "/approve"], ["POST", "/deny"]]) {
      const answer = await call(method ?? "", `/${id}${verb}`);
      assertEquals(code(answer), [403, "namespace_mismatch"], `${method} ${verb}`);
    }
    const { token } = await world.shop.mint("admin");
    for (const verb of ["look", "approve", "deny"]) {
      assertEquals(code(await world.call("POST", id, verb, { token })), [403, "person_required"], verb);
    }
    assertEquals((await world.show(id)).state, "pending");
  },
}, test);

test("whoever signed in a quarter of an hour ago reads and looks, and signs in again to decide or undo", async () => {
  const clock = new TurnableClock();
  await using app: StartedApp = await startApp({ clock });
  const world = await decisionWorld(app, "acme");
  const { id } = await world.hold("UPDATE items SET price = 1 WHERE id = 1");
  const done = await world.hold("UPDATE items SET price = 2 WHERE id = 2");
  await world.approve(done.id, { snapshot: true });
  assertEquals((await world.redeem(done)).status, 200);
  const call = callAs(world, (await signIn(app, { role: "admin" })).headers);
  clock.turn(16 * 60_000);
  assertEquals(shownIn(await call("GET", `/${id}`)).state, "pending");
  assertEquals(shownIn(await call("POST", `/${id}/look`)).look, 0);
  for (const verb of ["approve", "deny"]) {
    assertEquals(code(await call("POST", `/${id}/${verb}`)), [403, "sign_in_again"]);
  }
  assertEquals((await call("GET", `/${done.id}/undo`)).status, 200);
  assertEquals(code(await call("POST", `/${done.id}/undo`)), [403, "sign_in_again"]);
  assertEquals(await world.rows("SELECT price FROM items WHERE id = 2"), [[2]]);
  const fresh = callAs(world, (await signIn(app, { role: "admin" })).headers);
  assertEquals(shownIn(await fresh("POST", `/${id}/approve`)).state, "approved");
});

test("of two people who decide at once one decides, and the other is told", async () => {
  await using app = await startApp();
  const world = await decisionWorld(app, "acme");
  for (let round = 0; round < 5; round++) {
    const { id } = await world.hold("UPDATE items SET price = 1 WHERE id = ?", [round + 1]);
    const [approved, denied] = await Promise.all([
      callAs(world, (await signIn(app, { role: "admin" })).headers)("POST", `/${id}/approve`),
      callAs(world, (await signIn(app, { role: "admin" })).headers)("POST", `/${id}/deny`),
    ]);
    assertEquals([code(approved), code(denied)].filter(([status]) => status === 200).length, 1);
    const { state } = await world.show(id);
    const loser = state === "approved" ? denied : approved;
    assertEquals(code(loser), [409, "approval_decided"]);
  }
});

test("of two approvals at once that differ in the snapshot one counts, and the other is told", async () => {
  await using app = await startApp();
  const world = await decisionWorld(app, "acme");
  for (let round = 0; round < 5; round++) {
    const { id } = await world.hold("UPDATE items SET price = 1 WHERE id = ?", [round + 1]);
    const answers = await Promise.all(
      [true, false].map((snapshot) => world.call("POST", id, "approve", { body: { look: 0, snapshot } })),
    );
    assertEquals(answers.map(code).toSorted(), [[200, "ok"], [409, "approval_decided"]]);
    const counted = answers[0]?.status === 200;
    assertEquals((await world.show(id))["snapshotFirst"], counted);
  }
});

test("an approval names its database as it is called now, and where that is gone, as it was called", async () => {
  await using app = await startApp();
  const world = await decisionWorld(app, "acme");
  const { request, operatorKey } = app;
  const databases = "/api/namespaces/acme/databases";
  const manage = async (method: string, path: string, body: object, status: number) => {
    const answer = await request(method, `${databases}${path}`, { token: operatorKey, body });
    assertEquals(answer.status, status, answer.text);
  };
  const sql = "DELETE FROM items WHERE id = 1";
  const trunk = await world.hold(sql);
  await manage("DELETE", "/main", { confirm: "main" }, 200);
  await manage("POST", "", { slug: "main" }, 201);
  const named = async (id: string) => {
    const list = await request("GET", "/api/namespaces/acme/approvals", { token: operatorKey });
    const found = JSON.parse(list.text).data.find((one: { id: string }) => one.id === id);
    const shown = await world.show(id);
    assertEquals([found.database, found.databaseSlug], [shown["database"], shown["databaseSlug"]]);
    return [found.database, found.databaseSlug];
  };
  assertEquals(await named(trunk.id), ["main", "main"]);
  await manage("POST", "/restore", { slug: "main", into: "store" }, 200);
  assertEquals(await named(trunk.id), ["store", "store"]);
  const approved = await world.approve(trunk.id, { snapshot: true });
  assertEquals([approved["database"], approved["databaseSlug"]], ["store", "store"]);
  const redeemed = await request("POST", "/v1/db/acme/store/redeem_approval", {
    token: world.agent.token,
    body: { approvalToken: trunk.approvalToken },
  });
  assertEquals(redeemed.status, 200, redeemed.text);
  const undone = await world.call("POST", trunk.id, "undo");
  assertEquals([undone.status, shownIn(undone)["database"]], [200, "store"], undone.text);
  const audit = await request("GET", "/api/namespaces/acme/audit", { token: operatorKey });
  const acts = JSON.parse(audit.text).data.filter((one: { target: string }) => one.target === trunk.id);
  assertEquals(acts.map((one: { database: string }) => one.database), ["store", "store"]);
});
