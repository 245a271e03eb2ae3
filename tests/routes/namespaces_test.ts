// /api/namespaces: made, listed, changed and ended.
import { assertEquals, assertMatch } from "@std/assert";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { member } from "../testing/test_namespace.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("/api/namespaces: made, listed, changed and ended", run);

const PATH = "/api/namespaces";

async function create(app: StartedApp, body: unknown) {
  return await app.request("POST", PATH, { token: app.operatorKey, body });
}

test("creating a namespace answers 201 with its record", async () => {
  await using app = await startApp();
  const answer = await create(app, { slug: "acme", name: "Acme GmbH" });
  assertEquals(answer.status, 201);
  const { createdAt, id, ...rest } = answer.body.data as { createdAt: string; id: string };
  assertEquals(rest, { slug: "acme", name: "Acme GmbH" } as object);
  assertMatch(id, /^ns_[0-9A-HJKMNP-TV-Z]{26}$/);
  assertMatch(createdAt, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  const read = await app.request("GET", `${PATH}/acme`, { token: app.operatorKey });
  const record = { slug: "acme", name: "Acme GmbH", id, createdAt, monthlyCapUsd: null };
  assertEquals([read.status, read.body.data as object], [200, record]);
});

test("a namespace without a name is named after its slug", async () => {
  await using app = await startApp();
  assertEquals(member(await create(app, { slug: "acme" }), "name"), "acme");
});

test("slugs outside of the rules are 400 and name the field", async () => {
  await using app = await startApp();
  for (
    const slug of ["", "A", "1a", "-a", "a_b", "a.b", "a b", "a/b", "ä", "a\n", `a${"b".repeat(41)}`, null, 7]
  ) {
    const answer = await create(app, { slug });
    assertEquals([answer.status, answer.body.issues?.map(({ path }) => path)], [400, ["slug"]], `${slug}`);
  }
  for (const slug of ["a", "a-", "a1-b2", `a${"b".repeat(40)}`]) {
    assertEquals((await create(app, { slug })).status, 201, slug);
  }
});

test("a taken slug is 409 slug_taken, also when two ask at once", async () => {
  await using app = await startApp();
  const answers = await Promise.all(Array.from({ length: 8 }, () => create(app, { slug: "acme" })));
  assertEquals(answers.map(({ status }) => status).sort(), [201, ...Array(7).fill(409)]);
  assertEquals((await create(app, { slug: "acme" })).body.code, "slug_taken");
});

test("unknown fields are refused by name", async () => {
  await using app = await startApp();
  const answer = await create(app, { slug: "acme", plan: "free" });
  assertEquals([answer.status, answer.body.issues?.map(({ path }) => path)], [400, ["plan"]]);
  assertEquals((await app.request("GET", `${PATH}/acme`, { token: app.operatorKey })).status, 404);
});

test("only the operator makes, lists and deletes namespaces", async () => {
  await using app = await startApp();
  const { token } = await app.namespace("acme");
  const calls = [
    ["POST", "", { slug: "mine" }],
    ["GET", "", undefined],
    ["DELETE", "/acme", { confirm: "acme" }],
  ] as const;
  for (const [method, path, body] of calls) {
    const answer = await app.request(method, PATH + path, { token, body });
    assertEquals([answer.status, answer.body.code], [403, "operator_required"], method);
  }
});

test("an admin token reads and renames its own namespace and no other; lower roles neither", async () => {
  await using app = await startApp();
  const tenant = await app.namespace("acme");
  await app.namespace("other");
  const read = await app.request("GET", `${PATH}/acme`, { token: tenant.token });
  assertEquals([read.status, member(read, "slug")], [200, "acme"]);
  const renamed = await app.request("PATCH", `${PATH}/acme`, { token: tenant.token, body: { name: "New" } });
  assertEquals([renamed.status, member(renamed, "name")], [200, "New"]);
  assertEquals(member(await app.request("GET", `${PATH}/acme`, { token: tenant.token }), "name"), "New");
  assertEquals(
    (await app.request("GET", `${PATH}/other`, { token: tenant.token })).body.code,
    "namespace_mismatch",
  );
  const writer = await tenant.mint("write");
  assertEquals((await app.request("GET", `${PATH}/acme`, { token: writer.token })).body.code, "role_too_low");
});

test("an unknown namespace is 404 for the operator", async () => {
  await using app = await startApp();
  for (
    const [method, body] of [["GET", undefined], ["PATCH", { name: "x" }], ["DELETE", {
      confirm: "x",
    }]] as const
  ) {
    const answer = await app.request(method, `${PATH}/nowhere`, { token: app.operatorKey, body });
    assertEquals([answer.status, answer.body.code], [404, "namespace_not_found"], method);
  }
});

test("deleting needs the slug once more", async () => {
  await using app = await startApp();
  await create(app, { slug: "acme" });
  for (const body of [undefined, {}, { confirm: "" }, { confirm: "ACME" }, { confirm: true }]) {
    const answer = await app.request("DELETE", `${PATH}/acme`, { token: app.operatorKey, body });
    assertEquals(answer.status, 400, JSON.stringify(body));
  }
  const answer = await app.request("DELETE", `${PATH}/acme`, {
    token: app.operatorKey,
    body: { confirm: "acme" },
  });
  assertEquals([answer.status, member(answer, "slug")], [200, "acme"]);
});

test("a deleted namespace takes tokens and databases with it at once, and its slug starts empty", async () => {
  await using app = await startApp();
  const old = await app.namespace("acme");
  await old.setup("CREATE TABLE t (a)");
  assertEquals(
    (await app.request("DELETE", `${PATH}/acme`, { token: app.operatorKey, body: { confirm: "acme" } }))
      .status,
    200,
  );
  assertEquals((await old.query("SELECT 1")).body.code, "invalid_bearer");
  assertEquals((await app.request("GET", `${PATH}/acme`, { token: app.operatorKey })).status, 404);
  const next = await app.namespace("acme");
  assertEquals((await old.query("SELECT 1")).body.code, "invalid_bearer");
  const tables = await app.request("GET", `${next.database.path}/tables`, { token: next.token });
  assertEquals([tables.status, tables.body.data], [200, []]);
});

test("namespaces are listed in pages in the order of their making", async () => {
  await using app = await startApp();
  const slugs = Array.from({ length: 7 }, (_, at) => `n${at}`);
  for (const slug of slugs) await create(app, { slug });
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? "" : `&cursor=${cursor}`;
    const page = await app.request("GET", `${PATH}?pageSize=3${query}`, { token: app.operatorKey });
    assertEquals(page.status, 200);
    seen.push(...(page.body.data as { slug: string }[]).map(({ slug }) => slug));
    cursor = page.body.meta?.nextCursor ?? null;
  } while (cursor !== null);
  assertEquals(seen, slugs);
  const last = await app.request("GET", `${PATH}?pageSize=7`, { token: app.operatorKey });
  assertEquals(last.body.meta, { nextCursor: null } as never);
});

test("a list refuses a cursor that is none, and takes one whose record is gone", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const token = app.operatorKey;
  const lists = { "": "ns", "/acme/tokens": "tok", "/acme/databases": "db", "/acme/members": "mem" };
  for (const [path, prefix] of Object.entries(lists)) {
    for (const cursor of ["x", "", tenant.database.id.slice(0, -1), `evt_${"0".repeat(26)}`]) {
      const { status, body } = await app.request("GET", `${PATH}${path}?cursor=${cursor}`, { token });
      const message = "Send the nextCursor of the page before";
      assertEquals([status, body.issues], [400, [{ path: "cursor", message }]], `${path} ${cursor}`);
    }
    const gone = await app.request("GET", `${PATH}${path}?cursor=${prefix}_${"0".repeat(26)}`, { token });
    const all = await app.request("GET", `${PATH}${path}`, { token });
    assertEquals([gone.status, gone.body.data], [200, all.body.data], path);
  }
});
