// Random rules and writes, beside a judge that knows of each write which tables it touches and how.
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { startApp } from "../testing/start_app.ts";
import { heldBy } from "../writes/write_world.ts";
import { modelDatabase } from "./model_database.ts";
import { holds } from "./model_run.ts";
import { PlainDatabase } from "./plain_database.ts";

const SCHEMA: readonly string[] = [
  "CREATE TABLE orders (id INTEGER PRIMARY KEY, v)",
  "CREATE TABLE lines (id INTEGER PRIMARY KEY, o REFERENCES orders ON DELETE CASCADE)",
  "CREATE TABLE Log (what)",
  "CREATE VIEW big AS SELECT * FROM orders WHERE v > 1",
  "CREATE TRIGGER noted AFTER INSERT ON orders BEGIN INSERT INTO Log VALUES (new.id); END",
  "CREATE TRIGGER gone INSTEAD OF DELETE ON big BEGIN DELETE FROM lines WHERE o = old.id; END",
  "INSERT INTO orders VALUES (1, 1), (2, 2), (3, 3), (4, 4)",
  "INSERT INTO lines (o) VALUES (1), (1), (2), (3)",
];
const TABLES = ["orders", "lines", "Log"];

interface Write {
  readonly sql: string;
  /** `table action`, also of triggers and references. */
  readonly touches: readonly string[];
  /** An UPDATE or DELETE without a WHERE that tells rows apart. */
  readonly unbounded: boolean;
}

const write = (sql: string, touches: string, unbounded = false): Write => {
  return { sql, touches: touches.split(", "), unbounded };
};
const writes: readonly Write[] = [
  write("INSERT INTO orders (v) VALUES (9)", "orders insert, Log insert"),
  write("INSERT INTO orders (v) SELECT v FROM orders", "orders insert, Log insert"),
  write("UPDATE orders SET v = v + 1 WHERE id = 2", "orders update"),
  write("UPDATE orders SET v = 0 WHERE v > 1", "orders update"),
  write("UPDATE orders SET v = v + 1", "orders update", true),
  write("DELETE FROM orders WHERE id = 1", "orders delete, lines delete"),
  write("DELETE FROM orders WHERE id = 77", "orders delete, lines delete"),
  write("DELETE FROM orders", "orders delete, lines delete", true),
  write("DELETE FROM lines WHERE id > 2", "lines delete"),
  write("DELETE FROM lines WHERE 1", "lines delete", true),
  write("WITH w AS (SELECT 1) UPDATE lines SET o = NULL WHERE o IN w", "lines update"),
  write("DELETE FROM big WHERE v > 2", "lines delete"),
  write("INSERT INTO Log VALUES ('x'), ('y')", "Log insert"),
  write(
    "INSERT INTO orders VALUES (1, 5) ON CONFLICT (id) DO UPDATE SET v = 7",
    "orders insert, orders update, Log insert",
  ),
];

interface Rule {
  readonly tableGlob: string;
  readonly actions: readonly string[] | null;
  readonly effect: "deny" | "require_approval";
  readonly minRows: number | null;
  readonly unboundedOnly: boolean;
}

const rules: fc.Arbitrary<Rule> = fc.record({
  tableGlob: fc.constantFrom("*", "orders", "ORDERS", "l*", "L?g", "*s", "o*e*s", "line", "?", "lines"),
  actions: fc.option(fc.subarray(["insert", "update", "delete", "schema"], { minLength: 1 })),
  effect: fc.constantFrom("deny", "require_approval"),
  minRows: fc.option(fc.integer({ min: 1, max: 5 })),
  unboundedOnly: fc.boolean(),
});
const calls = fc.array(fc.constantFrom(...writes), { minLength: 1, maxLength: 3 });

Deno.test("what rules deny, hold and let through is what a judge of tables, actions and rows says", async () => {
  await using app = await startApp();
  const namespace = await app.namespace();
  const cases = fc.tuple(fc.array(rules, { maxLength: 3 }), fc.array(calls, { minLength: 1, maxLength: 3 }));
  await holds(cases, 12, async ([someRules, some]) => {
    await using database = await modelDatabase(app, namespace);
    using plain = new PlainDatabase();
    const setUp = { statements: SCHEMA.map((sql) => ({ sql, params: [] })), transaction: true };
    plain.run(setUp);
    assertEquals((await database.send(setUp)).status, 200);
    const path = `/api/namespaces/${namespace.slug}/databases/${database.slug}/rules`;
    for (const body of someRules) {
      const added = await app.request("POST", path, { token: namespace.token, body });
      assertEquals(added.status, 201, added.text);
    }
    for (const statements of some) {
      const call = { statements: statements.map(({ sql }) => ({ sql, params: [] })), transaction: true };
      const rows = plain.rowsChangedBy(call);
      const verdict = judge(someRules, statements, rows);
      const answer = await database.send(call);
      const why = `${JSON.stringify({ statements, rows, verdict })} ${answer.text}`;
      assertEquals([answer.status, answer.body.code ?? "passes"], codes[verdict], why);
      if (verdict === "deny") {
        await sameRows();
        continue;
      }
      if (verdict === "require_approval") {
        await sameRows();
        const { approvalToken, id } = heldBy(answer);
        const decided = await app.request(
          "POST",
          `/api/namespaces/${namespace.slug}/approvals/${id}/approve`,
          {
            token: app.operatorKey,
          },
        );
        assertEquals(decided.status, 200, decided.text);
        const redeemed = await database.post("redeem_approval", { approvalToken });
        assertEquals(redeemed.status, 200, redeemed.text);
      }
      plain.run(call);
      await sameRows();
    }

    async function sameRows() {
      for (const table of TABLES) {
        const sql = `SELECT * FROM ${table}`;
        const found: readonly unknown[] = await database.rows(sql);
        assertEquals(found, plain.rows(sql), table);
      }
    }
  });
});

type Verdict = "deny" | "require_approval" | "pass";

const codes: Readonly<Record<Verdict, unknown[]>> = {
  deny: [403, "rule_denied"],
  require_approval: [403, "approval_required"],
  pass: [200, "passes"],
};

function judge(rules: readonly Rule[], statements: readonly Write[], rows: number): Verdict {
  const hit = rules.filter((rule) =>
    (rule.minRows === null || rows >= rule.minRows) && statements.some((one) => isAbout(rule, one))
  );
  if (hit.some(({ effect }) => effect === "deny")) return "deny";
  return hit.length > 0 ? "require_approval" : "pass";
}

function isAbout({ tableGlob, actions, unboundedOnly }: Rule, { touches, unbounded }: Write): boolean {
  if (unboundedOnly && !unbounded) return false;
  const pattern = tableGlob.replaceAll("*", ".*").replaceAll("?", ".");
  const glob = new RegExp(`^${pattern}$`, "i");
  return touches.some((touch) => {
    const [table = "", action = ""] = touch.split(" ");
    return glob.test(table) && (actions === null || actions.includes(action));
  });
}
