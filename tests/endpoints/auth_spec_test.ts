// Sign-ups and log-ins whose statement or table of users would give a session to the wrong person, or to nobody.
import { assertEquals, assertStringIncludes } from "@std/assert";
import { type EndpointWorld, endpointWorld } from "./endpoint_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test(
  "sign-ups and log-ins whose statement or table of users would give a session to the wrong person",
  run,
);

const TABLES = [
  "CREATE TABLE users (email TEXT NOT NULL UNIQUE, password_hash TEXT NOT NULL, id INTEGER PRIMARY KEY, name TEXT)",
  "CREATE TABLE members (uid TEXT PRIMARY KEY, email TEXT UNIQUE COLLATE NOCASE, password_hash TEXT)",
  "CREATE TABLE filled (uid TEXT PRIMARY KEY DEFAULT (hex(randomblob(8))), email TEXT UNIQUE, password_hash TEXT)",
  "CREATE TABLE folded (id INTEGER PRIMARY KEY, email TEXT, password_hash TEXT)",
  "CREATE UNIQUE INDEX folded_email ON folded (lower(email))",
  "CREATE TABLE blobs (id BLOB PRIMARY KEY DEFAULT (randomblob(16)), email TEXT UNIQUE, password_hash TEXT)",
  "CREATE TABLE typeless (id PRIMARY KEY DEFAULT (hex(randomblob(8))), email TEXT UNIQUE, password_hash TEXT)",
  "CREATE TABLE keyless (email TEXT UNIQUE, password_hash TEXT)",
  "CREATE TABLE pairs (shop INTEGER, id INTEGER, email TEXT UNIQUE, password_hash TEXT, PRIMARY KEY (shop, id))",
  "CREATE TABLE shared (id INTEGER PRIMARY KEY, shop INTEGER, email TEXT, password_hash TEXT, UNIQUE (shop, email))",
  "CREATE TABLE some (id INTEGER PRIMARY KEY, email TEXT, password_hash TEXT)",
  "CREATE UNIQUE INDEX some_email ON some (email) WHERE id > 0",
  "CREATE TABLE replacing (id INTEGER PRIMARY KEY, email TEXT UNIQUE ON CONFLICT REPLACE, password_hash TEXT)",
  "CREATE TABLE greeted (id INTEGER PRIMARY KEY, hello TEXT AS ('Hi ' || email), email TEXT UNIQUE, password_hash TEXT)",
  "CREATE VIEW seen AS SELECT * FROM users",
  "CREATE TRIGGER seen_insert INSTEAD OF INSERT ON seen BEGIN " +
  "INSERT INTO users (email, password_hash) VALUES (new.email, new.password_hash); END",
];
const input = [
  { name: "email", type: "email", required: true },
  { name: "password", type: "text", required: true },
];
const base = { name: "Auth", method: "POST", output: "session", input };
const config = (usersTable: string) => ({ usersTable, passwordColumn: "password_hash" });
const signup = (sql: string, usersTable = "users") => ({
  ...{ ...base, slug: "signup", kind: "auth_signup", sql, authConfig: config(usersTable) },
});
const login = (sql: string, usersTable = "users") => ({
  ...{ ...base, slug: "login", kind: "auth_login", sql, authConfig: config(usersTable) },
});
const into = (table: string, end = "RETURNING id") =>
  `INSERT INTO ${table} (email, password_hash) VALUES (?, ?) ${end}`;

const accepted: readonly Record<string, unknown>[] = [
  signup(into("users")),
  signup(into("users", "RETURNING password_hash, id")),
  signup(into("users", "RETURNING *")),
  signup(into("users", "RETURNING rowid")),
  signup(into("users", "RETURNING lower(email), id AS user")),
  signup(into("users", "ON CONFLICT DO NOTHING RETURNING id")),
  signup("INSERT INTO users VALUES (lower(?), ?, NULL, NULL) RETURNING id"),
  signup("INSERT INTO users (email, password_hash) SELECT ?, ? WHERE 1 RETURNING id"),
  signup(
    "INSERT INTO members (uid, email, password_hash) VALUES (hex(randomblob(8)), ?, ?) RETURNING uid",
    "members",
  ),
  signup(into("filled", "RETURNING uid"), "filled"),
  signup(into("typeless"), "typeless"),
  signup(into("folded"), "folded"),
  signup("INSERT INTO greeted VALUES (NULL, ?, ?) RETURNING id", "greeted"),
  login("SELECT * FROM users WHERE email = ?"),
  login("SELECT u.password_hash, u.id AS user FROM Users AS u WHERE u.email = ?"),
  login("SELECT rowid, password_hash FROM users WHERE email = ?"),
  login("WITH u AS (SELECT id, password_hash FROM users WHERE email = ?) SELECT * FROM u"),
  login("SELECT uid, password_hash FROM members WHERE email = ?", "members"),
];

