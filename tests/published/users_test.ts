// Whose session a sign-up or log-in answers with: the user's whose primary key it is, wherever the statement shows it.
import { assertEquals } from "@std/assert";
import { decodeJwt } from "jose";
import type { EndpointSpec } from "../../lib/core/endpoint_spec.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { type PublishedApp, publishedApp } from "./publish.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("whose session a sign-up or log-in answers with", run);

const USERS =
  "CREATE TABLE users (email TEXT UNIQUE NOT NULL, password_hash TEXT NOT NULL, id INTEGER PRIMARY KEY)";
const common: Pick<EndpointSpec, "method" | "output" | "input" | "authConfig"> = {
  method: "POST",
  output: "session",
  input: [
    { name: "email", type: "email", required: true },
    { name: "password", type: "text", required: true },
  ],
  authConfig: { usersTable: "users", passwordColumn: "password_hash" },
};
const password = "correct horse";

function signup(world: PublishedApp, sql: string): Promise<void> {
  return world.put({ ...common, slug: "signup", kind: "auth_signup", sql });
}

function login(world: PublishedApp, sql: string): Promise<void> {
  return world.put({ ...common, slug: "login", kind: "auth_login", sql });
}

/** The answer's `sub`, or its code where it is none. */
async function subject(world: PublishedApp, slug: string, email: string): Promise<string | undefined> {
  const { status, text, body } = await world.call(slug, { body: { email, password } });
  return status === 200 ? decodeJwt(JSON.parse(text).token).sub : body.code;
}

/** The claim `email` of the answer's session. */
async function claimedEmail(world: PublishedApp, slug: string, input: object): Promise<unknown> {
  const { status, text } = await world.call(slug, { body: { password, ...input } });
  assertEquals(status, 200, text);
  return decodeJwt(JSON.parse(text).token)["email"];
}

test("the session of a sign-up carries the key, whatever RETURNING shows beside it", async () => {
  await using world = await publishedApp({ setup: [USERS] });
  const ends = [
    "id",
    "password_hash, id",
    "*",
    "rowid",
    "upper(email), id AS number",
    "email AS id, rowid AS x",
  ];
  for (const [at, end] of ends.entries()) {
    await signup(world, `INSERT INTO users (email, password_hash) VALUES (?, ?) RETURNING ${end}`);
    assertEquals(await subject(world, "signup", `u${at}@shop.example`), String(at + 1), end);
  }
});

test("the session of a log-in carries the key, whatever is selected beside it", async () => {
  await using world = await publishedApp({ setup: [USERS, "INSERT INTO users VALUES ('x', 'x', 40)"] });
  await signup(world, "INSERT INTO users (email, password_hash) VALUES (?, ?) RETURNING id");
  assertEquals(await subject(world, "signup", "ada@shop.example"), "41");
  const statements = [
    "SELECT * FROM users WHERE email = ?",
    "SELECT password_hash, email, id FROM users WHERE email = ?",
    "SELECT email AS id, u.password_hash AS secret, u.id AS number FROM users AS u WHERE email = ?",
    "SELECT i.id, u.* FROM users AS u JOIN item AS i ON i.id = 1 WHERE u.email = ?",
    "SELECT rowid, password_hash FROM users WHERE email = ?",
    "WITH u AS (SELECT email, id, password_hash FROM users) SELECT * FROM u WHERE email = ?",
  ];
  for (const sql of statements) {
    await login(world, sql);
    assertEquals(await subject(world, "login", "ada@shop.example"), "41", sql);
  }
});

