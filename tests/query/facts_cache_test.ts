// What the process remembers of statements: for as many databases as it serves, and one object for all that are alike.
import { assert, assertEquals } from "@std/assert";
import { FactsCache } from "../../lib/query/facts_cache.ts";
import { joinFacts, noEngineFacts, type StatementFacts } from "../../lib/sql/grammar/statement_facts.ts";

const SQL = "SELECT a FROM t WHERE id = ?";

function factsOf(cache: FactsCache, table: string): StatementFacts {
  const read = cache.syntax(SQL);
  assert(read.ok);
  return joinFacts(read.syntax, { ...noEngineFacts, tablesRead: [table] });
}

Deno.test("facts of ten thousand databases of one schema are remembered, as one object", () => {
  const cache = new FactsCache();
  for (let at = 0; at < 10_000; at++) cache.put(`db_${at}`, at, SQL, factsOf(cache, "t"));
  const first = cache.get("db_0", SQL);
  assertEquals(first?.tablesRead, ["t"]);
  for (let at = 0; at < 10_000; at++) assert(cache.get(`db_${at}`, SQL) === first);
  assertEquals([cache.schemaVersion("db_0"), cache.schemaVersion("db_9999")], [0, 9999]);
});

Deno.test("the same text means in each database what its own schema says, whatever others say before and after", () => {
  const cache = new FactsCache();
  const tables = ["t", "v", "t", "v"];
  for (const [at, table] of tables.entries()) cache.put(`db_${at}`, 1, SQL, factsOf(cache, table));
  assertEquals(tables.map((_, at) => cache.get(`db_${at}`, SQL)?.tablesRead), tables.map((table) => [table]));
  cache.seen("db_0", 2);
  assertEquals(cache.get("db_0", SQL), undefined);
  assertEquals(cache.get("db_2", SQL)?.tablesRead, ["t"]);
  cache.put("db_0", 2, SQL, factsOf(cache, "v"));
  assertEquals(cache.get("db_0", SQL)?.tablesRead, ["v"]);
  assertEquals(cache.get("db_2", SQL)?.tablesRead, ["t"]);
});

Deno.test("facts of all databases together are bounded; the database that learned first is forgotten first", () => {
  const cache = new FactsCache();
  const facts = factsOf(cache, "t");
  for (let at = 0; at < 420; at++) {
    for (let text = 0; text < 500; text++) cache.put(`db_${at}`, 1, `${SQL} -- ${text}`, facts);
  }
  const known = Array.from({ length: 420 }, (_, at) => cache.get(`db_${at}`, `${SQL} -- 499`) !== undefined);
  assertEquals(known, known.map((_, at) => at >= 20));
  // A change of its schema makes room for others.
  for (let at = 20; at < 420; at++) cache.seen(`db_${at}`, 2);
  for (let at = 0; at < 400; at++) cache.put(`db_${at}`, 1, SQL, facts);
  assert(
    Array.from({ length: 400 }, (_, at) => cache.get(`db_${at}`, SQL)).every((one) => one !== undefined),
  );
});

Deno.test("a schema that a hundred others have followed is presumed of no database", () => {
  const cache = new FactsCache();
  const text = (schema: number) => `${SQL} -- ${schema}`;
  for (let schema = 0; schema <= 100; schema++) {
    cache.seen(`db_${schema}`, 1, `schema ${schema}`);
    cache.put(`db_${schema}`, 1, text(schema), factsOf(cache, "t"));
  }
  assertEquals(cache.likelySchema("db_new", text(0)), null);
  assertEquals(cache.likelySchema("db_new", text(1))?.text, "schema 1");
  assertEquals(cache.likelySchema("db_new", text(1))?.facts(text(2)), undefined);
  // Told again it is another schema, of which nothing is known.
  cache.seen("db_again", 1, "schema 0");
  assertEquals(cache.get("db_again", text(0)), undefined);
  assertEquals(cache.get("db_0", text(0))?.tablesRead, ["t"]);
});

Deno.test("long texts of all databases together are bounded by their length, and so are long schemas", () => {
  const cache = new FactsCache();
  const facts = factsOf(cache, "t");
  const long = "x".repeat(9_900);
  const text = (at: number) => `${SQL} -- ${at} ${long}`;
  for (let at = 0; at < 22; at++) {
    for (let own = 0; own < 500; own++) cache.put(`db_${at}`, 1, text(500 * at + own), facts);
  }
  const known = Array.from(
    { length: 22 },
    (_, at) => cache.get(`db_${at}`, text(500 * at + 499)) !== undefined,
  );
  assertEquals(known, known.map((_, at) => at >= 2));
  const schema = (at: number) => `${at}${"x".repeat(8_000_000)}`;
  for (let at = 0; at < 3; at++) {
    cache.seen(`db_${at}`, 2, schema(at));
    cache.put(`db_${at}`, 2, `${SQL} -- ${at}`, facts);
  }
  assertEquals(cache.likelySchema("db_new", `${SQL} -- 0`), null);
  assertEquals(cache.likelySchema("db_new", `${SQL} -- 1`)?.text, schema(1));
});