const refused: readonly (readonly [spec: Record<string, unknown>, path: string, message: string])[] = [
  [signup(into("users", "RETURNING password_hash")), "sql", "RETURNING id"],
  [signup(into("users", "RETURNING email")), "sql", "RETURNING id"],
  [signup(into("users", "RETURNING password_hash AS id")), "sql", "RETURNING id"],
  [signup(into("users", "RETURNING id + 1 AS id")), "sql", "RETURNING id"],
  [login("SELECT email, password_hash FROM users WHERE email = ?"), "sql", "primary key, id"],
  [login("SELECT id, name AS password_hash FROM users WHERE email = ?"), "sql", "password_hash"],
  [login("SELECT password_hash AS id, password_hash FROM users WHERE email = ?"), "sql", "primary key, id"],
  [
    signup(
      into("users", "ON CONFLICT (email) DO UPDATE SET password_hash = excluded.password_hash RETURNING id"),
    ),
    "sql",
    "Remove DO UPDATE",
  ],
  [signup(into("users").replace("INSERT", "INSERT OR REPLACE")), "sql", "Write an INSERT"],
  [signup(into("replacing"), "replacing"), "sql", "INSERT OR ABORT"],
  [
    signup("INSERT INTO users (password_hash, email) VALUES (?, ?) RETURNING id"),
    "sql",
    "Put the input email into email; its placeholder is number 1, which goes into password_hash",
  ],
  [
    signup("INSERT INTO users (password_hash, email) VALUES (:email, :password) RETURNING id"),
    "sql",
    "Put the input email into email",
  ],
  [
    signup("INSERT INTO users (email, name, password_hash) VALUES (?, ?, '') RETURNING id"),
    "sql",
    "password",
  ],
  [signup(into("members", "RETURNING uid"), "members"), "sql", "Give uid a value"],
  [signup(into("seen")), "sql", "Write an INSERT into the users table"],
  [
    signup(into("keyless", "RETURNING rowid"), "keyless"),
    "authConfig.usersTable",
    "primary key of one column",
  ],
  [signup(into("blobs"), "blobs"), "authConfig.usersTable", "Declare id INTEGER or TEXT"],
  [
    login("SELECT id, password_hash FROM pairs WHERE email = ?", "pairs"),
    "authConfig.usersTable",
    "one column",
  ],
  [
    login("SELECT id, password_hash FROM shared WHERE email = ?", "shared"),
    "authConfig.emailColumn",
    'CREATE UNIQUE INDEX "shared_email" ON "shared" (lower("email"))',
  ],
  [login("SELECT id, password_hash FROM some WHERE email = ?", "some"), "authConfig.emailColumn", "unique"],
];

async function save(world: EndpointWorld, spec: Record<string, unknown>, n: number) {
  return await world.call("POST", "", { ...spec, slug: `${spec["slug"]}-${n}` });
}

test("sign-ups and log-ins that show the key of the users table are saved", async () => {
  await using world = await endpointWorld(TABLES);
  for (const [n, spec] of accepted.entries()) {
    const { status, text } = await save(world, spec, n);
    assertEquals(status, 201, `${spec["sql"]}: ${text}`);
  }
});

test("sign-ups and log-ins that would name another user, change one or know none are refused", async () => {
  await using world = await endpointWorld(TABLES);
  for (const [n, [spec, path, message]] of refused.entries()) {
    const { status, body, text } = await save(world, spec, n);
    assertEquals([status, body.code], [400, "validation_failed"], `${spec["sql"]}: ${text}`);
    assertEquals(body.issues?.map((issue) => issue.path), [path], `${spec["sql"]}: ${text}`);
    assertStringIncludes(body.issues?.[0]?.message ?? "", message, String(spec["sql"]));
  }
});

test("what the issue of an email column that is not unique tells to do is the way out", async () => {
  await using world = await endpointWorld(TABLES);
  const spec = login("SELECT id, password_hash FROM shared WHERE email = ?", "shared");
  const { body } = await world.call("POST", "", spec);
  const [statement] = /CREATE .*$/.exec(body.issues?.[0]?.message ?? "") ?? [];
  assertEquals((await world.tenant.query(statement ?? "")).status, 200, statement);
  assertEquals((await world.call("POST", "", spec)).status, 201);
});