test("a key that moves to another place in the schema is found there", async () => {
  await using world = await publishedApp({ setup: [USERS] });
  await signup(world, "INSERT INTO users (email, password_hash) VALUES (?, ?) RETURNING *");
  await login(world, "SELECT * FROM users WHERE email = ?");
  assertEquals(await subject(world, "signup", "ada@shop.example"), "1");
  assertEquals(await subject(world, "login", "ada@shop.example"), "1");
  const moved = "CREATE TABLE moved (id INTEGER PRIMARY KEY, email TEXT UNIQUE, password_hash TEXT)";
  const changes = [
    moved,
    "INSERT INTO moved SELECT id + 6, email, password_hash FROM users",
    "DROP TABLE users",
  ];
  await world.acme.batch([...changes, "ALTER TABLE moved RENAME TO users"].map((sql) => [sql] as const));
  assertEquals(await subject(world, "login", "ada@shop.example"), "7");
  assertEquals(await subject(world, "signup", "eve@shop.example"), "8");
});

test("without a key to show nobody gets a session, and a sign-up leaves no row", async () => {
  await using world = await publishedApp({ setup: [USERS] });
  await signup(
    world,
    "INSERT INTO users (email, password_hash) VALUES (?, ?) RETURNING password_hash, email",
  );
  assertEquals(await subject(world, "signup", "ada@shop.example"), "sql_error");
  assertEquals(rowsOf(await world.acme.query("SELECT count(*) FROM users")), [[0]]);
  await signup(world, "INSERT INTO users (email, password_hash) VALUES (?, ?) RETURNING id");
  assertEquals(await subject(world, "signup", "ada@shop.example"), "1");
  await login(world, "SELECT email, password_hash FROM users WHERE email = ?");
  assertEquals(await subject(world, "login", "ada@shop.example"), "sql_error");
});

test("a user whose key is NULL cannot log in", async () => {
  const table = "CREATE TABLE users (id TEXT PRIMARY KEY, email TEXT UNIQUE, password_hash TEXT)";
  await using world = await publishedApp({ setup: [table] });
  await signup(world, "INSERT INTO users (id, email, password_hash) VALUES ('a', ?, ?) RETURNING id");
  await login(world, "SELECT id, password_hash FROM users WHERE email = ?");
  assertEquals(await subject(world, "signup", "ada@shop.example"), "a");
  assertEquals(await subject(world, "login", "ada@shop.example"), "a");
  await world.acme.query("UPDATE users SET id = NULL WHERE id = 'a'");
  assertEquals(await subject(world, "login", "ada@shop.example"), "sql_error");
});

test("a sign-up that does nothing on a conflict says that the account exists and leaves it alone", async () => {
  await using world = await publishedApp({ setup: [USERS] });
  const insert = "INSERT INTO users (email, password_hash) VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING id";
  await signup(world, insert);
  await login(world, "SELECT id, password_hash FROM users WHERE email = ?");
  assertEquals(await subject(world, "signup", "ada@shop.example"), "1");
  const stranger = { email: "ada@shop.example", password: "another horse" };
  assertEquals((await world.call("signup", { body: stranger })).body.code, "account_exists");
  assertEquals((await world.call("login", { body: stranger })).body.code, "login_failed");
  assertEquals(await subject(world, "login", "ada@shop.example"), "1");
});

test("a sign-up with a free address and a name that somebody has says that the name is taken", async () => {
  const named =
    "CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT NOT NULL, password_hash TEXT NOT NULL, " +
    "name TEXT NOT NULL, phone TEXT UNIQUE)";
  const indexes = [
    "CREATE UNIQUE INDEX m ON users (lower(email))",
    "CREATE UNIQUE INDEX n ON users (lower(name))",
  ];
  await using world = await publishedApp({ setup: [named, ...indexes] });
  const text = { type: "text", required: true } as const;
  const input = [...common.input ?? [], { name: "name", ...text }, { name: "phone", ...text }];
  const sql = "INSERT INTO users (email, password_hash, name, phone) VALUES (?, ?, ?, ?)";
  await world.put({ ...common, slug: "signup", kind: "auth_signup", input, sql: `${sql} RETURNING id` });
  const quiet = `${sql} ON CONFLICT DO NOTHING RETURNING id`;
  await world.put({ ...common, slug: "quiet", kind: "auth_signup", input, sql: quiet });
  const ada = { email: "ada@shop.example", password, name: "Ada", phone: "1" };
  assertEquals((await world.call("signup", { body: ada })).status, 200);
  const told = async (slug: string, other: object) => {
    const { status, body } = await world.call(slug, { body: { ...ada, ...other } });
    return [status, body.code, ...body.issues?.map(({ path }) => path) ?? []];
  };
  const free = { email: "bob@shop.example" };
  assertEquals(await told("signup", { ...free, name: "Bob" }), [409, "value_taken", "phone"]);
  assertEquals(await told("signup", { ...free, phone: "2" }), [409, "value_taken"]);
  assertEquals(await told("quiet", free), [409, "value_taken"]);
  assertEquals(await told("signup", { email: "ADA@shop.example" }), [409, "account_exists"]);
  assertEquals(await told("quiet", {}), [409, "account_exists"]);
});

