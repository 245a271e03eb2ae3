// A session of a sign-up or log-in lives while its user is there: the row of its key, with its address, in its table.
import { assert, assertEquals } from "@std/assert";
import { decodeJwt } from "jose";
import type { EndpointSpec } from "../../lib/core/endpoint_spec.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { type PublishedApp, publishedApp } from "./publish.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("a session of a sign-up or log-in lives while its user is there", run);

const table = (name: string, key = "INTEGER PRIMARY KEY") =>
  `CREATE TABLE ${name} (id ${key}, email TEXT UNIQUE NOT NULL, password_hash TEXT NOT NULL)`;
const NOTES = "CREATE TABLE notes (id INTEGER PRIMARY KEY, owner, text TEXT)";
const password = "correct horse";

/** `join-<table>` and, with a session, `notes` to read and `note` to write. */
async function withUsers(setup: readonly string[], tables = ["users"]): Promise<PublishedApp> {
  const world = await publishedApp({ setup: [...setup, NOTES] });
  for (const name of tables) {
    await world.put({
      ...{ slug: `join-${name}`, kind: "auth_signup", method: "POST", output: "session" },
      sql: `INSERT INTO ${name} (email, password_hash) VALUES (?, ?) RETURNING id`,
      input: [{ name: "email", type: "email", required: true }, {
        name: "password",
        type: "text",
        required: true,
      }],
      authConfig: { usersTable: name, passwordColumn: "password_hash" },
    });
  }
  await world.put(gated("notes", "SELECT text FROM notes WHERE owner = ?"));
  await world.put({
    ...gated("note", "INSERT INTO notes (owner, text) VALUES (?, 'mine')"),
    ...{ kind: "mutation", method: "POST", output: "rows_written" },
  });
  return world;
}

function gated(slug: string, sql: string): Partial<EndpointSpec> & { slug: string } {
  return { slug, sql, auth: "session", input: [{ name: "$user_id", type: "text" }] };
}

async function join(world: PublishedApp, email: string, name = "users"): Promise<string> {
  const { status, text } = await world.call(`join-${name}`, { body: { email, password } });
  assertEquals(status, 200, text);
  return JSON.parse(text).token;
}

const read = (world: PublishedApp, token: string, slug = "notes") => world.call(slug, { token });
const write = (world: PublishedApp, token: string) => world.call("note", { token, body: {} });

async function assertDead(world: PublishedApp, token: string): Promise<void> {
  for (const answer of [await read(world, token), await write(world, token)]) {
    assertEquals([answer.status, answer.body.code], [401, "session_invalid"], answer.text);
    assertEquals(answer.headers.get("www-authenticate"), "Bearer");
    assert(!/users|email|overflow/.test(answer.text.replace("another database's", "")), answer.text);
  }
}

test("the session of a user who was deleted reads and writes nothing of the next one with the same key", async () => {
  await using world = await withUsers([table("users")]);
  const ada = await join(world, "ada@shop.example");
  assertEquals(decodeJwt(ada)["ut"], "users");
  assertEquals((await write(world, ada)).status, 200);
  await world.acme.query("DELETE FROM users");
  await assertDead(world, ada);
  const eve = await join(world, "eve@shop.example");
  assertEquals(decodeJwt(eve).sub, decodeJwt(ada).sub);
  await assertDead(world, ada);
  assertEquals((await write(world, eve)).status, 200);
  assertEquals(rowsOf(await world.acme.query("SELECT count(*) FROM notes")), [[2]]);
});

test("a session ends with its user's address, its users table, and what the table is called", async () => {
  const changes = [
    "UPDATE users SET email = 'new@shop.example'",
    "ALTER TABLE users RENAME TO people",
    "ALTER TABLE users RENAME COLUMN email TO mail",
    "ALTER TABLE users RENAME COLUMN id TO number",
    "DROP TABLE users",
  ];
  for (const sql of changes) {
    await using world = await withUsers([table("users")]);
    const ada = await join(world, "ada@shop.example");
    assertEquals((await read(world, ada)).status, 200, sql);
    assertEquals((await world.acme.query(sql)).status, 200, sql);
    // The key's own name is nothing that a session is bound to.
    if (sql.includes("id TO number")) assertEquals((await read(world, ada)).status, 200, sql);
    else await assertDead(world, ada);
  }
});

test("a session lives on when the schema changes beside its user", async () => {
  await using world = await withUsers([table("users")]);
  const ada = await join(world, "ada@shop.example");
  assertEquals((await write(world, ada)).status, 200);
  await world.acme.query("ALTER TABLE users ADD COLUMN nick TEXT");
  assertEquals((await write(world, ada)).status, 200);
  await world.acme.query("ALTER TABLE notes ADD COLUMN at TEXT");
  assertEquals((await read(world, ada)).body, JSON.parse('{"columns":["text"],"rows":[["mine"],["mine"]]}'));
});

