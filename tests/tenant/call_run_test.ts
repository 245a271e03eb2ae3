// With which failure a call ends, and what of it stays then, in every store.
import { assertEquals } from "@std/assert";
import { plainFailure } from "../../lib/engine/engine_failure.ts";
import { endingFailure, isUndone } from "../../lib/tenant/calls/call_run.ts";

const CLASH = { at: 1, failure: plainFailure("unique_violation", "") };

Deno.test("a call that changed fewer or more rows than it may has failed at its last statement", () => {
  const call = { atomic: true, affected: { min: 2, max: 3 }, statements: { length: 4 } };
  const ends = [1, 2, 3, 4].map((rows) => endingFailure(call, { failure: null, rows }, () => true));
  const failed = (rows: number) => ({ at: 3, failure: { ...plainFailure("affected", ""), affected: rows } });
  assertEquals(ends, [failed(1), null, null, failed(4)]);
  assertEquals(endingFailure(call, { failure: null, rows: 2 }, () => false), failed(2));
});

Deno.test("an earlier failure of an atomic call comes first; what stays of another one is bound to its rows too", () => {
  const bound = { affected: { min: 0, max: 1 }, statements: { length: 3 } };
  const ran = { failure: CLASH, rows: 2 };
  assertEquals(endingFailure({ ...bound, atomic: true }, ran, () => false), CLASH);
  assertEquals(endingFailure({ ...bound, atomic: false }, ran, () => true)?.failure.kind, "affected");
  assertEquals(endingFailure({ ...bound, atomic: false }, { ...ran, rows: 1 }, () => true), CLASH);
});

Deno.test("a failure undoes an atomic call, a single statement, and a call with the wrong number of rows", () => {
  const several = { atomic: false, statements: { length: 2 } };
  const affected = { at: 1, failure: plainFailure("affected", "") };
  assertEquals(isUndone(CLASH, several), false);
  assertEquals(isUndone(CLASH, { ...several, atomic: true }), true);
  assertEquals(isUndone(CLASH, { ...several, statements: { length: 1 } }), true);
  assertEquals(isUndone(affected, several), true);
  assertEquals(isUndone(null, { ...several, atomic: true }), false);
});
