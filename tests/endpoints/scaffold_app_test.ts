// The scaffold of an app: its endpoints work as they are made, rows stay with their users, and secrets stay inside.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { type EndpointWorld, endpointWorld } from "./endpoint_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("the scaffold of an app", run);

const TABLES = [
  "CREATE TABLE users (id INTEGER PRIMARY KEY AUTOINCREMENT, email TEXT NOT NULL UNIQUE, password_hash TEXT NOT NULL, " +
  "name TEXT NOT NULL, role TEXT NOT NULL DEFAULT 'guest')",
  "CREATE TABLE notes (id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users, body TEXT NOT NULL, " +
  "state TEXT NOT NULL DEFAULT 'new', rank REAL DEFAULT (1 + 1), made TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, raw BLOB)",
  "CREATE TABLE cities (code TEXT PRIMARY KEY, name TEXT)",
  "CREATE TABLE profiles (user_id INTEGER PRIMARY KEY REFERENCES users, bio TEXT)",
  "CREATE VIRTUAL TABLE pages USING fts5(title, body)",
  "CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1)",
  "INSERT INTO pages VALUES ('One', 'blue bike'), ('Two', 'green door')",
];

interface Made {
  readonly slugs: readonly string[];
  readonly skipped: readonly { readonly slug: string; readonly reason: string }[];
}

/** Makes and publishes. */
async function scaffold(world: EndpointWorld, body: object): Promise<Made> {
  const { status, text } = await world.call("POST", "/scaffold-crud", body);
  assertEquals(status, 200, text);
  const { created, skipped } = JSON.parse(text).data;
  const slugs = created.map(({ slug }: { slug: string }) => slug);
  for (const slug of slugs) assertEquals((await world.call("POST", `/${slug}/publish`)).status, 200);
  return { slugs, skipped };
}

async function call({ app }: EndpointWorld, path: string, request: { token?: string; body?: unknown } = {}) {
  const answer = await app.request(
    request.body === undefined ? "GET" : "POST",
    `/p/acme/main/${path}`,
    request,
  );
  return { status: answer.status, ...JSON.parse(answer.text) };
}

async function signUp(world: EndpointWorld, email: string): Promise<string> {
  const { token } = await call(world, "signup-user", {
    body: { email, password: "correct horse", name: "Ada" },
  });
  assert(typeof token === "string");
  return token;
}

test("a users table gives sign-up, log-in and me, and neither hash nor role goes in or out", async () => {
  await using world = await endpointWorld(TABLES);
  const { slugs, skipped } = await scaffold(world, { table: "users", shape: "app" });
  const kept = ["password-user", "logout-user", "refresh-user"];
  assertEquals([slugs, skipped], [["signup-user", "login-user", "me-user", ...kept], []]);
  await signUp(world, " ada@shop.example ");
  const credentials = { email: "ada@shop.example", password: "correct horse" };
  const { token } = await call(world, "login-user", { body: credentials });
  assertEquals(await call(world, "me-user", { token }), {
    status: 200,
    row: { id: 1, email: "ada@shop.example", name: "Ada" },
  });
  const climbing = await call(world, "signup-user", { body: { ...credentials, name: "x", role: "admin" } });
  assertEquals([climbing.status, climbing.issues[0].path], [400, "role"]);
  const { created, skipped: refused } = JSON.parse(
    (await world.call("POST", "/scaffold-crud", { table: "users", shape: "app", operations: ["list"] })).text,
  ).data;
  assertEquals([created, refused.length], [[], 1]);
});

test("what a call of create leaves out gets the column's default, also where that is a bare word or has a comment", async () => {
  await using world = await endpointWorld([
    'CREATE TABLE tasks (id INTEGER PRIMARY KEY, state TEXT DEFAULT open, kind TEXT DEFAULT "by hand", ' +
    "rank INTEGER DEFAULT (1 + 1 -- two\n), name TEXT)",
  ]);
  const { skipped } = await scaffold(world, { table: "tasks", shape: "app" });
  assertEquals(skipped, []);
  const row = { id: 1, state: "open", kind: "by hand", rank: 2, name: "x" };
  assertEquals((await call(world, "create-task", { body: { name: "x" } })).row, row);
});

