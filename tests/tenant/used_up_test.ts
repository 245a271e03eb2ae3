// What a full disk and a table without a number left look like to callers, who are told which of the two it is.
import { assertEquals } from "@std/assert";
import { plainFailure } from "../../lib/engine/engine_failure.ts";
import { unlessUsedUp } from "../../lib/tenant/calls/used_up.ts";
import { noStepFigures } from "../../lib/tenant/calls/work.ts";
import { runWork } from "../../lib/core/run_work.ts";

const FULL = plainFailure("full", "database or disk is full");

/** The failure as it is told where `usedUp` have no number left and the statement inserts into `inserts`. */
function told(failure: typeof FULL, usedUp: readonly string[], inserts: string) {
  const rows = usedUp.map((name) => [name]);
  const work = unlessUsedUp(failure, () => [`insert ${inserts}`]);
  const { kind, table } = runWork(
    work,
    () => [{ ok: true as const, rows, json: "", figures: noStepFigures }],
  );
  return [kind, table];
}

Deno.test("a full disk stays one, unless the statement inserts into a table that has no number left", () => {
  assertEquals(told(FULL, ["a", "t"], "t"), ["unknown", "t"]);
  assertEquals(told(FULL, ["a"], "t"), ["full", null]);
  assertEquals(told(FULL, [], "t"), ["full", null]);
  assertEquals(told(plainFailure("busy", "locked"), ["t"], "t"), ["busy", null]);
});
