// Mutations that are sent again under a key: one effect, the same answer, and nobody gets another's.
import { assertEquals, assertStringIncludes } from "@std/assert";
import { issuePaths, JOIN, PEOPLE, type PublishedApp, publishedApp } from "./publish.ts";
import { oneStore } from "../testing/cases.ts";
import { rowsOf } from "../testing/test_namespace.ts";

const { run, test } = oneStore();
Deno.test("repeated mutations", run);

const KEY = "0123456789abcdef";
const keyed = (key: string) => ({ "idempotency-key": key });

async function world(): Promise<PublishedApp> {
  const made = await publishedApp({
    setup: [
      PEOPLE,
      "CREATE TABLE note (id INTEGER PRIMARY KEY, owner INTEGER, body TEXT CHECK (body <> 'no'))",
    ],
  });
  await made.put(JOIN);
  const note = { kind: "mutation", method: "POST", output: "first_row" } as const;
  await made.put({
    ...{ slug: "open-note", ...note },
    sql: "INSERT INTO note (body) VALUES (?) RETURNING id, body",
    input: [{ name: "body", type: "text" }],
  });
  await made.put({
    ...{ slug: "own-note", ...note, auth: "session" },
    sql: "INSERT INTO note (owner, body) VALUES ($user_id, :body) RETURNING id, owner, $session_iat",
    input: [
      { name: "$user_id", type: "integer" },
      { name: "$session_iat", type: "integer" },
      { name: "body", type: "text" },
    ],
  });
  return made;
}

async function tokenOf(made: PublishedApp, email: string): Promise<string> {
  const { text } = await made.call("join", { body: { email, password: "correct horse" } });
  return JSON.parse(text).token;
}

const notes = async ({ acme }: PublishedApp) => rowsOf(await acme.query("SELECT count(*) FROM note"))[0]?.[0];

test("a mutation under one key runs once and answers the same bytes, many at a time too", async () => {
  await using made = await world();
  const send = () => made.call("open-note", { body: { body: "one" }, headers: keyed(KEY) });
  const answers = await Promise.all(Array.from({ length: 12 }, send));
  assertEquals(
    new Set(answers.map(({ status, text }) => `${status} ${text}`)),
    new Set([
      '200 {"row":{"id":1,"body":"one"}}',
    ]),
  );
  const first = answers.filter(({ headers }) => headers.get("idempotency-replayed") === null);
  assertEquals([first.length, await notes(made)], [1, 1]);
  const other = await made.call("open-note", { body: { body: "two" }, headers: keyed(KEY) });
  assertEquals([other.status, other.body.code], [422, "replay_mismatch"]);
  const digits = { ...keyed(KEY), "x-integers": "string" };
  const form = await made.call("open-note", { body: { body: "one" }, headers: digits });
  assertEquals([form.status, form.body.code], [422, "replay_mismatch"]);
  assertEquals((await made.call("open-note", { body: { body: "one" } })).status, 200);
  assertEquals(await notes(made), 2);
});

test("a key belongs to the user of a session; callers without one send a long one", async () => {
  await using made = await world();
  const [ada, bob] = [await tokenOf(made, "ada@shop.example"), await tokenOf(made, "bob@shop.example")];
  const send = (token: string, key = "k") =>
    made.call("own-note", { token, body: { body: "mine" }, headers: keyed(key) });
  const first = await send(ada);
  assertEquals(JSON.parse(first.text).row.owner, 1);
  assertEquals((await send(ada)).text, first.text);
  assertEquals(JSON.parse((await send(bob)).text).row.owner, 2);
  assertEquals(await notes(made), 2);
  for (const key of ["k", "0123456789abcde", "a b", ""]) {
    const short = await made.call("open-note", { body: { body: "x" }, headers: keyed(key) });
    assertEquals(issuePaths(short), ["Idempotency-Key"], key);
  }
  assertEquals(issuePaths(await send(ada, "a".repeat(201))), ["Idempotency-Key"]);
  assertEquals((await made.call("own-note", { body: { body: "x" }, headers: keyed("k") })).status, 401);
});

