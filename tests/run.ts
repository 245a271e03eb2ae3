// `deno task test`: runs the tests with the sanitizers on, several groups of files at once, then those over HTTP once
// more with their tenants in sqld, and ends with the line `N passed, N failed`, which counts all of them. Where `CI` is
// set, a skipped test counts as failed, unless a filter is what left it out.
// Arguments are files, folders or `--filter=…`, and `--sqld` for the second kind of run only; without any, all but
// benchmarks run.
import { print } from "./testing/print.ts";
import { startSharedSqld } from "./testing/shared_sqld.ts";
import { inCi } from "./testing/sqld.ts";
import { suitesOnSqld } from "./testing/suites_on_sqld.ts";
import { testFiles } from "./testing/test_files.ts";
import { AT_ONCE, groupsOf, runGroups, type Tally, type TestGroup } from "./testing/test_groups.ts";

const onSqld = Deno.args.includes("--sqld");
const filters = Deno.args.filter((arg) => arg.startsWith("--filter"));
const named = Deno.args.filter((arg) => !arg.startsWith("--"));

const tallies: Tally[] = [];
if (!onSqld) tallies.push(...await runGroups(groups(await testFiles()), filters, Array(AT_ONCE).fill({})));
if (onSqld || Deno.args.length === 0) tallies.push(...await runOnSqld());

const sum = (name: keyof Tally) => tallies.reduce((total, tally) => total + tally[name], 0);
const strict = inCi() && filters.length === 0;
const [passed, skipped] = [sum("passed"), sum("skipped")];
const failed = sum("failed") + (strict ? skipped : 0);
const left = `${skipped} skipped${strict ? ", which CI counts as failed" : ""}\n`;
// A run that broke off may have left half a line behind, hence the first newline.
print(`\n${skipped > 0 ? left : ""}${passed} passed, ${failed} failed`);
Deno.exit(failed === 0 && passed > 0 ? 0 : 1);

/** What is named is one group, whose output is seen as it comes. */
function groups(files: readonly string[]): TestGroup[] {
  return named.length > 0 ? [{ name: named.join(" "), paths: named }] : groupsOf(files);
}

/** A server for each of the groups that run at once: some tests count all that is there. */
async function runOnSqld(): Promise<Tally[]> {
  const started = await Promise.all(Array.from({ length: named.length > 0 ? 1 : AT_ONCE }, startSharedSqld));
  const servers = started.filter((sqld) => sqld !== null);
  // All that would run there counts as one.
  if (servers.length === 0) return [{ passed: 0, failed: 0, skipped: 1 }];
  print("\nTenants in sqld:\n");
  try {
    return await runGroups(groups(await suitesOnSqld()), filters, servers.map(({ env }) => env));
  } finally {
    await Promise.all(servers.map((sqld) => sqld.stop()));
  }
}
