// `deno task test`: runs the tests with the sanitizers on, several groups of files at once, those over HTTP a second time
// with their tenants in sqld, and ends with the line `N passed, N failed`, which counts all of them. The widest sweeps are
// left to `--all` (`deno task test:all`) and to where `CI` is set; there a skipped test counts as failed, unless a filter is
// what left it out, and what fails is run a second time if it is little.
// Arguments are files, folders or `--filter=…`; with `--sqld` they run with their tenants in sqld only; with `--long`
// (`deno task test:long`) every round of what runs in rounds is run, and without files nothing else.
import { print } from "./testing/print.ts";
import { filesWithRounds, LONG, SHORT } from "./testing/rounds.ts";
import { inCi } from "./testing/sqld.ts";
import { suitesOnSqld } from "./testing/suites_on_sqld.ts";
import { tallyOf } from "./testing/run_group.ts";
import { runGroups } from "./testing/run_groups.ts";
import { secondRun } from "./testing/second_run.ts";
import { testFiles } from "./testing/test_files.ts";
import { groupsOf, type TestGroup } from "./testing/test_groups.ts";
import type { Tally } from "./testing/test_report.ts";
import { type TestRuns, withoutSweeps } from "./testing/wide_sweeps.ts";

const [onSqld, long] = [Deno.args.includes("--sqld"), Deno.args.includes("--long")];
const filters = Deno.args.filter((arg) => arg.startsWith("--filter"));
const named = Deno.args.filter((arg) => !arg.startsWith("--"));
if (long) Deno.env.set(LONG, "1");

const everything = inCi() || long || onSqld || named.length > 0 || Deno.args.includes("--all");
if (!everything) Deno.env.set(SHORT, "1");
const tiers = everything ? { ...await testRuns(), leftOut: [] } : withoutSweeps(await testRuns());
const groups = named.length > 0 ? [await namedGroup()] : groupsOf(tiers);
const first = await runGroups(groups, filters);
const { results, flaky } = inCi()
  ? await secondRun(first, { flags: filters, written: null })
  : { results: first, flaky: [] };
const tallies = results.map(tallyOf);
const sum = (name: keyof Tally) => tallies.reduce((total, tally) => total + tally[name], 0);
const strict = inCi() && filters.length === 0;
const [passed, skipped] = [sum("passed"), sum("skipped")];
const failed = sum("failed") + (strict ? skipped : 0);
const left = `${skipped} skipped${strict ? ", which CI counts as failed" : ""}\n`;
for (const one of flaky) print(`\n${one}`);
if (tiers.leftOut.length > 0) {
  print(`\nleft to continuous integration and \`deno task test:all\`:\n  ${tiers.leftOut.join("\n  ")}`);
}
// A run that broke off may have left half a line behind, hence the first newline.
print(`\n${skipped > 0 ? left : ""}${passed} passed, ${failed} failed`);
Deno.exit(failed === 0 && passed > 0 ? 0 : 1);

/** What is named is one group, whose output is seen as it comes. */
async function namedGroup(): Promise<TestGroup> {
  return { name: named.join(" "), paths: await filesIn(named), onSqld };
}

async function testRuns(): Promise<TestRuns> {
  const files = await testFiles();
  if (long) return { files: await filesWithRounds(files), onSqld: [] };
  return { files: onSqld ? [] : files, onSqld: await suitesOnSqld() };
}

async function filesIn(paths: readonly string[]): Promise<string[]> {
  const found = paths.map(async (path) =>
    (await Deno.stat(path)).isDirectory ? await testFiles(path.replace(/\/+$/, "")) : [path]
  );
  return (await Promise.all(found)).flat();
}
