// `deno task test`: runs the tests with the sanitizers on and ends with the line `N passed, N failed`. Where `CI` is
// set, a skipped test counts as failed. Arguments are files, folders or `--filter=…`; without any, all but benchmarks run.

/** Steps of a test count as tests, as in the report. */
interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const root = new URL("..", import.meta.url);
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
    ...(Deno.args.length > 0 ? Deno.args : ["tests"]),
  ],
  stdin: "null",
  stdout: "inherit",
  stderr: "inherit",
}).spawn();
const { success } = await tests.status;
const tally = await readTally(report, success);
await Deno.remove(report);

const strict = Boolean(Deno.env.get("CI"));
const failed = tally.failed + (strict ? tally.skipped : 0);
const skipped = `${tally.skipped} skipped${strict ? ", which CI counts as failed" : ""}\n`;
// A run that broke off may have left half a line behind, hence the first newline.
await Deno.stdout.write(
  new TextEncoder().encode(`\n${tally.skipped > 0 ? skipped : ""}${tally.passed} passed, ${failed} failed\n`),
);
Deno.exit(success && failed === 0 && tally.passed > 0 ? 0 : 1);

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