test("a repetition is answered only while its session lives, and never to the next user with the same key", async () => {
  const ends = [
    ["the user is deleted", "DELETE FROM people"],
    ["another password", "UPDATE people SET password_hash = replace(password_hash, '$', '$x')"],
    ["another address", "UPDATE people SET email = 'eve@shop.example'"],
    ["the table is dropped", "DROP TABLE people"],
  ] as const;
  for (const [what, sql] of ends) {
    await using made = await world();
    const ada = await tokenOf(made, "ada@shop.example");
    const send = (token: string) =>
      made.call("own-note", { token, body: { body: "mine" }, headers: keyed("note-17") });
    assertEquals((await send(ada)).status, 200);
    assertEquals((await send(ada)).headers.get("idempotency-replayed"), "true");
    await made.acme.query(sql);
    const late = await send(ada);
    assertEquals([late.status, late.body.code], [401, "session_invalid"], what);
    if (!sql.startsWith("DELETE")) continue;
    const bob = await send(await tokenOf(made, "bob@shop.example"));
    assertEquals([bob.status, bob.headers.get("idempotency-replayed")], [200, null], bob.text);
    assertEquals([JSON.parse(bob.text).row.id, JSON.parse(bob.text).row.owner], [2, 1]);
    assertEquals([(await send(ada)).status, await notes(made)], [401, 2]);
  }
});

test("a call that failed keeps no key, and the description tells of the header", async () => {
  await using made = await world();
  const send = (body: string) => made.call("open-note", { body: { body }, headers: keyed(KEY) });
  assertEquals((await send("no")).status, 400);
  assertEquals((await send("yes")).status, 200);
  assertEquals(await notes(made), 1);
  const { text } = await made.call("openapi.json");
  const [{ name, schema }] = JSON.parse(text).paths["/open-note"].post.parameters.slice(-1);
  assertEquals([name, schema.minLength], ["Idempotency-Key", 16]);
  assertStringIncludes((await made.call("client.ts")).text, "idempotencyKey?: string");
});

test("an edit of the statement ends the answers of its keys, and no key runs twice for it", async () => {
  await using made = await world();
  const send = () => made.call("open-note", { body: { body: "one" }, headers: keyed(KEY) });
  const said = ({ status, body, headers }: Awaited<ReturnType<typeof send>>) => [
    ...[status, body.code ?? null, headers.get("idempotency-replayed")],
  ];
  const path = `/api/namespaces/${made.acme.slug}/databases/main/endpoints/open-note`;
  const manage = async (method: string, under: string, body?: unknown) => {
    const { token } = made.acme;
    const answer = await made.app.request(method, `${path}${under}`, {
      token,
      ...(body === undefined ? {} : { body }),
    });
    assertEquals(answer.status, 200, answer.text);
  };
  const first = await send();
  assertEquals(said(first), [200, null, null]);
  await manage("PATCH", "", { description: "Notes of anybody", rateLimit: { perMin: 100 } });
  const again = await send();
  assertEquals([said(again), again.text], [[200, null, "true"], first.text]);

  await manage("PATCH", "", { sql: "INSERT INTO note (body) VALUES (?) RETURNING id" });
  assertEquals(said(await send()), [422, "replay_mismatch", null]);
  await manage("POST", "/revisions/1/restore");
  assertEquals((await send()).text, first.text);

  await manage("POST", "/pause");
  assertEquals(said(await send()), [503, "endpoint_paused", null]);
  await manage("POST", "/unpublish");
  assertEquals(said(await send()), [404, "endpoint_not_found", null]);
  await manage("DELETE", "");
  assertEquals(said(await send()), [404, "endpoint_not_found", null]);
  await made.put({
    ...{ slug: "open-note", kind: "mutation", method: "POST", output: "rows_written" },
    sql: "DELETE FROM note WHERE body = ?",
    input: [{ name: "body", type: "text" }],
  });
  assertEquals(said(await send()), [422, "replay_mismatch", null]);
  assertEquals(await notes(made), 1);
});

test("an answer that an endpoint keeps is that of one database, never of its branch", async () => {
  await using made = await world();
  const { acme, app } = made;
  assertEquals((await made.call("open-note", { body: { body: "x" }, headers: keyed(KEY) })).status, 200);
  const claimed = await app.request("POST", `/v1/db/${acme.slug}/main/claim_branch`, {
    token: acme.token,
    body: { purpose: "try", ref: "try" },
  });
  assertEquals(claimed.status, 201, claimed.text);
  const onBranch = await app.request("POST", `/p/${acme.slug}/main@try/open-note`, {
    body: { body: "x" },
    headers: keyed(KEY),
  });
  assertEquals([onBranch.status, onBranch.headers.get("idempotency-replayed")], [200, null], onBranch.text);
  assertEquals(await notes(made), 1);
});

test("a key at what only reads brings back no earlier answer", async () => {
  await using made = await world();
  await made.put({ slug: "item" });
  const send = () => made.call("item?id=1", { headers: keyed(KEY) });
  const before = await send();
  assertEquals(before.status, 200, before.text);
  await made.acme.setup("UPDATE item SET name = 'another' WHERE id = 1");
  const after = await send();
  assertEquals([after.status, after.headers.get("idempotency-replayed")], [200, null]);
  assertStringIncludes(after.text, "another");
});
