// Inputs by name: `:name` and `$user_id` bind the value of that input wherever they stand, and nothing else changes.
import { assertEquals } from "@std/assert";
import type { FieldSpec } from "../../lib/core/endpoint_spec.ts";
import { type PublishedApp, publishedApp } from "./publish.ts";
import { oneStore } from "../testing/cases.ts";
import { rowsOf } from "../testing/test_namespace.ts";

const { run, test } = oneStore();
Deno.test("inputs by name", run);

const authConfig = { usersTable: "people", passwordColumn: "password_hash" } as const;
const credentials: FieldSpec[] = [
  { name: "email", type: "email", required: true },
  { name: "password", type: "text", required: true },
];

async function withPeople(): Promise<PublishedApp> {
  const world = await publishedApp({
    setup: [
      "CREATE TABLE people (id INTEGER PRIMARY KEY, email TEXT UNIQUE NOT NULL, password_hash TEXT NOT NULL)",
    ],
  });
  const auth = { method: "POST", output: "session", input: credentials, authConfig } as const;
  await world.put({
    ...{ slug: "join", kind: "auth_signup", ...auth },
    sql: "INSERT INTO people (password_hash, email) VALUES (:password, :email) RETURNING id",
  });
  await world.put({
    ...{ slug: "enter", kind: "auth_login", ...auth },
    sql: "SELECT id, password_hash FROM people WHERE email = :email OR lower(email) = lower(:email)",
  });
  return world;
}

test("a name is the input's value wherever it stands, and is no name in a text or a comment", async () => {
  await using world = await publishedApp();
  await world.put({
    slug: "near",
    sql: "SELECT '😀 :by' AS t, price /* :none */ FROM item " +
      "WHERE price BETWEEN :price - :by AND :price + :by ORDER BY abs(price - :price), id -- :none ?",
    input: [{ name: "by", type: "number", default: 1 }, { name: "price", type: "number" }],
  });
  const near = async (query: string) => JSON.parse((await world.call(`near?${query}`)).text).rows;
  assertEquals(await near("price=2"), [["😀 :by", 1.5], ["😀 :by", 2.5]]);
  assertEquals(await near("price=3&by=0.5"), [["😀 :by", 2.5], ["😀 :by", 3.5]]);
  const log = await world.acme.query("SELECT sql FROM _service_meta_query_log WHERE operation = 'endpoint'");
  assertEquals(rowsOf(log).map(([sql]) => /BETWEEN (.*) ORDER/.exec(String(sql))?.[1]), [
    "?1 - ?2 AND ?1 + ?2",
    "?1 - ?2 AND ?1 + ?2",
  ]);
});

test("a failure names the input whose name stands at the column", async () => {
  await using world = await publishedApp();
  await world.put({
    ...{ slug: "add", kind: "mutation", method: "POST", output: "rows_written" },
    sql: "INSERT INTO item (price, owner, name) VALUES (length(:nick), :owner, :nick)",
    input: [{ name: "owner", type: "integer" }, { name: "nick", type: "text" }],
  });
  assertEquals((await world.call("add", { body: { nick: "four", owner: 4 } })).status, 200);
  const again = await world.call("add", { body: { nick: "four", owner: 5 } });
  assertEquals([again.status, again.body.issues?.map(({ path }) => path)], [400, ["nick"]]);
  assertEquals(rowsOf(await world.acme.query("SELECT price, owner FROM item WHERE name = 'four'")), [[4, 4]]);
});

test("sign-up, log-in and the session's own fields go by name too", async () => {
  await using world = await withPeople();
  await world.put({
    slug: "mine",
    auth: "session",
    sql: "SELECT $user_id, :$user_email, typeof($user_id) WHERE $user_id = :id",
    input: ["id", "$user_email", "$user_id"].map((name) => ({
      name,
      type: name === "$user_email" ? "text" : "integer",
    })),
  });
  const person = { email: "Ada@shop.example", password: "correct horse" };
  assertEquals((await world.call("join", { body: person })).status, 200);
  const wrong = { ...person, password: "correct horsf" };
  assertEquals((await world.call("enter", { body: wrong })).status, 401);
  const entered = await world.call("enter", { body: { ...person, email: "ADA@shop.example" } });
  const { token } = JSON.parse(entered.text);
  const mine = await world.call("mine?id=1", { token });
  assertEquals(JSON.parse(mine.text).rows, [[1, "ada@shop.example", "integer"]]);
});