test("keys of any kind tell their user: numbers, texts, large numbers, columns without a type", async () => {
  const keys = [
    ["INTEGER PRIMARY KEY", "7"],
    ["INTEGER PRIMARY KEY", "9007199254740993"],
    ["TEXT PRIMARY KEY", "'7'"],
    ["TEXT PRIMARY KEY", "'u-é'"],
    ["PRIMARY KEY", "7"],
    ["PRIMARY KEY", "'x'"],
  ];
  for (const [key = "", value = ""] of keys) {
    await using world = await withUsers([table("users", key)]);
    await world.put({
      ...{ slug: "join-users", kind: "auth_signup", method: "POST", output: "session" },
      sql: `INSERT INTO users (id, email, password_hash) VALUES (${value}, ?, ?) RETURNING id`,
      input: [{ name: "email", type: "email", required: true }, {
        name: "password",
        type: "text",
        required: true,
      }],
      authConfig: { usersTable: "users", passwordColumn: "password_hash" },
    });
    const ada = await join(world, "ada@shop.example");
    assertEquals((await read(world, ada)).status, 200, `${key} ${value}`);
    await world.acme.query("DELETE FROM users");
    await assertDead(world, ada);
  }
});

test("another column with the address is the one that counts", async () => {
  const users =
    "CREATE TABLE users (id INTEGER PRIMARY KEY, login TEXT UNIQUE, email TEXT, password_hash TEXT)";
  await using world = await withUsers([users]);
  await world.put({
    ...{ slug: "join-users", kind: "auth_signup", method: "POST", output: "session" },
    sql: "INSERT INTO users (login, password_hash) VALUES (?, ?) RETURNING id",
    input: [{ name: "email", type: "email", required: true }, {
      name: "password",
      type: "text",
      required: true,
    }],
    authConfig: { usersTable: "users", emailColumn: "login", passwordColumn: "password_hash" },
  });
  const ada = await join(world, "ada@shop.example");
  assertEquals((await read(world, ada)).status, 200);
  await world.acme.query("UPDATE users SET email = 'other@shop.example'");
  assertEquals((await read(world, ada)).status, 200);
  await world.acme.query("UPDATE users SET login = 'other@shop.example'");
  await assertDead(world, ada);
});

test("a session of one users table is nobody's at endpoints about another one", async () => {
  const tables = [
    table("admins"),
    table("customers"),
    "CREATE TABLE audits (id INTEGER PRIMARY KEY, admin INTEGER REFERENCES admins, text TEXT)",
  ];
  await using world = await withUsers(tables, ["admins", "customers"]);
  const admin = await join(world, "root@shop.example", "admins");
  const customer = await join(world, "ada@shop.example", "customers");
  assertEquals(decodeJwt(admin).sub, decodeJwt(customer).sub);
  await world.put(gated("admin", "SELECT email FROM admins WHERE id = ?"));
  await world.put(gated("audits", "SELECT text FROM audits WHERE admin = ?"));
  await world.put(gated("customer", "SELECT email FROM customers WHERE id = ?"));
  for (const slug of ["admin", "audits"]) {
    assertEquals((await read(world, admin, slug)).status, 200, slug);
    const refused = await read(world, customer, slug);
    assertEquals([refused.status, refused.body.code], [401, "session_invalid"], slug);
  }
  assertEquals((await read(world, customer, "customer")).status, 200);
  assertEquals((await read(world, admin, "customer")).status, 401);
  assertEquals((await read(world, customer)).status, 200);
});

test("an address that was given to one users table opens nothing that is about another one", async () => {
  await using world = await withUsers([table("admins"), table("customers")], ["admins", "customers"]);
  const admin = await join(world, "root@shop.example", "admins");
  const customer = await join(world, "root@shop.example", "customers");
  const input = [{ name: "$user_email", type: "text" as const }];
  await world.put({ ...gated("admin", "SELECT email FROM admins WHERE email = ?"), input });
  await world.put({ ...gated("owned", "SELECT text FROM notes WHERE owner = ?"), input });
  assertEquals((await read(world, admin, "admin")).status, 200);
  const refused = await read(world, customer, "admin");
  assertEquals([refused.status, refused.body.code], [401, "session_invalid"]);
  assertEquals((await read(world, customer, "owned")).status, 200);
});

test("a session that the owner's server mints is vouched for by it, whoever is in the users table", async () => {
  await using world = await withUsers([table("users")]);
  const minted = await world.app.request("POST", "/v1/sessions", {
    token: world.acme.token,
    body: { namespaceSlug: "acme", databaseSlug: "main", userId: "41", email: "no@shop.example" },
  });
  const { data: { token } } = JSON.parse(minted.text);
  assertEquals(decodeJwt(token)["ut"], undefined);
  assertEquals((await read(world, token)).status, 200);
  assertEquals((await write(world, token)).status, 200);
});

