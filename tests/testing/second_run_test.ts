// What fails by chance does not lose a run and is told; what fails twice, or breaks twice, or is much, fails.
import { assertEquals, assertMatch } from "@std/assert";
import { relative } from "node:path";
import { runGroup, type RunOptions, tallyOf } from "./run_group.ts";
import { secondRun } from "./second_run.ts";
import type { Tally } from "./test_report.ts";

const root = new URL("../../", import.meta.url).pathname;

const PASSES = 'Deno.test("passes", () => {});\n';
const ALWAYS_FAILS = 'Deno.test("fails", () => { throw new Error("always"); });\n';
const CRASHES = 'Deno.test("crashes", () => Deno.kill(Deno.pid, "SIGKILL"));\n';
/** A test that does this the first time only, or from the second time on. */
const firstTime = (name: string, does: string) => timed(name, "!", does);
const laterTimes = (name: string, does: string) => timed(name, "", does);

function timed(name: string, not: "!" | "", does: string): string {
  return `import { existsSync } from "node:fs";
    Deno.test("${name}", async () => {
      const mark = new URL(import.meta.url + ".mark");
      const wasHere = existsSync(mark);
      Deno.writeTextFileSync(mark, "");
      if (${not}wasHere) ${does};
      await new Promise((resolve) => setTimeout(resolve, 0));
    });\n`;
}

const FAILS_ONCE = firstTime("fails once", 'throw new Error("1 < 2 & late")') + PASSES;
const FAILS_LATER = laterTimes("fails later", 'throw new Error("nobody runs this again")');
const CRASHES_ONCE = firstTime("crashes once", 'Deno.kill(Deno.pid, "SIGKILL")');
const HANGS_ONCE = firstTime("hangs once", "await new Promise((resolve) => setTimeout(resolve, 600_000))");
const THROWS_OUTSIDE_ONCE = firstTime(
  "goes on",
  'queueMicrotask(() => { throw new Error("from nowhere"); })',
);

/** What comes of files with these texts, a group of files, and then of what is run again of them. */
async function runTwice(
  texts: readonly string[],
  bounds: Pick<RunOptions, "silentMs"> = {},
): Promise<{ tally: Tally; flaky: readonly string[] }> {
  const folder = await Deno.makeTempDir({ prefix: "second_run_" });
  const paths = texts.map((_, at) => relative(root, `${folder}/${at}_test.ts`));
  await Promise.all(texts.map((text, at) => Deno.writeTextFile(`${folder}/${at}_test.ts`, text)));
  const options = () => ({ flags: [], written: [], ...bounds });
  const first = await runGroup({ name: "the group", paths, onSqld: false }, options());
  const { results, flaky } = await secondRun([first], options());
  await Deno.remove(folder, { recursive: true });
  assertEquals(results.map(({ group }) => group.paths), [paths]);
  return { tally: tallyOf(results[0] ?? first), flaky };
}

Deno.test("a file with a failure is run again by itself: what passes then is counted and told", async () => {
  const { tally, flaky } = await runTwice([FAILS_ONCE, FAILS_LATER]);
  assertEquals(tally, { passed: 3, failed: 0, skipped: 0 });
  assertEquals(flaky.length, 1);
  assertMatch(flaky[0] ?? "", /^flaky: \S+\/0_test\.ts fails once\n {2}Error: 1 < 2 & late\n/);
});

Deno.test("what fails again has failed", async () => {
  const { tally, flaky } = await runTwice([ALWAYS_FAILS + PASSES, FAILS_ONCE]);
  assertEquals(tally, { passed: 3, failed: 1, skipped: 0 });
  assertEquals(flaky.length, 1);
});

Deno.test("a group whose process crashes is run again as a whole", async () => {
  const { tally, flaky } = await runTwice([PASSES, CRASHES_ONCE]);
  assertEquals(tally, { passed: 2, failed: 0, skipped: 0 });
  assertEquals(flaky.length, 1);
  assertMatch(flaky[0] ?? "", /^flaky: the group, which broke off\n/);
  const always = await runTwice([PASSES, CRASHES]);
  assertEquals(always, { tally: { passed: 0, failed: 1, skipped: 0 }, flaky: [] });
});

Deno.test("a group in which nothing ends any more is ended and run again as a whole", async () => {
  const { tally, flaky } = await runTwice([PASSES, HANGS_ONCE], { silentMs: 8000 });
  assertEquals(tally, { passed: 2, failed: 0, skipped: 0 });
  assertEquals(flaky.length, 1);
  assertMatch(flaky[0] ?? "", /^flaky: the group, which broke off\n[^]*hangs once/);
});

Deno.test("an error outside of all tests is told as what broke the group, not as the tests that it cancelled", async () => {
  const { tally, flaky } = await runTwice([THROWS_OUTSIDE_ONCE, PASSES]);
  assertEquals(tally, { passed: 2, failed: 0, skipped: 0 });
  assertEquals(flaky.length, 1);
  assertMatch(flaky[0] ?? "", /^flaky: the group, which broke off\n[^]*from nowhere/);
});

Deno.test("more files than chance lets fail are not run again", async () => {
  const { tally, flaky } = await runTwice([FAILS_ONCE, FAILS_ONCE, FAILS_ONCE, FAILS_ONCE]);
  assertEquals(tally, { passed: 4, failed: 4, skipped: 0 });
  assertEquals(flaky, []);
});
