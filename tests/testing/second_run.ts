// Continuous integration throws a whole change away for one failed test. Where little failed, it is run once more, alone
// on the machine: what passes then counts as passed, and is told as what it is, a defect of the test or of the product.
import { print } from "./print.ts";
import { type GroupResult, runGroup, type RunOptions, tallyOf } from "./run_group.ts";
import { CANCELLED } from "./test_report.ts";

/** More files than that do not fail by chance. A group that broke off is one: nobody knows which of its files did it. */
const MOST_FILES = 3;

export interface SecondRun {
  readonly results: readonly GroupResult[];
  /** What failed in the first run only, each with what it said then. */
  readonly flaky: readonly string[];
}

/** What counts of a run: the first one, but for the files that failed and are run again. */
export async function secondRun(first: readonly GroupResult[], options: RunOptions): Promise<SecondRun> {
  const failed = first.filter((result) => tallyOf(result).failed > 0);
  const files = failed.reduce((total, result) => total + (failedFiles(result)?.length ?? 1), 0);
  if (files > MOST_FILES) return { results: first, flaky: [] };
  const results = new Map(first.map((result) => [result, result]));
  const flaky: string[] = [];
  for (const result of failed) {
    const paths = failedFiles(result);
    if (options.written === null) {
      print(`\n== ${result.group.name}, a second time: ${paths?.join(" ") ?? "all of it"}`);
    }
    const second = await runGroup({ ...result.group, paths: paths ?? result.group.paths }, options);
    results.set(result, paths === null ? second : withAgain(result, second, paths));
    flaky.push(...flakyIn(result, second));
  }
  return { results: [...results.values()], flaky };
}

/** Null where that cannot be told: all of the group are run again. */
function failedFiles({ group, reports, broke }: GroupResult): readonly string[] | null {
  const failed = [...reports].filter(([, report]) => report.failed > 0).map(([path]) => path);
  // A test that stands in a table or a contract has the name of that file, which several of the group may import.
  return broke || failed.some((path) => !group.paths.includes(path)) ? null : failed;
}

function withAgain(first: GroupResult, second: GroupResult, paths: readonly string[]): GroupResult {
  const counted = [...second.reports].filter(([path, { failed }]) => paths.includes(path) || failed > 0);
  return { ...second, group: first.group, reports: new Map([...first.reports, ...counted]) };
}

function flakyIn(first: GroupResult, second: GroupResult): string[] {
  if (second.broke) return [];
  const store = first.group.onSqld ? " on sqld" : "";
  const failuresOf = ({ reports }: GroupResult) =>
    [...reports].flatMap(([path, { failures }]) =>
      failures.map((one) => ({ ...one, name: `${path}${store} ${one.test}` }))
    );
  const again = new Set(failuresOf(second).map(({ name }) => name));
  const tests = failuresOf(first).filter(({ name, text }) => text !== CANCELLED && !again.has(name));
  const broke = first.broke ? [{ name: `${first.group.name}, which broke off`, text: first.lastOutput }] : [];
  return [...tests, ...broke].map(({ name, text }) => `flaky: ${name}\n${text.trim().replace(/^/gm, "  ")}`);
}
