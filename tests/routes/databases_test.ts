// /api/namespaces/:slug/databases: made, listed, changed, deleted; a slug never leads to another database's file.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { oneStore } from "../testing/cases.ts";
import { startApp } from "../testing/start_app.ts";
import { member, rowsOf, type TestNamespace } from "../testing/test_namespace.ts";

const { run, test, testOneProcess } = oneStore();
Deno.test("databases", run);

const databasesOf = ({ slug }: TestNamespace) => `/api/namespaces/${slug}/databases`;

test("creating a database answers 201 with its record, and it can be used at once", async () => {
  await using app = await startApp();
  const acme = await app.namespace();
  const { token } = acme;
  const path = databasesOf(acme);
  const answer = await app.request("POST", path, { token, body: { slug: "orders", name: "Orders" } });
  assertEquals(answer.status, 201);
  const { id, createdAt, sizeBytes, ...rest } = answer.body.data as {
    id: string;
    createdAt: string;
    sizeBytes: number;
  };
  assertEquals(rest, { slug: "orders", name: "Orders", branchRef: "main", state: "ok" } as object);
  assertMatch(id, /^db_[0-9A-HJKMNP-TV-Z]{26}$/);
  assertMatch(createdAt, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  assert(sizeBytes > 0);
  const query = await app.request("POST", `/v1/db/${acme.slug}/orders/query`, {
    token,
    body: { sql: "SELECT 1" },
  });
  assertEquals(rowsOf(query), [[1]]);
});

test("slugs outside of the rules and unknown fields are 400", async () => {
  await using app = await startApp();
  const acme = await app.namespace();
  const { token } = acme;
  const path = databasesOf(acme);
  for (const slug of ["", "A", "1a", "a_b", "a@main", "../a", `a${"b".repeat(41)}`]) {
    const answer = await app.request("POST", path, { token, body: { slug } });
    assertEquals([answer.status, answer.body.issues?.[0]?.path], [400, "slug"], slug);
  }
  const answer = await app.request("POST", path, { token, body: { slug: "x", size: 1 } });
  assertEquals([answer.status, answer.body.issues?.[0]?.path], [400, "size"]);
});

test("a taken slug is 409, also when many ask at once, and another namespace may have it", async () => {
  await using app = await startApp();
  const acme = await app.namespace();
  const { token } = acme;
  const path = databasesOf(acme);
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => app.request("POST", path, { token, body: { slug: "orders" } })),
  );
  const outcomes = answers.map(({ status, body }) => status === 201 ? status : `${status} ${body.code}`);
  assertEquals(outcomes.sort(), [201, ...Array<string>(5).fill("409 slug_taken")]);
  const other = await app.namespace("other");
  const same = await app.request("POST", databasesOf(other), {
    token: other.token,
    body: { slug: "orders" },
  });
  assertEquals(same.status, 201);
});

test("two databases never share rows", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const other = await tenant.createDatabase("other");
  await tenant.setup("CREATE TABLE t (a)");
  const body = { sql: "SELECT * FROM t" };
  const answer = await app.request("POST", `${other.path}/query`, { token: tenant.token, body });
  assertEquals(answer.body.errorDetail?.kind, "unknown_table");
});

test("a database is read, renamed and listed", async () => {
  await using app = await startApp();
  const acme = await app.namespace();
  const { token, database } = acme;
  const path = databasesOf(acme);
  const renamed = await app.request("PATCH", `${path}/main`, { token, body: { name: "New name" } });
  assertEquals([renamed.status, member(renamed, "name")], [200, "New name"]);
  const read = await app.request("GET", `${path}/main`, { token });
  assertEquals([read.status, member(read, "name"), member(read, "id")], [200, "New name", database.id]);
  const list = await app.request("GET", path, { token });
  assertEquals([list.status, list.body.meta?.nextCursor], [200, null]);
  assertEquals((list.body.data as { name: string }[]).map(({ name }) => name), ["New name"]);
});

test("an unknown database is 404 for every operation", async () => {
  await using app = await startApp();
  const acme = await app.namespace();
  const { token } = acme;
  const path = databasesOf(acme);
  const calls = [["GET", undefined], ["PATCH", { name: "x" }], ["DELETE", { confirm: "nowhere" }]] as const;
  for (const [method, body] of calls) {
    const answer = await app.request(method, `${path}/nowhere`, { token, body });
    assertEquals([answer.status, answer.body.code], [404, "database_not_found"], method);
  }
});

