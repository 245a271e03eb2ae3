// `deno task test`: runs the tests with the sanitizers on, then those over HTTP once more with their tenants in sqld,
// and ends with the line `N passed, N failed`, which counts both. Where `CI` is set, a skipped test counts as failed,
// unless a filter is what left it out.
// Arguments are files, folders or `--filter=…`, and `--sqld` for the second kind of run only; without any, all but
// benchmarks run.
import { print } from "./testing/print.ts";
import { startSharedSqld } from "./testing/shared_sqld.ts";
import { inCi } from "./testing/sqld.ts";
import { suitesOnSqld } from "./testing/suites_on_sqld.ts";

/** Steps of a test count as tests, as in the report. */
interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const root = new URL("..", import.meta.url);
const onSqld = Deno.args.includes("--sqld");
const args = Deno.args.filter((arg) => arg !== "--sqld");
const isFilter = (arg: string) => arg.startsWith("--");

const tallies: Tally[] = [];
if (!onSqld) tallies.push(await runTests(args.length > 0 ? args : ["tests"], {}));
if (onSqld || args.length === 0) tallies.push(await runOnSqld());

const sum = (name: keyof Tally) => tallies.reduce((total, tally) => total + tally[name], 0);
const strict = inCi() && !args.some((arg) => arg.startsWith("--filter"));
const [passed, skipped] = [sum("passed"), sum("skipped")];
const failed = sum("failed") + (strict ? skipped : 0);
const left = `${skipped} skipped${strict ? ", which CI counts as failed" : ""}\n`;
// A run that broke off may have left half a line behind, hence the first newline.
print(`\n${skipped > 0 ? left : ""}${passed} passed, ${failed} failed`);
Deno.exit(failed === 0 && passed > 0 ? 0 : 1);

/** One server for the whole run: every app makes databases of its own. */
async function runOnSqld(): Promise<Tally> {
  const sqld = await startSharedSqld();
  // All that would run there counts as one.
  if (sqld === null) return { passed: 0, failed: 0, skipped: 1 };
  print("\nTenants in sqld:\n");
  try {
    const paths = args.some((arg) => !isFilter(arg)) ? [] : await suitesOnSqld();
    return await runTests([...args, ...paths], sqld.env);
  } finally {
    await sqld.stop();
  }
}

/** `what`: arguments of `deno test`. */
async function runTests(what: readonly string[], env: Readonly<Record<string, string>>): Promise<Tally> {
  const report = await Deno.makeTempFile({ prefix: "test_report_", suffix: ".xml" });
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
      ...what,
    ],
    env,
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn();
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