test("no row with the hash of a password is published, also where the address has another name", async () => {
  await using world = await endpointWorld([
    "CREATE TABLE staff (id INTEGER PRIMARY KEY, mail TEXT UNIQUE, password_hash TEXT)",
    "INSERT INTO staff VALUES (1, 'ada@shop.example', 'pbkdf2_sha256$1$AA==$AA==')",
  ]);
  for (const body of [{}, { owner: "id" }, { operations: ["list", "get", "delete"] }]) {
    const all = { table: "staff", shape: "app", publish: true, ...body };
    const { data } = JSON.parse((await world.call("POST", "/scaffold-crud", all)).text);
    assertEquals(data.created, []);
    for (const { reason } of data.skipped) assertMatch(reason, /^Name the column of the address email, /);
  }
  assertEquals((await call(world, "list-staff")).status, 404);
  const basic = await world.call("POST", "/scaffold-crud", { table: "staff", publish: true });
  const made: { slug: string; status: string }[] = JSON.parse(basic.text).data.created;
  assertEquals(
    made.map(({ slug, status }) => [slug, status]),
    ["list-staff", "get-staff", "delete-staff"].map((
      slug,
    ) => [slug, "draft"]),
  );
  assertEquals((await call(world, "list-staff")).status, 404);
});

test("columns whose names say secret are neither shown nor taken, found by or sorted by", async () => {
  await using world = await endpointWorld([
    "CREATE TABLE users (id INTEGER PRIMARY KEY AUTOINCREMENT, email TEXT NOT NULL UNIQUE, password_hash TEXT NOT NULL, " +
    "name TEXT, reset_token TEXT DEFAULT 'r-1', otp INTEGER DEFAULT 123456)",
    "CREATE TABLE apps (id INTEGER PRIMARY KEY, name TEXT, api_token TEXT DEFAULT 't-1', privateKey JSON, secret BLOB, " +
    "token_count INTEGER, prompt_tokens INTEGER, secretary TEXT, token_expires_at TEXT)",
    "CREATE INDEX apps_token ON apps (api_token)",
    "CREATE TABLE links (refresh_token TEXT PRIMARY KEY, name TEXT)",
    "CREATE TABLE hooks (id INTEGER PRIMARY KEY, signing_key TEXT NOT NULL)",
    "CREATE VIRTUAL TABLE papers USING fts5(title, secret)",
  ]);
  await scaffold(world, { table: "users", shape: "app" });
  const { token } = await call(world, "signup-user", {
    body: { email: "ada@shop.example", password: "correct horse" },
  });
  assertEquals((await call(world, "me-user", { token })).row, {
    ...{ id: 1, email: "ada@shop.example", name: null },
  });
  assertEquals((await scaffold(world, { table: "apps", shape: "app" })).skipped, []);
  const row = {
    ...{
      id: 1,
      name: "x",
      token_count: 2,
      prompt_tokens: 3,
      secretary: "Bo",
      token_expires_at: "2026-01-01",
    },
  };
  const { id: _, ...body } = row;
  assertEquals((await call(world, "create-app", { body })).row, row);
  assertEquals((await call(world, "get-app?id=1")).row, row);
  assertEquals((await call(world, "update-app", { body: { id: 1, name: "y" } })).row, { ...row, name: "y" });
  assertEquals((await call(world, "list-apps")).columns, Object.keys(row));
  for (const path of ["list-apps?api_token=t-1", "list-apps?sort=api_token"]) {
    assertEquals((await call(world, path)).status, 400, path);
  }
  for (const path of ["create-app", "update-app"]) {
    const taken = await call(world, path, { body: { id: 1, api_token: "mine" } });
    assert(taken.issues.some((issue: { path: string }) => issue.path === "api_token"), path);
  }
  for (const table of ["links", "papers"]) {
    const { slugs, skipped } = await scaffold(world, { table, shape: "app" });
    assertEquals(slugs, []);
    for (const { reason } of skipped) assertMatch(reason, /^Rows are found by (refresh_token|secret), /);
  }
  assertEquals((await scaffold(world, { table: "hooks", shape: "app", operations: ["create"] })).skipped, [
    { slug: "create-hook", reason: "Give signing_key a DEFAULT; no caller sets it" },
  ]);
  const basic = await world.call("POST", "/scaffold-crud", { table: "links", publish: true });
  const made: { status: string }[] = JSON.parse(basic.text).data.created;
  assertEquals(made.map(({ status }) => status), Array(5).fill("draft"));
});

