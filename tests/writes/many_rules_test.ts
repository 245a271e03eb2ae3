// Rules in numbers: of many statements, many tables and long names each is looked at once, and none is got around by it.
import { assertEquals } from "@std/assert";
import { matchRules } from "../../lib/query/match_rules.ts";
import type { StatementFacts } from "../../lib/sql/grammar/statement_facts.ts";
import type { RuleRecord } from "../../lib/store/write_records.ts";
import { withWrites } from "./write_world.ts";

const rule = (at: number, some: Partial<RuleRecord> = {}) =>
  ({
    ...{ id: `rule_${at}`, enabled: true, tableGlob: "*", effect: "deny", actions: null, note: "" },
    ...{ minRows: null, unboundedOnly: false, ...some },
  }) as RuleRecord;

function deletion(target: string, actions: readonly string[], some: Partial<StatementFacts> = {}) {
  return {
    class: "write",
    verb: "delete",
    hasWhere: true,
    emptied: [],
    target,
    actions,
    ...some,
  } as StatementFacts;
}

Deno.test("statements are read once, however many rules there are", () => {
  let reads = 0;
  const facts = Array.from(
    { length: 10 },
    (_, at) =>
      new Proxy(deletion("parent", [`delete child${at}`, "delete parent"]), {
        get: (one, name) => {
          if (name === "actions") reads++;
          return Reflect.get(one, name);
        },
      }),
  );
  const of = (rules: number) => {
    reads = 0;
    const matches = matchRules(Array.from({ length: rules }, (_, at) => rule(at)), facts);
    assertEquals(matches.length, rules);
    return reads;
  };
  assertEquals(of(100), of(1));
});

Deno.test("hits are in the order of the statements, of each what it names first, and the same one is told once", () => {
  const facts = [
    deletion("parent", ["delete a", "update b", "delete parent"]),
    deletion("b", ["delete a", "delete b"], { hasWhere: false }),
    deletion("z", ["insert z"], { verb: "insert", hasWhere: false }),
  ];
  const told = (some: Partial<RuleRecord>) =>
    matchRules([rule(1, some)], facts).flatMap(({ hits, about }) => [
      hits.map(({ action, table }) => `${action} ${table}`),
      about.map((one) => one.replace("rule_1 ", "")),
    ]);
  const all = ["delete parent", "delete a", "update b", "delete b", "insert z"];
  assertEquals(told({}), [all, all]);
  assertEquals(told({ unboundedOnly: true }), [["delete b", "delete a"], ["delete b", "delete a"]]);
  assertEquals(told({ actions: ["update"] }), [["update b"], ["update b"]]);
  assertEquals(told({ enabled: false }), []);
});

Deno.test("a table whose name is longer than any that is looked at is what every glob with a star means", async () => {
  await withWrites(async ({ rule, setup, shop }) => {
    const long = "a".repeat(2001);
    await setup(`CREATE TABLE "${long}" (a)`, `CREATE TABLE "${long.slice(1)}" (a)`);
    await rule({ tableGlob: "orders", effect: "deny" });
    await rule({ tableGlob: "a*b", effect: "deny" });
    const insert = async (name: string) => (await shop.query(`INSERT INTO "${name}" VALUES (1)`)).status;
    assertEquals([await insert(long), await insert(long.slice(1))], [403, 200]);
  });
});
