// Runs test files in groups, several at once, each group in a process of its own, and counts what came of them.
import { print } from "./print.ts";
import { type SharedSqld, startSharedSqld } from "./shared_sqld.ts";
import { slowFiles } from "./slow_files.ts";

/** Steps of a test count as tests, as in the report. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export interface TestGroup {
  readonly name: string;
  /** Files, from the top of the repository. */
  readonly paths: readonly string[];
  /** With an sqld of its own for the tenants: some tests count all that is there. */
  readonly onSqld: boolean;
  /** Waits for most of its time, so that it runs beside as many groups as there are processors. */
  readonly waits?: boolean;
}

/** Of those that compute. More would not be faster, and tests of time limits would see their limits pass. */
const AT_ONCE = navigator.hardwareConcurrency;
/** Of those that wait, beside them. */
const WAITING_AT_ONCE = 2;
const root = new URL("../../", import.meta.url);
const decoder = new TextDecoder();

/** A group for each slow file and for each folder, in the order in which they should start: the longest first. */
export function groupsOf(files: readonly string[], onSqld: readonly string[]): TestGroup[] {
  const groups = [files, onSqld].flatMap((paths, at) => inFolders(paths, at === 1));
  const slow = ({ paths: [path = ""] }: TestGroup) => slowFiles[path]?.seconds ?? 0;
  return groups.sort((a, b) => slow(b) - slow(a) || b.paths.length - a.paths.length);
}

function inFolders(files: readonly string[], onSqld: boolean): TestGroup[] {
  const byName = new Map<string, string[]>();
  for (const path of files) {
    const name = path in slowFiles ? path : path.slice(0, path.lastIndexOf("/"));
    byName.set(name, [...byName.get(name) ?? [], path]);
  }
  return [...byName].map(([name, paths]) => ({
    ...{ name: onSqld ? `${name} on sqld` : name, paths, onSqld },
    waits: slowFiles[name]?.waits ?? false,
  }));
}

/**
 * Runs the groups and prints what each has written when it ends; of a single one, as it comes. `options` are of `deno
 * test`. When the run is ended from outside, what the unfinished groups have written is printed first.
 */
export async function runGroups(groups: readonly TestGroup[], options: readonly string[]): Promise<Tally[]> {
  const [only] = groups;
  if (only && groups.length === 1) return [await runGroup(only, options, null)];
  const unfinished = new Map<string, string[]>();
  const giveUp = () => {
    for (const [name, lines] of unfinished) print(`\n== ${name}, not finished\n${lines.join("")}`);
    Deno.exit(1);
  };
  Deno.addSignalListener("SIGTERM", giveUp);
  const tallies: Tally[] = [];
  const lane = async (own: TestGroup[], others: TestGroup[]) => {
    for (let group = own.shift() ?? others.shift(); group; group = own.shift() ?? others.shift()) {
      const startedMs = performance.now();
      const written: string[] = [];
      unfinished.set(group.name, written);
      tallies.push(await runGroup(group, options, written));
      unfinished.delete(group.name);
      const seconds = Math.round((performance.now() - startedMs) / 1000);
      print(`\n== ${group.name} (${seconds} s)\n${written.join("").trim()}`);
    }
  };
  const waiting = groups.filter(({ waits }) => waits);
  const computing = groups.filter(({ waits }) => !waits);
  await Promise.all([
    ...Array.from({ length: WAITING_AT_ONCE }, () => lane(waiting, [])),
    ...Array.from({ length: AT_ONCE }, () => lane(computing, waiting)),
  ]);
  Deno.removeSignalListener("SIGTERM", giveUp);
  return tallies;
}

/** `written`: gets the output; null: it goes on to where ours goes. */
async function runGroup(
  group: TestGroup,
  options: readonly string[],
  written: string[] | null,
): Promise<Tally> {
  if (!group.onSqld) return await runTests(group, options, {}, written);
  // All that would run there counts as one, skipped where there is no sqld for this machine.
  let sqld: SharedSqld | null;
  try {
    sqld = await startSharedSqld();
  } catch (error) {
    print(`\n${group.name}: ${error}`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
  if (sqld === null) return { passed: 0, failed: 0, skipped: 1 };
  try {
    return await runTests(group, options, sqld.env, written);
  } finally {
    await sqld.stop();
  }
}

/** `env` is laid over the environment. */
async function runTests(
  { paths }: TestGroup,
  options: readonly string[],
  env: Readonly<Record<string, string>>,
  written: string[] | null,
): Promise<Tally> {
  const report = await Deno.makeTempFile({ prefix: "test_report_", suffix: ".xml" });
  const entry = await entryOf(paths);
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
      "--config=deno.json",
      `--junit-path=${report}`,
      ...options,
      entry,
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
  await Promise.all([report, entry].map((path) => Deno.remove(path)));
  return tally;
}

/**
 * A module that imports them: `deno test` loads everything anew for each module that it is given, and for small files
 * that takes longer than their tests. Reports and failures name the files all the same.
 */
async function entryOf(paths: readonly string[]): Promise<string> {
  const entry = await Deno.makeTempFile({ prefix: "test_group_", suffix: ".ts" });
  const imports = paths.map((path) => `import ${JSON.stringify(new URL(path, root).href)};\n`);
  await Deno.writeTextFile(entry, imports.join(""));
  return entry;
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
