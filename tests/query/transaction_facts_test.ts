// What is learned of statements under a schema that only a transaction sees stays with it: after a rollback the next change of
// the schema has the same version.
import { assertEquals } from "@std/assert";
import { FactsCache } from "../../lib/query/facts_cache.ts";
import { TransactionFacts } from "../../lib/query/transaction/transaction_facts.ts";
import type { StatementFacts } from "../../lib/sql/grammar/statement_facts.ts";

const SQL = "SELECT * FROM t";
const named = (verb: string) => ({ verb }) as StatementFacts;
const [committed, inside] = [named("committed"), named("inside")];

function sharedAt(version: number): FactsCache {
  const shared = new FactsCache();
  shared.seen("db", version);
  shared.put("db", version, SQL, committed);
  return shared;
}

Deno.test("a transaction that has changed the schema neither uses nor changes what the process knows", () => {
  const shared = sharedAt(5);
  const facts = new TransactionFacts(shared, false);
  assertEquals([facts.get("db", SQL), facts.schemaVersion("db")], [committed, 5]);
  facts.begin(5);
  assertEquals(facts.get("db", SQL), committed);
  facts.change();
  assertEquals([facts.changed, facts.get("db", SQL)], [true, undefined]);
  facts.seen("db", 6);
  facts.put("db", 6, SQL, inside);
  assertEquals([facts.get("db", SQL), facts.schemaVersion("db")], [inside, 6]);
  assertEquals([shared.get("db", SQL), shared.schemaVersion("db")], [committed, 5]);
  // Changed again, or rolled back to a savepoint.
  facts.change();
  assertEquals(facts.get("db", SQL), undefined);
});

Deno.test("nor does one behind whose beginning others have changed it, or that changed it where it was before", () => {
  const later = sharedAt(5);
  const behind = new TransactionFacts(later, false);
  behind.begin(5);
  later.seen("db", 6);
  later.put("db", 6, SQL, committed);
  assertEquals([behind.get("db", SQL), behind.schemaVersion("db")], [undefined, 5]);
  const shared = sharedAt(5);
  const resumed = new TransactionFacts(shared, true);
  assertEquals(resumed.get("db", SQL), undefined);
  for (const facts of [behind, resumed]) facts.put("db", 5, SQL, inside);
  assertEquals([later.get("db", SQL), shared.get("db", SQL)], [committed, committed]);
});
