// Long texts are read in a thread of their own: they mean there what they mean here, and nobody else waits for them.
import { assertEquals } from "@std/assert";
import { FactsCache } from "../../lib/query/facts_cache.ts";
import { LONG_TEXT, LongTexts } from "../../lib/query/long_texts.ts";
import { readSyntax } from "../../lib/sql/grammar/syntax.ts";
import { sendForm } from "../console/open_page.ts";
import { connectMcp } from "../mcp/mcp_client.ts";
import type { ApiAnswer } from "../testing/call_api.ts";
import { oneStore } from "../testing/cases.ts";
import { signIn } from "../testing/person.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import type { TestNamespace } from "../testing/test_namespace.ts";

const { run, test, testOneProcess } = oneStore();
Deno.test("long texts", run);

/** So deep that the grammar, at its end, refuses it. */
const DEEP = "(".repeat(400_000) + "1" + ")".repeat(400_000);
const LONG_LIST = `1${",1".repeat(LONG_TEXT)}`;

test("a text means in the thread what it means here, whatever the order in which they come", async () => {
  const texts = [
    `SELECT ${DEEP}`,
    `INSERT INTO t (a) VALUES (?${",?".repeat(LONG_TEXT)})`,
    `UPDATE t SET a = 1 WHERE id IN (${LONG_LIST})`,
    `SELECT :name, ${LONG_LIST}`,
    `ALTER TABLE t RENAME TO u -- ${" ".repeat(LONG_TEXT)}`,
    `CREATE TABLE u AS SELECT * FROM t WHERE id IN (${LONG_LIST})`,
    `PRAGMA table_info(t) -- ${" ".repeat(LONG_TEXT)}`,
    `SELECT '${"a".repeat(LONG_TEXT)}\u0000'`,
    `DROP TABLE t; DROP TABLE u -- ${" ".repeat(LONG_TEXT)}`,
    "SELECT 1",
  ];
  const thread = new LongTexts();
  try {
    for (const round of [texts, texts.toReversed()]) {
      const read = await Promise.all(round.map((sql) => thread.read("syntax", [sql])));
      assertEquals(read.flat(), round.map(readSyntax));
      assertEquals(await thread.read("syntax", round), read.flat());
    }
  } finally {
    thread.close();
  }
});

/** How a text comes in, and what is said of it. */
interface Door {
  readonly sql: string;
  readonly says: string;
  readonly send: (app: StartedApp, tenant: TestNamespace, sql: string) => Promise<ApiAnswer>;
}

const deep = { sql: `SELECT ${DEEP}`, says: "Nest the statement less deeply" };
const doors: Readonly<Record<string, Door>> = {
  query: { ...deep, send: (_, tenant, sql) => tenant.query(sql) },
  batch: { ...deep, send: (_, tenant, sql) => tenant.batch([["SELECT 1"], [sql]]) },
  "a client of libSQL": {
    ...deep,
    send: (app, { token, slug, database }, sql) => {
      const requests = [{ type: "execute", stmt: { sql } }];
      return app.request("POST", `/hrana/${slug}/${database.slug}/v3/pipeline`, {
        token,
        body: { requests },
      });
    },
  },
  "a script that a client of libSQL names many times": {
    sql: `${"SELECT 'abcdefghijklmnopqrstuvwxyz';".repeat(9000)} ATTACH 'x' AS y`,
    says: "ATTACH",
    send: (app, { token, slug, database }, sql) => {
      const script = { type: "sequence", sql_id: 1 };
      const requests = [{ type: "store_sql", sql_id: 1, sql }, ...Array.from({ length: 50 }, () => script)];
      return app.request("POST", `/hrana/${slug}/${database.slug}/v3/pipeline`, {
        token,
        body: { requests },
      });
    },
  },
  propose: {
    ...deep,
    send: (app, { token, database }, sql) =>
      app.request("POST", `${database.path}/propose`, { token, body: { sql } }),
  },
  "a file of migrations": {
    sql: "SELECT 1;".repeat(100_000),
    says: "a file has at most 1000 statements",
    send: (app, { token, database }, sql) => {
      const files = [{ name: "1", sql }];
      return app.request("POST", `${database.path}/migrations`, { token, body: { files } });
    },
  },
};

