// Runs groups of test files, several at once.
import { print } from "./print.ts";
import { type GroupResult, runGroup } from "./run_group.ts";
import type { TestGroup } from "./test_groups.ts";

/** Of those that compute: each waits for its own processes now and then, and then another has the processor. */
const AT_ONCE = navigator.hardwareConcurrency + 1;
/** Of those that wait, beside them. */
const WAITING_AT_ONCE = 2;
const ENDINGS = ["SIGINT", "SIGTERM"] as const;

/**
 * Runs the groups and prints what each has written when it ends; of a single one, as it comes. `flags` are of `deno
 * test`. When the run is ended from outside, what the unfinished groups have written is printed, and they end too.
 */
export async function runGroups(
  groups: readonly TestGroup[],
  flags: readonly string[],
): Promise<GroupResult[]> {
  const ended = new AbortController();
  const unfinished = new Map<string, string[]>();
  const giveUp = () => {
    for (const [name, lines] of unfinished) print(`\n== ${name}, not finished\n${lines.join("")}`);
    ended.abort();
    Deno.exit(1);
  };
  for (const signal of ENDINGS) Deno.addSignalListener(signal, giveUp);
  const results: GroupResult[] = [];
  const run = async (group: TestGroup, written: string[] | null) =>
    results.push(await runGroup(group, { flags, written, signal: ended.signal }));
  const lane = async (own: TestGroup[], others: TestGroup[]) => {
    for (let group = own.shift() ?? others.shift(); group; group = own.shift() ?? others.shift()) {
      const startedMs = performance.now();
      const written: string[] = [];
      unfinished.set(group.name, written);
      await run(group, written);
      unfinished.delete(group.name);
      const seconds = Math.round((performance.now() - startedMs) / 1000);
      print(`\n== ${group.name} (${seconds} s)\n${written.join("").trim()}`);
    }
  };
  const [only] = groups;
  if (only && groups.length === 1) await run(only, null);
  else {
    const waiting = groups.filter(({ waits }) => waits);
    const computing = groups.filter(({ waits }) => !waits);
    await Promise.all([
      // Where nothing is left that waits, one more computes: beside nothing that waits, the processors have time for it.
      ...Array.from({ length: WAITING_AT_ONCE }, (_, at) => lane(waiting, at === 0 ? computing : [])),
      ...Array.from({ length: AT_ONCE }, () => lane(computing, waiting)),
    ]);
  }
  for (const signal of ENDINGS) Deno.removeSignalListener(signal, giveUp);
  return results;
}
