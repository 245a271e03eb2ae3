// Holds the app to routes/security_table.ts: what is mounted is listed, and lets in whom the table names.
import { assert, assertEquals } from "@std/assert";
import { newToken } from "../../lib/access/token_format.ts";
import { type Access, securityTable } from "../../routes/security_table.ts";
import { oneStore } from "../testing/cases.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { guarded, IN_MEMORY, knock, nameOf } from "./knock.ts";

const { run, test } = oneStore();
Deno.test("the app and the security table", run);

/** An `Authorization` header. */
const as = (bearer: string) => ({ authorization: `Bearer ${bearer}` });

/** One bearer of every kind: unscoped ones of `acme`, scoped ones of it, and one of another namespace. */
async function bearersOf(started: StartedApp) {
  const acme = await started.namespace("acme");
  await acme.query("CREATE TABLE things (id INTEGER PRIMARY KEY)");
  const other = await started.namespace("other");
  const stock = await acme.createDatabase("stock");
  const claim = { token: acme.token, body: { purpose: "a branch to knock at", ref: "pr-1" } };
  assertEquals((await started.request("POST", `${acme.database.path}/claim_branch`, claim)).status, 201);
  const scopedTo = (databaseId: string) =>
    acme.mint("admin", { scopes: [{ databaseId, branchRef: "main", role: "admin" }] });
  return {
    operator: started.operatorKey,
    admin: acme.token,
    reader: (await acme.mint("read")).token,
    mainAdmin: (await scopedTo(acme.database.id)).token,
    stockAdmin: (await scopedTo(stock.id)).token,
    foreignAdmin: other.token,
  };
}

test("every mounted route is in the security table, and every row of it is mounted", async () => {
  await using started = await startApp();
  const { routes } = started.app;
  // Middleware answers every method too, and sits on a prefix or on everything.
  const mounted = new Set(
    routes.filter(({ method, path }) => method !== "ALL" || !path.endsWith("*"))
      .map(({ method, path }) => `${method} ${path}`),
  );
  assertEquals([...mounted].sort(), securityTable.map(nameOf).sort());
});

test("every route but the open ones answers 401 without a bearer and with a wrong one", async () => {
  await using started = await startApp();
  const bearers = await bearersOf(started);
  const wrong = [
    `Bearer ${newToken("cub_live_")}`,
    `Bearer ${newToken("cub_op_")}`,
    `Bearer ${bearers.admin.slice(0, -1)}`,
    `Bearer ${bearers.admin} ${bearers.admin}`,
    "Bearer ",
    "Bearer null",
    bearers.admin,
    `Basic ${btoa(`admin:${bearers.admin}`)}`,
  ];
  for (const route of guarded) {
    const name = nameOf(route);
    assertEquals(
      await knock(started, route),
      { status: 401, code: "missing_bearer", challenge: true },
      name,
    );
    for (const authorization of wrong) {
      const { status, challenge } = await knock(started, route, { authorization });
      assertEquals({ status, challenge }, { status: 401, challenge: true }, name);
    }
  }
});

test("the operator key is no bearer under /v1", async () => {
  await using started = await startApp();
  const bearers = await bearersOf(started);
  const routes = guarded.filter((route) => route.path.startsWith("/v1/"));
  assert(routes.length > 0);
  for (const route of routes) {
    const { status, code } = await knock(started, route, as(bearers.operator));
    assertEquals({ status, code }, { status: 401, code: "invalid_bearer" }, nameOf(route));
  }
});

test("every route refuses whoever its row leaves out", async () => {
  await using started = await startApp();
  const bearers = await bearersOf(started);
  const { admin, reader, operator, mainAdmin, stockAdmin, foreignAdmin } = bearers;
  const strangers: readonly [bearer: string, code: string][] = [
    [reader, "role_too_low"],
    [mainAdmin, "out_of_scope"],
    [foreignAdmin, "namespace_mismatch"],
  ];
  const refused: Readonly<Record<string, readonly [bearer: string, code: string][]>> = {
    operator: [[admin, "operator_required"], [foreignAdmin, "operator_required"]],
    namespace_reader: strangers,
    namespace_admin: strangers,
    token: [],
    member: [[admin, "person_required"], [reader, "person_required"], [operator, "member_required"]],
    self: [[admin, "person_required"], [reader, "person_required"], [foreignAdmin, "person_required"]],
    person: [[admin, "person_required"], [reader, "person_required"], [foreignAdmin, "person_required"]],
    database: [[stockAdmin, "out_of_scope"], [foreignAdmin, "namespace_mismatch"]],
  };
  const readers: readonly [bearer: string, code: string][] = [[reader, "role_too_low"]];
  for (const route of guarded) {
    const more = /^database:(?!read)/.test(route.access) ? readers : [];
    for (const [bearer, code] of [...refused[route.access.replace(/:.*/, "")] ?? [], ...more]) {
      const answer = await knock(started, route, as(bearer));
      assertEquals(answer, { status: 403, code, challenge: false }, nameOf(route));
    }
  }
});

test("every route lets in whom its row names", async () => {
  await using started = await startApp();
  const bearers = await bearersOf(started);
  const { admin, reader, operator, mainAdmin } = bearers;
  const enough = (access: Access): string[] => {
    if (access === "none" || access === "member") return [];
    if (["operator", "person", "self", "scraper"].includes(access)) return [operator];
    if (access === "namespace_admin" || access === "namespace_reader") return [operator, admin];
    return access === "database:read" || access === "token" ? [reader, mainAdmin, admin] : [mainAdmin, admin];
  };
  // Deleting comes last, what is inside before what holds it; a second maker or deleter finds 404 or 409.
  const inOrder = [
    ...guarded.filter((route) => route.method !== "DELETE"),
    ...guarded.filter((route) => route.method === "DELETE").sort((a, b) => b.path.length - a.path.length),
  ];
  for (const route of inOrder) {
    for (const bearer of enough(route.access)) {
      const { status, code } = await knock(started, route, as(bearer));
      assert(
        [200, 201, 404, 409].includes(status) || code === "sign_in_failed" || code === IN_MEMORY,
        `${nameOf(route)}: ${status}`,
      );
      // Of an approval, an export and an import there is only an unknown one.
      if (
        route.method === "GET" && !/\/(approvals|exports|imports)\/:/.test(route.path) && code !== IN_MEMORY
      ) {
        assertEquals(status, 200, nameOf(route));
      }
    }
  }
  for (const route of securityTable.filter((route) => route.access === "none")) {
    const { status, code } = await knock(started, route);
    // Without a bearer it is the thing asked for that is missing, not the right to ask.
    const missing = ["handoff_not_found", "ticket_not_found", "endpoint_not_found", "database_not_found"]
      .includes(code ?? "");
    // The same, in the words of OAuth.
    const noGrant = status === 400 && route.path === "/oauth/token";
    assert([200, 201, 302].includes(status) || missing || noGrant, `${nameOf(route)}: ${status}`);
  }
});