for (const [door, { sql, says, send }] of Object.entries(doors)) {
  testOneProcess(`others are answered while a long text is read: ${door}`, async () => {
    await using app = await startApp();
    const tenant = await app.namespace();
    await tenant.query("SELECT 1");
    const answered: string[] = [];
    const long = send(app, tenant, sql).then((answer) => {
      answered.push("long");
      return answer;
    });
    for (let at = 0; at < 5; at++) {
      assertEquals((await tenant.query("SELECT 1")).status, 200);
      answered.push("short");
    }
    assertEquals((await long).text.includes(says), true);
    // Read at once it would come first, or behind the one that was there already; on a busy machine it may overtake the last ones.
    assertEquals([answered.length, answered.indexOf("long") >= 2], [6, true], answered.join(" "));
  });
}

test("what a client of libSQL sends is cut and numbered in the thread too", async () => {
  await using app = await startApp();
  const { token, slug, database } = await app.namespace();
  const script = "SELECT 1;".repeat(LONG_TEXT / 5);
  const named = `SELECT :a IN (${LONG_LIST})`;
  const requests = [{ type: "sequence", sql: script }, { type: "describe", sql: named }];
  const path = `/hrana/${slug}/${database.slug}/v3/pipeline`;
  const answer = await app.request("POST", path, { token, body: { requests } });
  assertEquals(answer.status, 200, answer.text);
  const { facts } = app.deps.query;
  assertEquals(facts.ahead("parts", script)?.length, LONG_TEXT / 5);
  assertEquals(facts.ahead("own", named)?.names, [":a"]);
  assertEquals(facts.ahead("numbered", named)?.names, [":a"]);
});

test("validate reads a long text in the thread", async () => {
  await using app = await startApp();
  const { token, database } = await app.namespace();
  const sql = `SELECT 1 IN (${LONG_LIST})`;
  const answer = await app.request("POST", `${database.path}/validate`, { token, body: { sql } });
  assertEquals(answer.status, 200, answer.text);
  assertEquals(app.deps.query.facts.ahead("syntax", sql)?.ok, true);
});

test("an agent's and a person's reads of a long text are read in the thread, and so is where they end", async () => {
  await using app = await startApp();
  const { token, slug, database } = await app.namespace();
  const { facts } = app.deps.query;
  const mcp = await connectMcp(app.app, { token });
  const read = `SELECT 1 IN (${LONG_LIST})`;
  await mcp.done("query", { sql: read });
  assertEquals(facts.ahead("end", read), { end: read.length, isValues: false });
  await mcp.client.close();
  const typed = `SELECT 2 IN (${LONG_LIST})`;
  const person = await signIn(app, { role: "viewer", namespace: slug });
  const path = `/console/${slug}/db/${database.slug}/sql`;
  const { text } = await sendForm(app, { path, fields: { sql: `${typed};`, do: "run" }, person });
  assertEquals(text.includes("Rows 1 to 1 of 1"), true, text);
  assertEquals(facts.ahead("parts", `${typed};`)?.length, 1);
  assertEquals(facts.ahead("syntax", typed)?.ok, true);
  assertEquals(facts.ahead("end", typed)?.end, typed.length);
});

test("what a CREATE TABLE AS selects is known from the first reading: the store reads no text again", async () => {
  await using app = await startApp();
  const { slug, database } = await app.namespace();
  const namespace = await app.deps.control.namespaces.bySlug(slug);
  const target = app.deps.tenants.open({ databaseId: database.id, namespaceId: namespace?.id ?? "" });
  const written = "CREATE TABLE u AS SELECT 1 AS written";
  const parts = { name: "u", ifNotExists: false, select: "SELECT 1 AS told" };
  const { facts, failure } = await target.inspect([
    { sql: written, changesSchema: true, tableAs: parts },
    { sql: "SELECT told FROM u", changesSchema: false },
  ]);
  assertEquals([facts.length, failure], [2, null]);
  const read = readSyntax(written);
  assertEquals(read.ok && read.syntax.tableAs, { ...parts, select: "SELECT 1 AS written" });
});

test("the short texts of a long call stay known when the thread has ended", async () => {
  const thread = new LongTexts();
  const facts = new FactsCache(thread);
  const long = `SELECT 1 IN (${LONG_LIST})`;
  await facts.readAhead(["SELECT 1", long]);
  const known = facts.syntax("SELECT 1");
  thread.close();
  assertEquals([facts.ahead("syntax", "SELECT 1"), facts.ahead("syntax", long)], [undefined, undefined]);
  assertEquals(facts.syntax("SELECT 1") === known, true);
});
