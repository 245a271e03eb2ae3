// X-Integers: string on published endpoints, and what it means to caches and browsers.
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { issuePaths, publishedApp } from "./publish.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("integers of endpoints as strings", run);

const headers = { "x-integers": "string" };

test("X-Integers: string turns every INTEGER of a published answer into a string, and other values are refused", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "item" });
  await world.put({ slug: "first", output: "first_row", sql: "SELECT id, price FROM item WHERE id = ?" });
  await world.put({
    ...{ slug: "raise", kind: "mutation", method: "POST", output: "rows" },
    sql: "UPDATE item SET price = price + 1 WHERE id = ? RETURNING id, price",
  });
  await world.put({
    ...{ slug: "ask", kind: "ask", method: "POST", output: "answer", sql: "" },
    input: [{ name: "question", type: "text", required: true }],
    askConfig: { allowedTables: ["item"] },
  });
  const read = async (path: string, more = {}) =>
    JSON.parse((await world.call(path, { headers, ...more })).text);
  assertEquals((await read("item?id=2")).rows, [["2", "two"]]);
  assertEquals((await read("first?id=2")).row, { id: "2", price: 2.5 });
  assertEquals((await read("raise", { body: { id: 2 } })).rows, [["2", 3.5]]);
  assertEquals((await read("ask", { body: { question: "How many items are there?" } })).rows, [["3"]]);
  assertEquals((await read("item?id=2", { headers: {} })).rows, [[2, "two"]]);
  for (const [path, more] of [["item?id=2", {}], ["raise", { body: { id: 2 } }]] as const) {
    const odd = await world.call(path, { ...more, headers: { "x-integers": "text" } });
    assertEquals([odd.status, odd.body.issues?.map(({ path }) => path)], [400, ["X-Integers"]]);
  }
  assertEquals((await read("first?id=2")).row, { id: "2", price: 3.5 });
  const test = await world.app.request("POST", "/api/namespaces/acme/databases/main/endpoints/item/test", {
    ...{ token: world.acme.token, headers, body: { input: { id: 2 } } },
  });
  assertEquals(JSON.parse(test.text).data.body.rows, [["2", "two"]], test.text);
});

test("a cache that may keep an answer is told that X-Integers changes it, and browsers may send it", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "kept", cacheSec: 60 });
  await world.put({ slug: "listed", cacheSec: 60, cors: ["https://shop.example"] });
  await world.put({ slug: "fresh" });
  const vary = async (path: string, more = {}) =>
    (await world.call(path, { headers: { ...headers, ...more } })).headers.get("vary");
  assertEquals(await vary("kept?id=1"), "X-Integers");
  assertEquals(await vary("listed?id=1"), "Origin, X-Integers");
  assertEquals(await vary("fresh?id=1"), null);
  const plain = (await world.call("kept?id=1")).headers.get("etag") ?? "";
  assert(plain !== "");
  const other = await world.call("kept?id=1", { headers: { ...headers, "if-none-match": plain } });
  assertEquals([other.status, other.text], [200, '{"columns":["id","name"],"rows":[["1","one"]]}']);
  const same = await world.call("kept?id=1", { headers: { "if-none-match": plain } });
  assertEquals([same.status, same.headers.get("vary")], [304, "X-Integers"]);
  const asked = await world.call("listed", {
    method: "OPTIONS",
    headers: { origin: "https://shop.example", "access-control-request-method": "GET" },
  });
  assertStringIncludes(asked.headers.get("access-control-allow-headers") ?? "", "X-Integers");
});

test("signup and login refuse X-Integers, which their answers have nothing for; guesses count as ever", async () => {
  await using world = await publishedApp({
    setup: ["CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT UNIQUE, password_hash TEXT)"],
  });
  const auth = {
    ...{ method: "POST", output: "session" } as const,
    input: [{ name: "email", type: "email", required: true }, {
      name: "password",
      type: "text",
      required: true,
    }],
    authConfig: { usersTable: "users", emailColumn: "email", passwordColumn: "password_hash" },
  } as const;
  const sql = "SELECT id, password_hash FROM users WHERE email LIKE ?";
  await world.put({
    ...{ ...auth, input: [...auth.input], slug: "signup", kind: "auth_signup" },
    sql: "INSERT INTO users (email, password_hash) VALUES (?, ?) RETURNING id",
  });
  await world.put({ ...auth, input: [...auth.input], slug: "login", kind: "auth_login", sql });
  const person = { email: "ada@shop.example", password: "correct horse" };
  for (const slug of ["signup", "login"]) {
    assertEquals(issuePaths(await world.call(slug, { body: person, headers })), ["X-Integers"]);
  }
  const signedUp = await world.call("signup", { body: person });
  assertEquals(signedUp.status, 200, signedUp.text);
  // Other spellings of the address, which only the account behind them counts together.
  const guess = (at: number) => ({
    email: `${"_".repeat(at)}${person.email.slice(at)}`,
    password: "wrong horse",
  });
  for (let at = 0; at < 10; at++) {
    const answer = await world.call("login", { body: guess(at % 3) });
    assertEquals(answer.status, 401, answer.text);
  }
  assertEquals((await world.call("login", { body: person })).status, 429);
});
