// Random writes, snapshots, restores and restores of restores, beside a list of states.
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { startApp } from "../testing/start_app.ts";
import { member } from "../testing/test_namespace.ts";
import { modelDatabase } from "./model_database.ts";
import { holds } from "./model_run.ts";

/** `pick` chooses among the labels that there are. */
interface Step {
  readonly do: "insert" | "update all" | "delete all" | "drop" | "snapshot" | "restore";
  readonly pick: number;
}

const steps = fc.array(
  fc.record({
    do: fc.constantFrom(
      "insert",
      "insert",
      "update all",
      "delete all",
      "drop",
      "snapshot",
      "restore",
      "restore",
    ),
    pick: fc.nat(50),
  }) satisfies fc.Arbitrary<Step>,
  { minLength: 1, maxLength: 8 },
);

Deno.test("a restore brings back what was there, and its own undo what it replaced", async () => {
  await using app = await startApp();
  const namespace = await app.namespace();
  await holds(steps, 12, async (some) => {
    await using database = await modelDatabase(app, namespace);
    await database.rows("CREATE TABLE t (id INTEGER PRIMARY KEY, v)");
    /** Rows of `t` by label; null: there is no `t`. */
    const states = new Map<string, readonly number[] | null>();
    let now: readonly number[] | null = [];
    for (const [at, step] of some.entries()) {
      now = await take(step, at, now);
      const tables = await database.rows("SELECT 1 FROM sqlite_schema WHERE name = 't'");
      const rows = tables.length === 0 ? [null] : (await database.rows("SELECT v FROM t ORDER BY id")).flat();
      assertEquals(rows, [...now ?? [null]], JSON.stringify(step));
    }

    async function take({ do: what, pick }: Step, at: number, before: readonly number[] | null) {
      if (what === "snapshot") {
        const answer = await database.post("snapshots", { label: `by-hand-${at}` });
        assert(answer.status === 200 || answer.status === 201, answer.text);
        states.set(member(answer, "label"), before);
        return before;
      }
      if (what === "restore") {
        const label = [...states.keys()][pick % Math.max(1, states.size)];
        if (label === undefined) return before;
        const answer = await database.post("restore", { snapshot: label });
        assertEquals(answer.status, 200, answer.text);
        states.set(member(answer, "undo"), before);
        return states.get(label) ?? null;
      }
      if (before === null) return before;
      const [sql, after] = statementOf(what, at, before);
      const answer = await database.post("query", { sql });
      assertEquals(answer.status, 200, answer.text);
      const label = answer.body.meta?.snapshot ?? null;
      assertEquals(label !== null, what !== "insert");
      if (label !== null) states.set(label, before);
      return after;
    }
  });
});

function statementOf(
  what: Step["do"],
  at: number,
  rows: readonly number[],
): [string, readonly number[] | null] {
  switch (what) {
    case "insert":
      return [`INSERT INTO t (v) VALUES (${at})`, [...rows, at]];
    case "update all":
      return ["UPDATE t SET v = v + 10", rows.map((v) => v + 10)];
    case "delete all":
      return ["DELETE FROM t", []];
    default:
      return ["DROP TABLE t", null];
  }
}
