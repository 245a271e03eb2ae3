// What the embedded translator says where it does not answer, and that no question can tie it up.
import { assert, assertEquals } from "@std/assert";
import type { AskSchema, AskTable } from "../../lib/services/ask/model/ask_schema.ts";
import type { AskProposal } from "../../lib/services/ask/model/ask_model.ts";
import { EmbeddedTranslator } from "../../lib/services/ask/translate/embedded_translator.ts";

const NOW = Date.parse("2026-03-18T10:00:00Z");

type Column = readonly [name: string, type: string, description?: string];

function table(name: string, columns: readonly Column[], refersTo: readonly string[] = []): AskTable {
  const all: readonly Column[] = [
    ["id", "INTEGER"],
    ...columns,
    ...refersTo.map((column): Column => [column, "INTEGER"]),
  ];
  return {
    name,
    kind: "table",
    description: "",
    columns: all.map(([column, type, description = ""]) => ({
      name: column,
      type,
      description,
      pk: column === "id" ? 1 : 0,
      notNull: column === "id",
      default: null,
      generated: false,
    })),
    foreignKeys: refersTo.map((column) => ({
      columns: [column],
      toTable: `${column.replace(/^(from|to)_/, "").replace(/_id$/, "")}s`,
      toColumns: ["id"],
    })),
  };
}

const shop: AskSchema = {
  tables: [
    table("customers", [["name", "TEXT"], ["email", "TEXT"]]),
    table("orders", [["status", "TEXT"], ["ordered_at", "TEXT"], ["shipped_at", "TEXT"], [
      "price_cents",
      "INTEGER",
    ]], [
      "customer_id",
    ]),
    table("depots", [["name", "TEXT"]]),
    table("trips", [["weight_grams", "INTEGER"]], ["from_depot_id", "to_depot_id"]),
  ],
};

function ask(question: string, schema = shop): Promise<AskProposal> {
  return new EmbeddedTranslator().propose({
    ...{ question, schema, context: "", maxRows: 100, nowMs: NOW, failed: null, signal: null },
    payer: { namespaceId: "ns_a", databaseId: "db_a" },
    findValues: () => Promise.resolve([{ table: "depots", column: "name", value: "North" }]),
  });
}

async function reasonOf(question: string): Promise<string> {
  const answer = await ask(question);
  assert(!answer.ok, `${question}: ${answer.ok ? answer.sql : ""}`);
  return `${answer.reason}${answer.schemaWords ?? ""}`;
}

/** A word that narrows, inverts or counts, and what the refusal says of it. */
const meaningful: readonly (readonly [question: string, said: string])[] = [
  ["customers who only ordered in March", '"only"'],
  ["customers who ordered all depots", "all"],
  ["which customers ordered twice", '"twice"'],
  ["percentage of shipped orders", '"percentage"'],
  ["open orders", '"open"'],
  ["late orders", '"late"'],
  ["orders shipped within 3 days", '"within'],
  ["orders on weekends", '"weekends"'],
  ["the same orders again", '"same'],
  ["orders except the last one", '"except'],
  ["trips of North", `in several ways; say which one: "from" or "to"`],
  [
    "trips heavier than 500",
    `the unit of "heavier than 500" does not fit; say the number with the right unit, such as "gram"`,
  ],
  ["orders over 3 kg", '"over 3 kg"'],
  ["which orders were refunded", '"refunded"'],
  ["orders bigger than last month", '"bigger than"'],
];

Deno.test("a word that carries meaning and was mapped to nothing is named in the refusal", async () => {
  for (const [question, said] of meaningful) {
    const reason = await reasonOf(question);
    assert(reason.includes(said), `${question}: ${reason}`);
  }
});

Deno.test("a refusal names two questions that work on the schema", async () => {
  for (const [question] of meaningful) {
    const [, works = ""] = (await reasonOf(question)).split("These would work: ");
    const questions = works.split('"').filter((_, at) => at % 2 === 1);
    assertEquals(questions.length, 2, question);
    for (const one of questions) assert((await ask(one)).ok, one);
  }
});

Deno.test("the answer says what was understood", async () => {
  const said = async (question: string) => {
    const answer = await ask(question);
    return answer.ok ? answer.explanation : answer.reason;
  };
  assertEquals(
    await said("orders shipped in February, newest first"),
    "orders where shipped at is from 2026-02-01 on and before 2026-03-01, newest ordered at first",
  );
  assertEquals(await said("orders under $9"), "orders where price cents is below 900");
  assertEquals(
    await said("trips over 2 tons from North"),
    "trips where weight grams is above 2000000 and from depot: name of depots is 'North'",
  );
  assertEquals(
    await said("how many customers have no orders"),
    "number of customers where there are no orders",
  );
});

const hostile: readonly string[] = [
  "a".repeat(500),
  "a ".repeat(250),
  "1 ".repeat(250),
  "more than ".repeat(50),
  "not ".repeat(125),
  "'".repeat(500),
  '"'.repeat(500),
  "((((".repeat(125),
  "un".repeat(250),
  "-".repeat(500),
  `${"1,".repeat(249)}1`,
  `$${"9".repeat(490)} orders`,
  "orders over 1e999",
  "orders \u202e\u0000\ud800 since 9999-99-99",
  "🛒".repeat(120),
  "ﷺ ".repeat(60),
  "SELECT * FROM customers; DROP TABLE orders --",
  "customers'; DELETE FROM orders WHERE '1'='1",
  'how many orders" UNION SELECT name FROM sqlite_schema --',
  "orders of __proto__ per constructor",
  "toString orders by valueOf",
  "orders of the customer constructor",
];

Deno.test("no question, however long or strange, does anything but be refused", async () => {
  for (const question of hostile) await reasonOf(question);
});

Deno.test("neither fifty tables nor long names and descriptions tie it up", async () => {
  const text = "empty while when until if 1 for 0 when ".repeat(50);
  const wide: AskSchema = {
    tables: Array.from(
      { length: 50 },
      (_, at) =>
        table(`t${at}_${"x_".repeat(40)}`, [["name", "TEXT", text], ["a_".repeat(60), "INTEGER", text], [
          "done_at",
          "TEXT",
        ]]),
    ),
  };
  for (const question of ["how many customers", "done things", ...hostile]) {
    assert(!(await ask(question, wide)).ok, question);
  }
});

Deno.test("of tables with far more columns than a question can be about none is read for it", async () => {
  let reads = 0;
  const wide = (tables: number) => ({
    tables: Array.from({ length: tables }, (_, at) => {
      const columns = Array.from({ length: 100 }, (_, of): Column => [`reading_${at}_${of}`, "REAL"]);
      return new Proxy(table(`sensors_${at}`, columns), {
        get: (one, name) => {
          if (name === "foreignKeys") reads++;
          return Reflect.get(one, name);
        },
      });
    }),
  });
  const refused = await ask("How many sensors are there?", wide(50));
  assertEquals(refused, { ok: false, reason: "the tables that may be asked about have too many columns" });
  assertEquals(reads, 0);
  assertEquals((await ask("How many sensors 3 are there?", wide(20))).ok, false);
  assert(reads > 0);
});
