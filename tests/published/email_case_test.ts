// One address is one account, whatever its case.
import { assertEquals } from "@std/assert";
import { decodeJwt } from "jose";
import { oneStore } from "../testing/cases.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { type AccountWorld, accountWorld, outcome, PASSWORD, tokenOf, USERS } from "./account_world.ts";

const { run, test } = oneStore();
Deno.test("addresses in any case", run);

const slugs = ["signup", "login", "me"];
const columns =
  "id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, password_hash TEXT NOT NULL, verified_at TEXT";
const login = async (world: AccountWorld, email: string) => {
  const answer = await world.post("login", { email, password: PASSWORD });
  return answer.status === 200 ? decodeJwt(tokenOf(answer))["email"] : answer.status;
};
const join = (world: AccountWorld, email: string) => world.post("signup", { email, password: PASSWORD });

for (
  const [name, setup, kept] of [
    [
      "an index on lower(email)",
      [USERS, "CREATE UNIQUE INDEX e ON users (lower(email))"],
      "Ada@Shop.example",
    ],
    [
      "an index on upper(email)",
      [USERS, "CREATE UNIQUE INDEX e ON users (upper(email))"],
      "Ada@Shop.example",
    ],
    ["a column COLLATE NOCASE", [
      `CREATE TABLE users (${columns.replace("UNIQUE", "COLLATE NOCASE UNIQUE")})`,
    ], "Ada@Shop.example"],
    ["a plain UNIQUE column", [`CREATE TABLE users (${columns})`], "ada@shop.example"],
  ] as const
) {
  test(`with ${name} one address is one account`, async () => {
    await using world = await accountWorld({ slugs, setup });
    assertEquals(decodeJwt(tokenOf(await join(world, "Ada@Shop.example")))["email"], kept);
    for (const email of ["ada@shop.example", "ADA@SHOP.EXAMPLE", "Ada@Shop.example"]) {
      assertEquals(outcome(await join(world, email)), [409, "account_exists"], email);
      assertEquals(await login(world, email), kept, email);
    }
    assertEquals(rowsOf(await world.acme.query("SELECT email FROM users")), [[kept]]);
  });
}

test("rows in mixed case from before are found by their own spelling, and never as somebody else", async () => {
  await using world = await accountWorld({ slugs, setup: [`CREATE TABLE users (${columns})`] });
  await join(world, "ada@shop.example");
  const copy = (email: string) =>
    world.acme.query(
      "INSERT INTO users (email, password_hash) SELECT ?, password_hash FROM users WHERE id = 1",
      [email],
    );
  await copy("Ada@shop.example");
  await copy("Bob@shop.example");
  assertEquals(await login(world, "Ada@shop.example"), "Ada@shop.example");
  assertEquals(await login(world, "ada@shop.example"), "ada@shop.example");
  // Two accounts are meant, and neither is spelled so: it is the one in lower case, as sign-ups write it.
  assertEquals(await login(world, "ADA@shop.example"), "ada@shop.example");
  assertEquals([await login(world, "Bob@shop.example"), await login(world, "bob@shop.example")], [
    "Bob@shop.example",
    401,
  ]);
  assertEquals(outcome(await join(world, "Bob@shop.example")), [409, "account_exists"]);
});

test("no statement of an endpoint saves a password as it is sent", async () => {
  await using world = await accountWorld({ slugs, setup: [`CREATE TABLE users (${columns})`] });
  const input = [{ name: "id", type: "integer" }, { name: "secret", type: "text" }];
  const save = (sql: string, more: object = {}) =>
    world.manage("POST", "", {
      ...{
        slug: "save",
        name: "Save",
        kind: "mutation",
        method: "POST",
        output: "rows_written",
        input,
        sql,
        ...more,
      },
    });
  const plain = [
    "UPDATE users SET password_hash = :secret WHERE id = :id",
    'UPDATE users SET "Password_Hash" = lower(:secret) WHERE id = :id',
    "UPDATE users SET (email, password_hash) = (:id, :secret)",
    "INSERT INTO users (id, email, password_hash) VALUES (:id, 'a', :secret)",
    "INSERT INTO users (password_hash, id, email) VALUES ('', 1, 'b'), (:secret, :id, 'a')",
    "INSERT INTO users VALUES (:id, 'a', :secret, NULL)",
    "INSERT INTO users (id, email, password_hash) SELECT :id, 'a', 'x' || :secret",
    "INSERT INTO users (id, email, password_hash) VALUES (:id, 'a', '') ON CONFLICT DO UPDATE SET password_hash = :secret",
    "DELETE FROM users WHERE id = :id; INSERT INTO users (email, password_hash) VALUES ('a', :secret)",
  ];
  for (const sql of plain) {
    const { status, body, text } = await save(sql);
    assertEquals([status, body.issues?.map(({ path }) => path)], [400, ["sql"]], `${sql}: ${text}`);
  }
  const kept = [
    "UPDATE users SET password_hash = '', email = :secret WHERE id = :id",
    "INSERT INTO users (id, email, password_hash) VALUES (:id, :secret, '')",
    "UPDATE users SET email = :secret WHERE id = :id AND password_hash <> ''",
  ];
  for (const sql of kept) {
    const { status, text } = await save(sql);
    assertEquals(status, 201, `${sql}: ${text}`);
    await world.manage("DELETE", "/save");
  }
});
