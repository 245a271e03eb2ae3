// What a step of a batch may depend on.
import { assertEquals } from "@std/assert";
import { MAX_CONDITION_DEPTH } from "../../lib/core/limits_hrana.ts";
import { readCondition } from "../../routes/hrana/conditions.ts";

Deno.test("a condition names steps before its own, and is no deeper than may be", () => {
  const isRead = (value: unknown) => readCondition(value, 2) !== undefined;
  for (const step of [0, 1]) assertEquals(isRead({ type: "ok", step }), true);
  for (const step of [2, 3, -1, 0.5, "0", null]) {
    assertEquals(isRead({ type: "error", step }), false, String(step));
  }
  const deep = (depth: number) => {
    let condition: unknown = { type: "is_autocommit" };
    for (let at = 0; at < depth; at++) condition = { type: "not", cond: condition };
    return condition;
  };
  assertEquals([isRead(deep(MAX_CONDITION_DEPTH)), isRead(deep(MAX_CONDITION_DEPTH + 1))], [true, false]);
  const wrong = [1, {}, { type: "and" }, { type: "or", conds: [{ type: "ok", step: 2 }] }, { type: "not" }];
  for (const value of wrong) assertEquals(isRead(value), false, JSON.stringify(value));
  assertEquals([isRead(null), isRead({ type: "and", conds: [] })], [true, true]);
});
