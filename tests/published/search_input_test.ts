// Searches that strangers type: nothing that they write is an operator of the engine, unless the owner takes plain text.
import { assertEquals } from "@std/assert";
import type { FieldSpec } from "../../lib/core/endpoint_spec.ts";
import { quotedWords } from "../../lib/sql/grammar/match_words.ts";
import { issuePaths, type PublishedApp, publishedApp } from "./publish.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("searches that strangers type", run);

const SETUP = [
  "CREATE VIRTUAL TABLE xfts USING fts5(xbody, tokenize = 'unicode61')",
  "INSERT INTO xfts (xbody) VALUES ('a blue-green bike'), ('the green door NOT blue'), ('Größe AND Gewicht'), ('x')",
];

async function searchable(type: FieldSpec["type"], sql = "SELECT rowid FROM xfts WHERE xfts MATCH ?") {
  const world = await publishedApp({ setup: SETUP });
  const input: FieldSpec[] = [{ name: "q", type, required: true, maxLength: 12 }];
  await world.put({ slug: "search", method: "POST", sql: `${sql} ORDER BY rowid`, input });
  return world;
}

async function found(world: PublishedApp, q: string): Promise<unknown> {
  const answer = await world.call("search", { body: { q } });
  return answer.status === 200 ? JSON.parse(answer.text).rows.flat() : answer.text;
}

test("an input of type match finds words, phrases and beginnings, and takes every sign for a sign", async () => {
  await using world = await searchable("match");
  const cases: readonly (readonly [q: string, rows: readonly number[]])[] = [
    ["blue", [1, 2]],
    ["blue-green", [1]],
    ["green blue", [1, 2]],
    ["gr*", [1, 2, 3]],
    ['"green door"', [2]],
    ['"door green"', []],
    ['"the gr"*', [2]],
    ["NOT blue", [2]],
    ["größe AND", [3]],
    ['green "', [1, 2]],
    ["xbody:green", []],
    ["^green - +", [1, 2]],
    ["blue OR x", []],
  ];
  for (const [q, rows] of cases) assertEquals(await found(world, q), rows, q);
});

test("a search without a word, with too many or above its length names the input", async () => {
  await using world = await searchable("match");
  for (const q of ["", " ", '"', "*", "-- ''", "(", "a".repeat(13), "a\u0000"]) {
    assertEquals(issuePaths(await world.call("search", { body: { q } })), ["q"], JSON.stringify(q));
  }
  assertEquals((await world.call("search", { body: { q: "b".repeat(12) } })).status, 200);
  assertEquals(quotedWords("a ".repeat(64))?.words, 64);
  const input: FieldSpec[] = [{ name: "q", type: "match" }];
  const sql = "SELECT rowid FROM xfts WHERE xfts MATCH ?";
  await world.put({ slug: "long", method: "POST", sql, input });
  assertEquals((await world.call("long", { body: { q: "a ".repeat(64) } })).status, 200);
  assertEquals(issuePaths(await world.call("long", { body: { q: "a ".repeat(65) } })), ["q"]);
});

test("a long row of stars in front of a letter is looked at once, and not for minutes", async () => {
  await using world = await searchable("match");
  const q = `${"*".repeat(500_000)}a`;
  assertEquals(issuePaths(await world.call("search", { body: { q } })), ["q"]);
  assertEquals(quotedWords("gr** ***")?.query, '"gr"*');
});

test("of a search with a thousand words or signs no more is read than that there are too many", async () => {
  await using world = await searchable("match");
  for (const q of ["a ".repeat(200_000), "* ".repeat(200_000), '"" '.repeat(2000) + "a"]) {
    assertEquals(issuePaths(await world.call("search", { body: { q } })), ["q"]);
    assertEquals(quotedWords(q), { query: "", words: 1001 });
  }
  assertEquals(quotedWords(`${"- ".repeat(900)}a`)?.query, '"a"');
});

test("a text that MATCH cannot read is 400 of that input and tells nothing of the schema", async () => {
  const forms = [
    "SELECT rowid FROM xfts WHERE xfts MATCH ?",
    "SELECT rowid FROM xfts WHERE xfts MATCH :q",
    "SELECT rowid FROM xfts(?)",
  ];
  for (const sql of forms) {
    await using world = await searchable("text", sql);
    assertEquals(await found(world, "blue OR x"), [1, 2, 4]);
    for (const q of ['"', "a AND", "none:a", "*", "NEAR(", "a\\"]) {
      const answer = await world.call("search", { body: { q } });
      assertEquals(issuePaths(answer), ["q"], q);
      assertEquals(/xfts|xbody|none|fts5|syntax/.test(answer.text), false, answer.text);
    }
  }
});
