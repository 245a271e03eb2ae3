// POST /validate: what a statement would read and cost, and what rules say of it, before it runs.
import { assert, assertEquals } from "@std/assert";
import type { StartedApp } from "../testing/start_app.ts";
import { testSteps } from "../testing/cases.ts";
import type { TestNamespace } from "../testing/test_namespace.ts";

interface Told {
  readonly rowsRead: number;
  readonly costUsd: number;
  readonly fullScans: readonly string[];
  readonly rule: string | null;
  readonly hits: readonly { readonly table: string; readonly action: string; readonly effect: string }[];
}

interface World {
  readonly tell: (sql: string) => Promise<Told>;
  /** Answers with the rows read. */
  readonly run: (sql: string) => Promise<number>;
  readonly rule: (settings: unknown) => Promise<void>;
}

async function withItems(app: StartedApp, slug: string): Promise<World> {
  const tenant: TestNamespace = await app.namespace(slug);
  await tenant.setup(
    "CREATE TABLE Items (id INTEGER PRIMARY KEY, kind TEXT, price INTEGER)",
    "CREATE INDEX items_by_kind ON Items (kind)",
    "CREATE TABLE few (item INTEGER)",
    "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 500) INSERT INTO Items SELECT i, 'k' || (i % 50), i FROM c",
    "INSERT INTO few VALUES (1), (2), (3)",
  );
  const call = async (path: string, body: unknown, status: number) => {
    const answer = await app.request("POST", path, { token: tenant.token, body });
    assertEquals(answer.status, status, answer.text);
    return answer.body.data;
  };
  return {
    tell: async (sql) => await call(`${tenant.database.path}/validate`, { sql }, 200) as Told,
    run: async (sql) => {
      const { status, text, body } = await tenant.query(sql);
      assertEquals(status, 200, text.slice(0, 500));
      return Number(body.meta?.rowsRead);
    },
    rule: async (settings) => {
      await call(`/api/namespaces/${slug}/databases/main/rules`, settings, 201);
    },
  };
}

const COST_OF_500 = (500 + 500 * 5) / 1e9;

testSteps("validate tells the cost of a statement", withItems, {
  "a scan reads the whole table, which is named as the schema spells it": async ({ tell }) => {
    const { rowsRead, costUsd, fullScans } = await tell("SELECT * FROM items i WHERE i.price > ?");
    assertEquals({ rowsRead, costUsd, fullScans }, {
      rowsRead: 500,
      costUsd: COST_OF_500,
      fullScans: ["Items"],
    });
  },
  "a key reads one row, and an index some": async ({ tell }) => {
    const byKey = await tell("SELECT * FROM items WHERE id = 7");
    assertEquals([byKey.rowsRead, byKey.fullScans], [1, []]);
    const byIndex = await tell("SELECT * FROM items WHERE kind = 'k1'");
    assert(byIndex.rowsRead > 0 && byIndex.rowsRead < 100, String(byIndex.rowsRead));
    assertEquals(byIndex.fullScans, []);
  },
  "an index is known by a name of several lines, however often it says what a plan says": async (
    { tell, run },
  ) => {
    const name = `by\n${"INDEX ".repeat(40_000)}\nprice`;
    await run(`CREATE INDEX "${name}" ON items (price)`);
    const byIndex = await tell("SELECT * FROM items WHERE price = 7");
    assert(byIndex.rowsRead > 0 && byIndex.rowsRead < 100, String(byIndex.rowsRead));
    // What has run reads what it would read by an index of any name.
    assertEquals(await run("SELECT * FROM items WHERE price = 7"), 2);
    await run(`DROP INDEX "${name}"`);
  },
  "a product of many tables is told as a whole number still": async ({ tell }) => {
    const tables = Array.from({ length: 50 }, (_, at) => `items AS i${at}`).join(" JOIN ");
    const { rowsRead, costUsd } = await tell(`SELECT count(*) FROM ${tables}`);
    assertEquals([rowsRead, Number.isFinite(costUsd)], [Number.MAX_SAFE_INTEGER, true]);
  },
  "a LIMIT without conditions bounds what is read": async ({ tell }) => {
    const { rowsRead, fullScans } = await tell("SELECT * FROM items LIMIT 20");
    assertEquals([rowsRead, fullScans], [20, []]);
    assertEquals((await tell("SELECT * FROM items ORDER BY price LIMIT 20")).fullScans, ["Items"]);
  },
  "a join reads the inner table once for each outer row": async ({ tell }) => {
    const { rowsRead } = await tell("SELECT * FROM few JOIN items ON items.id = few.item");
    assertEquals(rowsRead, 6);
  },
  "a write tells what it reads, and a statement without a plan reads nothing": async ({ tell }) => {
    assertEquals((await tell("DELETE FROM items WHERE price < ?")).fullScans, ["Items"]);
    for (const sql of ["CREATE TABLE t (a)", "INSERT INTO few VALUES (?)", "PRAGMA table_list", "SELECT 1"]) {
      const { rowsRead, costUsd, fullScans } = await tell(sql);
      assertEquals([rowsRead, costUsd, fullScans], [0, 500 / 1e9, []], sql);
    }
  },
  "a rule that would stop a write is told, the one that denies first": async ({ tell, rule }) => {
    assertEquals((await tell("DELETE FROM items")).rule, null);
    await rule({ tableGlob: "items", actions: ["delete"], effect: "require_approval", minRows: 10 });
    assertEquals((await tell("DELETE FROM items")).rule, "rows");
    await rule({ tableGlob: "items", actions: ["update"], effect: "require_approval" });
    const held = await tell("UPDATE items SET price = 1");
    assertEquals([held.rule, held.hits.map(({ table, action }) => [table, action])], [
      "require_approval",
      [["Items", "update"]],
    ]);
    await rule({ tableGlob: "*", actions: ["update"], effect: "deny", unboundedOnly: true });
    assertEquals((await tell("UPDATE items SET price = 1")).rule, "deny");
    assertEquals((await tell("UPDATE items SET price = 1 WHERE id = 1")).rule, "require_approval");
    assertEquals((await tell("SELECT * FROM items")).rule, null);
  },
});
