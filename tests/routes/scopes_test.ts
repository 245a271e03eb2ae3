// Scoped tokens: only what is listed, with the lower of token and row, and nothing namespace-wide.
import { assertEquals } from "@std/assert";
import type { Role } from "../../lib/core/role.ts";
import { oneStore } from "../testing/cases.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { member, type TestDatabase, type TestNamespace } from "../testing/test_namespace.ts";

const { run, test } = oneStore();
Deno.test("scopes", run);

const row = ({ id }: TestDatabase, role: Role) => ({ databaseId: id, branchRef: "main", role });

async function status(app: StartedApp, { path }: TestDatabase, token: string, sql: string): Promise<number> {
  return (await app.request("POST", `${path}/query`, { token, body: { sql } })).status;
}

/** Statuses of a read, a write and a change of the schema. */
async function powers(app: StartedApp, database: TestDatabase, token: string): Promise<number[]> {
  return [
    await status(app, database, token, "SELECT * FROM t"),
    await status(app, database, token, "INSERT INTO t VALUES (1)"),
    await status(app, database, token, "CREATE TABLE IF NOT EXISTS n (a)"),
  ];
}

async function withTable(app: StartedApp): Promise<TestNamespace> {
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (a)");
  return tenant;
}

test("a scoped token reaches the listed database and is 403 out_of_scope on others", async () => {
  await using app = await startApp();
  const tenant = await withTable(app);
  const other = await tenant.createDatabase("other");
  const { token } = await tenant.mint("admin", { scopes: [row(tenant.database, "admin")] });
  assertEquals(await powers(app, tenant.database, token), [200, 200, 200]);
  for (
    const [method, path] of [["POST", "query"], ["POST", "batch"], ["GET", "tables"], ["GET", "query_log"]]
  ) {
    const answer = await app.request(method ?? "", `${other.path}/${path}`, {
      token,
      body: method === "POST" ? {} : undefined,
    });
    assertEquals([answer.status, answer.body.code], [403, "out_of_scope"], path);
  }
});

test("a scope row for another branch does not open the trunk", async () => {
  await using app = await startApp();
  const tenant = await withTable(app);
  const answer = await app.request("POST", `/api/namespaces/${tenant.slug}/tokens`, {
    token: tenant.token,
    body: { name: "x", role: "read", scopes: [{ ...row(tenant.database, "read"), branchRef: "pr-1" }] },
  });
  assertEquals([answer.status, answer.body.issues?.[0]?.path], [400, "scopes[0].branchRef"]);
});

test("a scope names its database by the slug too, a branch by slug@ref; what it leaves out is the trunk and the token's role", async () => {
  await using app = await startApp();
  const tenant = await withTable(app);
  const { slug, path } = tenant.database;
  await tenant.createDatabase("other");
  const claim = { token: tenant.token, body: { purpose: "try", ref: "pr-1" } };
  const branchId = member(await app.request("POST", `${path}/claim_branch`, claim), "databaseId");
  const made = async (...scopes: object[]) => {
    const body = { name: "x", role: "write", scopes };
    return await app.request("POST", `/api/namespaces/${tenant.slug}/tokens`, { token: tenant.token, body });
  };
  const trunk = row(tenant.database, "write");
  const branch = { databaseId: branchId, branchRef: "pr-1", role: "write" };
  for (
    const [scope, kept] of [
      [{ databaseSlug: slug }, trunk],
      [{ databaseSlug: `${slug}@main`, role: "read" }, { ...trunk, role: "read" }],
      [{ databaseId: tenant.database.id }, trunk],
      [{ databaseSlug: `${slug}@pr-1` }, branch],
      [{ databaseSlug: slug, branchRef: "pr-1" }, branch],
      [{ databaseId: branchId }, branch],
    ] as const
  ) {
    const answer = await made(scope);
    assertEquals(answer.status, 201, JSON.stringify(scope));
    assertEquals((answer.body.data as { scopes: unknown }).scopes, [kept]);
  }
  const { token } = (await made({ databaseSlug: slug })).body.data as { token: string };
  assertEquals(await powers(app, tenant.database, token), [200, 200, 403]);
  for (
    const [scope, at] of [
      [{}, "databaseId"],
      [{ databaseId: tenant.database.id, databaseSlug: slug }, "databaseId"],
      [{ databaseSlug: "nobody" }, "databaseSlug"],
      [{ databaseSlug: `${slug}@pr-1@x` }, "databaseSlug"],
      [{ databaseSlug: `${slug}@nobody` }, "databaseSlug"],
      [{ databaseSlug: `${slug}@pr-1`, branchRef: "main" }, "branchRef"],
    ] as const
  ) {
    const answer = await made({ databaseSlug: slug }, scope);
    assertEquals([answer.status, answer.body.issues?.[0]?.path], [400, `scopes[1].${at}`]);
  }
});

