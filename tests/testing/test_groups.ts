// Runs test files in groups, several at once, each group in a process of its own, and counts what came of them.
import { print } from "./print.ts";

/** Steps of a test count as tests, as in the report. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export interface TestGroup {
  readonly name: string;
  /** Files and folders, from the top of the repository. */
  readonly paths: readonly string[];
}

/** What tests are given, laid over the environment. */
export type TestEnv = Readonly<Record<string, string>>;

/** More would be faster still, but tests of time limits would see their limits pass on a busy machine. */
export const AT_ONCE: number = navigator.hardwareConcurrency;
/** Folders whose files are groups of their own, first in line: each of them starts and ends whole services. */
const LONG = ["tests/deploy", "tests/faults", "tests/tenant"];

const root = new URL("../../", import.meta.url);
const decoder = new TextDecoder();

/** A group for each folder, in the order in which they should start. */
export function groupsOf(files: readonly string[]): TestGroup[] {
  const byName = new Map<string, string[]>();
  for (const path of files) {
    const folder = path.slice(0, path.lastIndexOf("/"));
    const name = LONG.includes(folder) ? path : folder;
    byName.set(name, [...byName.get(name) ?? [], path]);
  }
  const rank = (name: string) => {
    const at = LONG.findIndex((folder) => name.startsWith(`${folder}/`));
    return at === -1 ? LONG.length : at;
  };
  return [...byName].map(([name, paths]) => ({ name, paths })).sort((a, b) => rank(a.name) - rank(b.name));
}

/**
 * Runs as many groups at once as there are in `envs`, each of which serves one at a time, and prints what a group has
 * written when it ends; of a single one, as it comes. `options` are of `deno test`. When the run is ended from
 * outside, what the unfinished groups have written is printed first.
 */
export async function runGroups(
  groups: readonly TestGroup[],
  options: readonly string[],
  envs: readonly TestEnv[],
): Promise<Tally[]> {
  const [only] = groups;
  if (only && groups.length === 1) return [await runGroup(only, options, envs[0] ?? {}, null)];
  const unfinished = new Map<string, string[]>();
  const giveUp = () => {
    for (const [name, lines] of unfinished) print(`\n== ${name}, not finished\n${lines.join("")}`);
    Deno.exit(1);
  };
  Deno.addSignalListener("SIGTERM", giveUp);
  const waiting = [...groups];
  const tallies: Tally[] = [];
  const worker = async (env: TestEnv) => {
    for (let group = waiting.shift(); group; group = waiting.shift()) {
      const written: string[] = [];
      unfinished.set(group.name, written);
      tallies.push(await runGroup(group, options, env, written));
      unfinished.delete(group.name);
      print(`\n== ${group.name}\n${written.join("").trim()}`);
    }
  };
  await Promise.all(envs.map(worker));
  Deno.removeSignalListener("SIGTERM", giveUp);
  return tallies;
}

/** `written`: gets the output; null: it goes on to where ours goes. */
async function runGroup(
  { paths }: TestGroup,
  options: readonly string[],
  env: TestEnv,
  written: string[] | null,
): Promise<Tally> {
  const report = await Deno.makeTempFile({ prefix: "test_report_", suffix: ".xml" });
  const output = written === null ? "inherit" : "piped";
  const tests = new Deno.Command(Deno.execPath(), {
    cwd: root,
    args: [
      "test",
      // The checker has its own task; here it would only be slower.
      "--no-check",
      "--sanitize-ops",
      "--sanitize-resources",
      // Tests look at the processes that they start in /proc, which no narrower permission opens.
      "--allow-all",
      "--ignore=tests/bench",
      `--junit-path=${report}`,
      ...options,
      ...paths,
    ],
    env,
    stdin: "null",
    stdout: output,
    stderr: output,
  }).spawn();
  const keep = async (stream: ReadableStream<Uint8Array>) => {
    for await (const bytes of stream) written?.push(decoder.decode(bytes));
  };
  if (written !== null) await Promise.all([keep(tests.stdout), keep(tests.stderr)]);
  const { success } = await tests.status;
  const tally = await readTally(report, success);
  await Deno.remove(report);
  return tally;
}

/** A run that ended badly without a failure in its report (a file that does not load, a crash) counts as one. */
async function readTally(path: string, succeeded: boolean): Promise<Tally> {
  const suites = (await Deno.readTextFile(path)).match(/<testsuite\s[^>]*>/g) ?? [];
  const sum = (name: string) => suites.reduce((total, suite) => total + attribute(suite, name), 0);
  const failures = sum("failures") + sum("errors");
  const skipped = sum("disabled") + sum("skipped");
  const failed = succeeded || failures > 0 ? failures : 1;
  return { passed: Math.max(0, sum("tests") - failures - skipped), failed, skipped };
}

function attribute(tag: string, name: string): number {
  return Number(new RegExp(`\\s${name}="(\\d+)"`).exec(tag)?.[1] ?? 0);
}