test("rows of an owner are seen and written by their user only, and answers are the rows", async () => {
  await using world = await endpointWorld(TABLES);
  await scaffold(world, { table: "users", shape: "app" });
  const { slugs, skipped } = await scaffold(world, { table: "notes", owner: "user_id" });
  assertEquals([slugs.length, skipped], [5, []]);
  const [ada, bob] = [await signUp(world, "ada@shop.example"), await signUp(world, "bob@shop.example")];
  const first = await call(world, "create-note", { token: ada, body: { body: "one", raw: "AAE=" } });
  const { made, ...row } = first.row;
  assertEquals(row, { id: 1, user_id: 1, body: "one", state: "new", rank: 2, raw: { $blob: "AAE=" } });
  assert(typeof made === "string");
  for (const body of ["two", "three"]) {
    assertEquals(
      (await call(world, "create-note", { token: ada, body: { body, state: "old" } })).row.state,
      "old",
    );
  }
  await call(world, "create-note", { token: bob, body: { body: "mine" } });
  const page = async (query: string) =>
    (await call(world, `list-notes?${query}`, { token: ada })).rows.map((one: unknown[]) => one[0]);
  const { nextCursor } = await call(world, "list-notes?limit=2", { token: ada });
  assertEquals([await page("limit=2"), await page(`limit=2&cursor=${nextCursor}`), await page("sort=-id")], [
    [1, 2],
    [3],
    [3, 2, 1],
  ]);
  assertEquals((await call(world, "get-note?id=4", { token: ada })).row, null);
  const taken = { id: 4, body: "taken", state: "x", made: "x" };
  assertEquals((await call(world, "update-note", { token: ada, body: taken })).row, null);
  assertEquals((await call(world, "delete-note", { token: ada, body: { id: 4 } })).rowsWritten, 0);
  assertEquals((await call(world, "update-note", { token: bob, body: taken })).row.body, "taken");
  assertEquals((await call(world, "delete-note", { token: bob, body: { id: 4 } })).rowsWritten, 1);
  assertEquals((await call(world, "create-note", { body: { body: "x" } })).status, 401);
  const forged = await call(world, "create-note", { token: bob, body: { body: "x", user_id: 1 } });
  assertEquals([forged.status, forged.issues[0].path], [400, "user_id"]);
  await scaffold(world, { table: "profiles", owner: "user_id" });
  assertEquals((await call(world, "create-profile", { token: bob, body: { bio: "b" } })).row.user_id, 2);
  assertEquals((await call(world, "get-profile", { token: bob })).row, { user_id: 2, bio: "b" });
  assertEquals((await call(world, "get-profile", { token: ada })).row, null);
});

test("an update changes what is sent, null makes NULL where it may be, and the rest stays", async () => {
  await using world = await endpointWorld([
    "CREATE TABLE tasks (id INTEGER PRIMARY KEY, title TEXT NOT NULL, note TEXT DEFAULT 'none', done BOOLEAN NOT NULL DEFAULT 0, due DATE, " +
    "ref UUID, size REAL)",
    "CREATE INDEX tasks_due ON tasks (due)",
    "INSERT INTO tasks VALUES (1, 'Write', 'soon', 0, '2026-03-01', NULL, 1.5), (2, 'Read', NULL, 1, NULL, NULL, NULL)",
  ]);
  await scaffold(world, { table: "tasks", shape: "app" });
  const update = async (body: unknown) => await call(world, "update-task", { body });
  const first = { id: 1, title: "Write", note: "soon", done: false, due: "2026-03-01", ref: null, size: 1.5 };
  assertEquals((await update({ id: 1 })).row, first);
  assertEquals((await update({ id: 1, done: true })).row, { ...first, done: true });
  const ref = "0190f0ac-7b4e-7aaa-8000-00000000000A";
  assertEquals((await update({ id: 1, note: null, due: "2026-04-02", ref })).row, {
    ...first,
    ...{ done: true, note: null, due: "2026-04-02", ref: ref.toLowerCase() },
  });
  const empty = await update({ id: 1, title: null });
  assertEquals([empty.status, empty.issues[0].path], [400, "title"]);
  for (
    const [wrong, path] of [[{ due: "2026-02-30" }, "due"], [{ ref: "x" }, "ref"], [
      { nope: 1 },
      "nope",
    ]] as const
  ) {
    const refused = await update({ id: 1, ...wrong });
    assertEquals([refused.status, refused.issues[0].path], [400, path]);
  }
  assertEquals((await update({ id: 9, title: "x" })).row, null);
  const ids = async (query: string) =>
    (await call(world, `list-tasks?${query}`)).rows.map((one: unknown[]) => one[0]);
  assertEquals([await ids("due_null=true"), await ids("due_null=false"), await ids("due_from=2026-04-01")], [
    [2],
    [1],
    [1],
  ]);
  assertEquals((await call(world, "list-tasks?due_null=true&total=true")).total, 1);
});