test("the effective role is the lower of the token's and the row's", async () => {
  await using app = await startApp();
  const tenant = await withTable(app);
  const cases = [
    ["admin", "read", [200, 403, 403]],
    ["read", "admin", [200, 403, 403]],
    ["admin", "write", [200, 200, 403]],
    ["write", "admin", [200, 200, 403]],
    ["admin", "admin", [200, 200, 200]],
  ] as const;
  for (const [role, rowRole, expected] of cases) {
    const { token } = await tenant.mint(role, { scopes: [row(tenant.database, rowRole)] });
    assertEquals(await powers(app, tenant.database, token), [...expected], `${role} ${rowRole}`);
  }
});

test("of several rows for one database the highest counts, up to the token's role", async () => {
  await using app = await startApp();
  const tenant = await withTable(app);
  const scopes = [row(tenant.database, "read"), row(tenant.database, "admin"), row(tenant.database, "write")];
  const admin = await tenant.mint("admin", { scopes });
  assertEquals(await powers(app, tenant.database, admin.token), [200, 200, 200]);
  const writer = await tenant.mint("write", { scopes });
  assertEquals(await powers(app, tenant.database, writer.token), [200, 200, 403]);
});

test("namespace-wide operations are 403 out_of_scope for a scoped admin token", async () => {
  await using app = await startApp();
  const tenant = await withTable(app);
  const { token } = await tenant.mint("admin", { scopes: [row(tenant.database, "admin")] });
  const calls = [
    ["GET", "", undefined],
    ["PATCH", "", { name: "x" }],
    ["GET", "/databases", undefined],
    ["POST", "/databases", { slug: "mine" }],
    ["GET", "/databases/main", undefined],
    ["DELETE", "/databases/main", { confirm: "main" }],
    ["GET", "/tokens", undefined],
    ["POST", "/tokens", { name: "x", role: "read" }],
    ["DELETE", `/tokens/${tenant.id}`, undefined],
  ] as const;
  for (const [method, path, body] of calls) {
    const answer = await app.request(method, `/api/namespaces/${tenant.slug}${path}`, { token, body });
    assertEquals([answer.status, answer.body.code], [403, "out_of_scope"], `${method} ${path}`);
  }
});

test("scopes that name a database of another namespace, or none, are refused", async () => {
  await using app = await startApp();
  const tenant = await app.namespace("acme");
  const other = await app.namespace("other");
  for (const databaseId of [other.database.id, "db_nowhere", "", "../x"]) {
    const answer = await app.request("POST", `/api/namespaces/${tenant.slug}/tokens`, {
      token: tenant.token,
      body: { name: "x", role: "read", scopes: [{ databaseId, branchRef: "main", role: "read" }] },
    });
    assertEquals([answer.status, answer.body.issues?.[0]?.path], [400, "scopes[0].databaseId"], databaseId);
  }
});

test("a scoped token of a deleted database does not reach its slug's next database", async () => {
  await using app = await startApp();
  const tenant = await withTable(app);
  const { token } = await tenant.mint("admin", { scopes: [row(tenant.database, "admin")] });
  const path = `/api/namespaces/${tenant.slug}/databases`;
  await app.request("DELETE", `${path}/main`, { token: tenant.token, body: { confirm: "main" } });
  assertEquals(
    (await app.request("POST", path, { token: tenant.token, body: { slug: "main" } })).status,
    201,
  );
  assertEquals(await status(app, tenant.database, token, "SELECT 1"), 403);
});
