// Whose session a sign-up or log-in answers with: the user's whose primary key it is, wherever the statement shows it.
import { assertEquals } from "@std/assert";
import { decodeJwt } from "jose";
import type { EndpointSpec } from "../../lib/core/endpoint_spec.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { type PublishedApp, publishedApp } from "./publish.ts";

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

Deno.test("the session of a sign-up carries the key, whatever RETURNING shows beside it", async () => {
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

Deno.test("the session of a log-in carries the key, whatever is selected beside it", async () => {
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

Deno.test("a key that moves to another place in the schema is found there", async () => {
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

Deno.test("without a key to show nobody gets a session, and a sign-up leaves no row", async () => {
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

Deno.test("a user whose key is NULL cannot log in", async () => {
  const table = "CREATE TABLE users (id TEXT PRIMARY KEY, email TEXT UNIQUE, password_hash TEXT)";
  await using world = await publishedApp({ setup: [table] });
  await signup(world, "INSERT INTO users (id, email, password_hash) VALUES ('a', ?, ?) RETURNING id");
  await login(world, "SELECT id, password_hash FROM users WHERE email = ?");
  assertEquals(await subject(world, "signup", "ada@shop.example"), "a");
  assertEquals(await subject(world, "login", "ada@shop.example"), "a");
  await world.acme.query("UPDATE users SET id = NULL WHERE id = 'a'");
  assertEquals(await subject(world, "login", "ada@shop.example"), "sql_error");
});

Deno.test("a sign-up that does nothing on a conflict says that the account exists and leaves it alone", async () => {
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