test("a write of a user who is deleted at the same moment happens before or not at all", async () => {
  await using world = await withUsers([table("users")]);
  for (let round = 0; round < 8; round++) {
    const ada = await join(world, `ada${round}@shop.example`);
    await world.acme.query("DELETE FROM notes");
    const [wrote] = await Promise.all([
      write(world, ada),
      world.acme.batch([["DELETE FROM users"], ["UPDATE notes SET text = 'seen'"]], { transaction: true }),
    ]);
    const notes = rowsOf(await world.acme.query("SELECT text FROM notes"));
    assertEquals(notes, wrote.status === 200 ? [["seen"]] : [], wrote.text);
  }
});

test("a write that a constraint stops is no dead session, whatever stops it at the commit", async () => {
  await using world = await withUsers([
    table("users"),
    "CREATE TABLE pets (id INTEGER PRIMARY KEY, kind INTEGER REFERENCES item DEFERRABLE INITIALLY DEFERRED)",
  ]);
  await world.put({
    ...gated("pet", "INSERT INTO pets (kind) VALUES (99 + length(?))"),
    ...{ kind: "mutation", method: "POST", output: "rows_written" },
  });
  const ada = await join(world, "ada@shop.example");
  const answer = await world.call("pet", { token: ada, body: {} });
  assertEquals([answer.status, answer.body.errorDetail?.kind], [400, "foreign_key_violation"], answer.text);
});

test("a question of a user who is gone is not answered", async () => {
  await using world = await withUsers([table("users")]);
  await world.put({
    ...{ slug: "ask", kind: "ask", method: "POST", output: "answer", sql: "", auth: "session" },
    input: [{ name: "question", type: "text", required: true }],
    askConfig: { allowedTables: ["item"] },
  });
  const ada = await join(world, "ada@shop.example");
  const ask = () => world.call("ask", { token: ada, body: { question: "how many items are there?" } });
  const answered = await ask();
  assertEquals(answered.status, 200, answered.text);
  await world.acme.query("DELETE FROM users");
  assertEquals((await ask()).body.code, "session_invalid");
});

test("a users table that another instance takes away and brings back is seen at the next call", async () => {
  await using world = await withUsers([table("users")]);
  const ada = await join(world, "ada@shop.example");
  assertEquals((await read(world, ada)).status, 200);
  const namespace = await world.app.deps.control.namespaces.bySlug("acme");
  assert(namespace);
  const tenant = world.app.deps.tenants.open({
    databaseId: world.acme.database.id,
    namespaceId: namespace.id,
  });
  // The service's own statements tell the pipeline nothing of a change, as those of another instance do not.
  const elsewhere = (sql: string) => tenant.write([{ sql, params: [] }]);
  await elsewhere("ALTER TABLE users RENAME TO people");
  await assertDead(world, ada);
  await elsewhere("ALTER TABLE people RENAME TO users");
  await read(world, ada);
  assertEquals((await read(world, ada)).status, 200);
});

/** Eleven wrong guesses at an address: the first ten are answered 401. */
async function lock(world: PublishedApp, slug: string, email: string): Promise<void> {
  const statuses = [];
  for (let i = 0; i < 11; i++) {
    statuses.push((await world.call(slug, { body: { email, password: "wrong horse" } })).status);
  }
  assertEquals(statuses, [...Array.from({ length: 10 }, () => 401), 429]);
}

test("guesses at a user lock no other one who has the same key, later or in another users table", async () => {
  await using world = await withUsers([table("users"), table("staff")], ["users", "staff"]);
  for (const name of ["users", "staff"]) {
    await world.put({
      ...{ slug: `login-${name}`, kind: "auth_login", method: "POST", output: "session" },
      sql: `SELECT id, password_hash FROM ${name} WHERE email = ?`,
      input: [{ name: "email", type: "email", required: true }, {
        name: "password",
        type: "text",
        required: true,
      }],
      authConfig: { usersTable: name, passwordColumn: "password_hash" },
    });
  }
  const keys = [
    await join(world, "ada@shop.example"),
    await join(world, "ada@shop.example", "staff"),
  ];
  await lock(world, "login-users", "ada@shop.example");
  const login = (slug: string, email: string) => world.call(slug, { body: { email, password } });
  assertEquals((await login("login-staff", "ada@shop.example")).status, 200);
  await world.acme.query("DELETE FROM users");
  keys.push(await join(world, "eve@shop.example"));
  assertEquals(new Set(keys.map((token) => decodeJwt(token).sub)).size, 1);
  assertEquals((await login("login-users", "eve@shop.example")).status, 200);
  await lock(world, "login-users", "eve@shop.example");
});
