// Which batches are one transaction from their beginning to their end: of all others each step runs on its own condition.
import { assertEquals } from "@std/assert";
import { FactsCache } from "../../lib/query/facts_cache.ts";
import { readText } from "../../lib/services/hrana/door_statement.ts";
import type { WireCondition } from "../../lib/services/hrana/hrana_types.ts";
import {
  type DoorStep,
  endsWithProbe,
  stepGroup,
  type WholeTransaction,
  wholeTransaction,
} from "../../lib/services/hrana/plan_batch.ts";

const facts = new FactsCache();
const ok = (step: number): WireCondition => ({ type: "ok", step });
const not = (cond: WireCondition): WireCondition => ({ type: "not", cond });
const and = (...conds: WireCondition[]): WireCondition => ({ type: "and", conds });
const AUTOCOMMIT: WireCondition = { type: "is_autocommit" };
const INSERT = "INSERT INTO t VALUES (1)";

type Asked = readonly [sql: string, condition?: WireCondition | null];

const stepOf = ([sql, condition = null]: Asked, wantsRows = true): DoorStep => {
  const text = readText(facts, sql);
  return { statement: { text, sql: text.sql, params: [], wantsRows }, condition };
};

const whole = (asked: readonly Asked[], mayStayOpen = false): WholeTransaction | null =>
  wholeTransaction(asked.map((one) => stepOf(one)), mayStayOpen);

const begun: readonly Asked[] = [["BEGIN IMMEDIATE"], [INSERT, ok(0)]];
const committed: readonly Asked[] = [...begun, ["COMMIT", ok(1)]];
const undone: readonly Asked[] = [...committed, ["ROLLBACK", not(ok(2))]];

Deno.test("what clients send as a transaction is one, with foreign keys off around it or not", () => {
  const plain = { mode: "immediate" as const, inner: [1], begin: 0, commit: 2, rollback: 3, behind: [] };
  assertEquals(whole(undone), plain);
  assertEquals(whole(committed, true), { ...plain, rollback: null });
  const inTransaction = and(ok(0), not(AUTOCOMMIT));
  assertEquals(whole([["BEGIN IMMEDIATE"], [INSERT, inTransaction], ...undone.slice(2)]), plain);
  const off: readonly Asked[] = [
    ...[["PRAGMA foreign_keys=off"], ["BEGIN", ok(0)], [INSERT, ok(1)], ["COMMIT", ok(2)]] as const,
    ...[["ROLLBACK", and(ok(1), not(ok(3)))], ["PRAGMA foreign_keys=on"]] as const,
  ];
  assertEquals(whole(off), {
    ...{ mode: "deferred", inner: [0, 2], begin: 1, commit: 3, rollback: 4, behind: [5] },
  });
});

Deno.test("a batch of which a part may run or stay without the rest is none", () => {
  const others: Record<string, readonly Asked[]> = {
    "no BEGIN": undone.slice(1),
    "nothing undoes it": committed,
    "a step behind it": [...undone, ["SELECT 1"]],
    "a step that runs whatever became of the one before": [
      ["BEGIN"],
      [INSERT],
      ["COMMIT", ok(1)],
      undone[3] ?? [""],
    ],
    "a step that may be left out": [
      ...[["BEGIN"], [INSERT, and(ok(0), { type: "error", step: 0 })], ["COMMIT", ok(1)]] as const,
      undone[3] ?? [""],
    ],
    "a step on another one": [["BEGIN"], [INSERT, ok(0)], [INSERT, ok(0)], ["COMMIT", ok(2)], [
      "ROLLBACK",
      not(ok(3)),
    ]],
    "a COMMIT in any case": [...begun, ["COMMIT"], ["ROLLBACK", not(ok(2))]],
    "a ROLLBACK that may be left out": [...committed, [
      "ROLLBACK",
      and(not(ok(2)), { type: "error", step: 1 }),
    ]],
    "a ROLLBACK in any case": [...committed, ["ROLLBACK"]],
    "foreign keys on in some cases": [...undone, ["PRAGMA foreign_keys=on", ok(2)]],
    "foreign keys off behind it": [...undone, ["PRAGMA foreign_keys=off"]],
  };
  for (const [name, asked] of Object.entries(others)) assertEquals(whole(asked), null, name);
});

Deno.test("steps that share their fate are one group, and so are steps without conditions", () => {
  const groups: readonly (readonly [readonly Asked[], number, boolean])[] = [
    [[[INSERT], [INSERT, ok(0)], [INSERT, ok(1)], [INSERT, ok(0)]], 3, true],
    [[[INSERT], [INSERT], [INSERT, ok(1)]], 2, false],
    [[[INSERT], ["COMMIT"], [INSERT]], 1, false],
    [[[INSERT, AUTOCOMMIT], [INSERT, and(ok(0), AUTOCOMMIT)]], 1, false],
  ];
  for (const [asked, end, chained] of groups) {
    assertEquals(stepGroup(asked.map((one) => stepOf(one)), 0), { end, chained });
  }
});

Deno.test("only a last SELECT 1 of which no row is wanted asks about the transaction alone", () => {
  const ends = (last: Asked, wantsRows = false) => endsWithProbe([stepOf([INSERT]), stepOf(last, wantsRows)]);
  assertEquals(ends(["select 1", AUTOCOMMIT]), true);
  assertEquals(ends(["SELECT 1", AUTOCOMMIT], true), false);
  assertEquals([ends(["SELECT 1"]), ends(["SELECT 2", AUTOCOMMIT])], [false, false]);
  assertEquals(endsWithProbe([stepOf(["SELECT 1", AUTOCOMMIT], false)]), false);
});