test("deleting needs the slug once more and changes nothing without it", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const path = databasesOf(tenant);
  for (const body of [undefined, {}, { confirm: "other" }, { confirm: "main", force: true }]) {
    const answer = await app.request("DELETE", `${path}/main`, { token: tenant.token, body });
    assertEquals(answer.status, 400, JSON.stringify(body));
  }
  assertEquals((await tenant.query("SELECT 1")).status, 200);
});

testOneProcess("a deleted database is 404 at once and its slug leads to a new, empty one", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const path = databasesOf(tenant);
  await tenant.setup("CREATE TABLE t (a)");
  await tenant.query("INSERT INTO t VALUES ('old')");
  const deleted = await app.request("DELETE", `${path}/main`, {
    token: tenant.token,
    body: { confirm: "main" },
  });
  assertEquals([deleted.status, member(deleted, "id")], [200, tenant.database.id]);
  assertEquals((await tenant.query("SELECT 1")).body.code, "database_not_found");
  const next = await app.request("POST", path, { token: tenant.token, body: { slug: "main" } });
  assertEquals(next.status, 201);
  assert(member(next, "id") !== tenant.database.id);
  assertEquals((await tenant.query("SELECT * FROM t")).body.errorDetail?.kind, "unknown_table");
  const log = await app.request("GET", `${tenant.database.path}/query_log?status=ok`, {
    token: tenant.token,
  });
  assertEquals((log.body.data as { entries: unknown[] }).entries, []);
});

test("a database that is deleted while statements run gives no 500, and the service goes on", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const path = databasesOf(tenant);
  await tenant.setup("CREATE TABLE t (a)");
  const running = Promise.all(
    Array.from({ length: 40 }, (_, at) => tenant.query("INSERT INTO t VALUES (?)", [at])),
  );
  const deleted = await app.request("DELETE", `${path}/main`, {
    token: tenant.token,
    body: { confirm: "main" },
  });
  assertEquals(deleted.status, 200);
  for (const { status, text } of await running) assert([200, 404, 503].includes(status), `${status} ${text}`);
  const other = await tenant.createDatabase("other");
  const body = { sql: "SELECT 1" };
  assertEquals((await app.request("POST", `${other.path}/query`, { token: tenant.token, body })).status, 200);
});

test("databases are found by how their slugs begin, in the order of the slugs", async () => {
  await using app = await startApp();
  const acme = await app.namespace();
  for (const slug of ["shop-b", "shop", "other", "shop-a", "shops"]) await acme.createDatabase(slug);
  const list = async (query: string) => {
    const { status, body } = await app.request("GET", `${databasesOf(acme)}?${query}`, { token: acme.token });
    return {
      status,
      slugs: (body.data as { slug: string }[] ?? []).map(({ slug }) => slug),
      meta: body.meta,
    };
  };
  assertEquals((await list("prefix=shop")).slugs, ["shop", "shop-a", "shop-b", "shops"]);
  const first = await list("prefix=shop-&pageSize=1");
  assertEquals([first.slugs, first.meta?.nextCursor], [["shop-a"], "shop-a"]);
  const second = await list(`prefix=shop-&pageSize=1&cursor=${first.meta?.nextCursor}`);
  assertEquals([second.slugs, second.meta?.nextCursor], [["shop-b"], null]);
  assertEquals((await list("prefix=nobody")).slugs, []);
  for (const wrong of ["prefix=A", "prefix=", "prefix=shop&cursor=Nobody", "cursor=shop"]) {
    assertEquals((await list(wrong)).status, 400, wrong);
  }
});

test("databases are listed in pages in the order of their making", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const path = databasesOf(tenant);
  for (const slug of ["z", "y", "x", "w"]) await tenant.createDatabase(slug);
  const seen: string[][] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? "" : `&cursor=${cursor}`;
    const page = await app.request("GET", `${path}?pageSize=2${query}`, { token: tenant.token });
    seen.push((page.body.data as { slug: string }[]).map(({ slug }) => slug));
    cursor = page.body.meta?.nextCursor ?? null;
  } while (cursor !== null);
  assertEquals(seen, [["main", "z"], ["y", "x"], ["w"]]);
});