test("the session of a log-in carries the address of the users table, never what was typed", async () => {
  const users = "CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT UNIQUE COLLATE NOCASE, " +
    "username TEXT UNIQUE, password_hash TEXT)";
  await using world = await publishedApp({ setup: [users] });
  const typed = { name: "email", type: "text", required: true } as const;
  await world.put({
    ...{ ...common, slug: "signup", kind: "auth_signup" },
    sql: "INSERT INTO users (email, password_hash, username) VALUES (?, ?, ?) RETURNING id",
    input: [...common.input, { name: "username", type: "text" }],
  });
  const victim = "victim@corp.example";
  const mallory = { email: "mallory@evil.example", username: victim };
  assertEquals(await claimedEmail(world, "signup", mallory), mallory.email);
  const statements = [
    "SELECT id, password_hash FROM users WHERE ? IN (email, username)",
    "SELECT id, password_hash, username AS email FROM users WHERE username = ?",
    "SELECT id, password_hash, email FROM users WHERE username = ?",
    "WITH u AS (SELECT id, password_hash, username AS email FROM users) SELECT * FROM u WHERE email = ?",
  ];
  for (const sql of statements) {
    await world.put({
      ...common,
      slug: "login",
      kind: "auth_login",
      sql,
      input: [typed, ...common.input.slice(1)],
    });
    assertEquals(await claimedEmail(world, "login", { email: victim }), mallory.email, sql);
  }
  const docs = { slug: "docs", auth: "session", sql: "SELECT ?" } as const;
  await world.put({ ...docs, input: [{ name: "$user_email", type: "text", required: true }] });
  const { text } = await world.call("login", { body: { email: victim, password } });
  const { text: seen } = await world.call("docs", { token: JSON.parse(text).token });
  assertEquals(JSON.parse(seen).rows, [[mallory.email]]);
  await world.acme.query("UPDATE users SET email = NULL");
  assertEquals(await claimedEmail(world, "login", { email: victim }), undefined);
});

test("the session of a sign-up carries the address as the statement and its triggers have stored it", async () => {
  await using world = await publishedApp({ setup: [USERS] });
  await signup(world, "INSERT INTO users (email, password_hash) VALUES (lower(?), ?) RETURNING id");
  assertEquals(await claimedEmail(world, "signup", { email: "Ada@Shop.Example" }), "ada@shop.example");
  await login(world, "SELECT id, password_hash FROM users WHERE email = lower(?)");
  assertEquals(await claimedEmail(world, "login", { email: "ADA@shop.example" }), "ada@shop.example");
  await world.acme.query(
    "CREATE TRIGGER marked AFTER INSERT ON users BEGIN UPDATE users SET email = 'new.' || email WHERE id = new.id; END",
  );
  await signup(world, "INSERT INTO users (email, password_hash) VALUES (?, ?) RETURNING *");
  assertEquals(await claimedEmail(world, "signup", { email: "eve@shop.example" }), "new.eve@shop.example");
});
