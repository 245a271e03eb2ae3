// What the benchmark concludes, and from what it concludes nothing.
import { assertEquals, assertThrows } from "@std/assert";
import { benchOptions } from "./bench_options.ts";
import { disturbances, medianOf, ratioOf, ratioText } from "./verdict.ts";

Deno.test("a ratio compares servers round by round, so drift of the machine leaves it as it is", () => {
  const drifting = ratioOf([50, 25, 10], [100, 50, 20]);
  assertEquals(drifting, { median: 0.5, least: 0.5, most: 0.5 });
  const spread = ratioOf([40, 50, 60, 70], [100, 100, 100]);
  assertEquals(spread && ratioText(spread), "0.50 (0.40 to 0.60)");
  assertEquals(ratioOf([1], []), null);
  assertEquals(medianOf([3, 1, 2, 10]), 2.5);
});

Deno.test("a run is refused where others compute, and where the yardstick itself is unsteady", () => {
  const steady = { "read-1": [100, 104, 98] };
  assertEquals(disturbances({ othersPart: 0.02, yardstick: steady }), []);
  assertEquals(disturbances({ othersPart: 0.4, yardstick: steady }), ["others used 40 % of the processors"]);
  assertEquals(disturbances({ othersPart: 0, yardstick: { ...steady, "insert-8": [100, 60, 100] } }), [
    "the yardstick differed by 40 % between rounds of insert-8",
  ]);
  assertEquals(disturbances({ othersPart: null, yardstick: {} }).length, 1);
});

Deno.test("the benchmark refuses options that it does not know, and those that do not go together", () => {
  const cases = ["read-1", "insert-8"];
  const { only, against, rounds } = benchOptions(["--only", "insert-8", "--against", "HEAD~1"], cases);
  assertEquals([only, against, rounds], [["insert-8"], "HEAD~1", 3]);
  for (const args of [["--onyl", "read-1"], ["--only", "read"], ["--rounds", "0"], ["--against"]]) {
    assertThrows(() => benchOptions(args, cases), /^TypeError: (Use|Choose|Give) /);
  }
  assertThrows(() => benchOptions(["--peers", "--against", "HEAD"], cases), /without --peers/);
});