test("a list has room for all filters of its columns, and none takes the name of a column's own", async () => {
  const columns = [..."abcdefg"].map((name) => `${name}_at TEXT`);
  await using world = await endpointWorld([
    `CREATE TABLE days (id INTEGER PRIMARY KEY, ${columns.join(", ")}, a_at_null INTEGER)`,
    ...[..."abcdefg"].map((name) => `CREATE INDEX days_${name} ON days (${name}_at)`),
    "CREATE INDEX days_null ON days (a_at_null)",
    "INSERT INTO days (id, b_at, a_at_null) VALUES (1, NULL, 7), (2, '2026-03-01', 8)",
  ]);
  const { slugs, skipped } = await scaffold(world, { table: "days", shape: "app", operations: ["list"] });
  assertEquals([slugs, skipped], [["list-days"], []]);
  const ids = async (query: string) =>
    (await call(world, `list-days?${query}`)).rows.map((one: unknown[]) => one[0]);
  assertEquals([await ids("b_at_null=false"), await ids("a_at_null=7")], [[2], [1]]);
});

test("they may be published at once, for the pages of an origin", async () => {
  await using world = await endpointWorld(TABLES);
  const body = { table: "cities", shape: "app", cors: ["https://app.example"], publish: true };
  const { data } = JSON.parse((await world.call("POST", "/scaffold-crud", body)).text);
  assertEquals(data.created.map(({ status }: { status: string }) => status), Array(5).fill("published"));
  const { headers, status } = await world.app.request("GET", "/p/acme/main/list-cities", {
    headers: { origin: "https://app.example" },
  });
  assertEquals([status, headers.get("access-control-allow-origin")], [200, "https://app.example"]);
  const wrong = await world.call("POST", "/scaffold-crud", { ...body, cors: ["https://app.example/"] });
  assertEquals([wrong.status, wrong.body.issues?.map(({ path }) => path)], [400, ["cors[0]"]]);
});

test("booleans and JSON columns come as what they are, in every answer with rows", async () => {
  await using world = await endpointWorld([
    "CREATE TABLE plans (id INTEGER PRIMARY KEY, done BOOLEAN NOT NULL DEFAULT false, tags JSON)",
  ]);
  await scaffold(world, { table: "plans", shape: "app" });
  const row = { id: 1, done: true, tags: ["a", 1] };
  assertEquals((await call(world, "create-plan", { body: { done: true, tags: ["a", 1] } })).row, row);
  assertEquals((await call(world, "get-plan?id=1")).row, row);
  assertEquals((await call(world, "list-plans")).rows, [[1, true, ["a", 1]]]);
  assertEquals((await call(world, "create-plan", { body: {} })).row, { id: 2, done: false, tags: null });
});

test("a table of text keys has pages, a full-text table a search, and what does not fit is refused", async () => {
  await using world = await endpointWorld(TABLES);
  await scaffold(world, { table: "cities", shape: "app" });
  for (const code of ["b", "a", "!"]) {
    assertEquals((await call(world, "create-city", { body: { code } })).row, { code, name: null });
  }
  const { rows, nextCursor } = await call(world, "list-cities?limit=2&total=true");
  assertEquals(rows, [["!", null], ["a", null]]);
  assertEquals(await call(world, `list-cities?cursor=${nextCursor}&total=true`), {
    ...{ status: 200, columns: ["code", "name"], rows: [["b", null]], nextCursor: null, total: 3 },
  });
  const { slugs } = await scaffold(world, { table: "pages", shape: "app" });
  assertEquals(slugs.length, 1);
  const search = `${slugs[0]}?q=${encodeURIComponent('blue- "bi"*')}`;
  assertEquals((await call(world, search)).rows, [[1, "One", "blue bike"]]);
  const boxes = await scaffold(world, { table: "boxes", shape: "app" });
  assertEquals(boxes.skipped.map(({ reason }) => reason.split(";")[0]), ["Name a full-text table (fts5)"]);
  const bad: readonly (readonly [body: object, path: string])[] = [
    [{ table: "notes", owner: "nobody" }, "owner"],
    [{ table: "notes", owner: "user_id", shape: "basic" }, "owner"],
    [{ table: "pages", owner: "title" }, "owner"],
    [{ table: "pages", operations: ["search"] }, "operations"],
    [{ table: "notes", shape: "other" }, "shape"],
  ];
  for (const [body, path] of bad) {
    const refused = await world.call("POST", "/scaffold-crud", body);
    assertEquals([refused.status, refused.body.issues?.[0]?.path], [400, path]);
  }
});
