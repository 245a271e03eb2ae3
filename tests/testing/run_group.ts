// Runs a group of test files in a process of its own and reads what came of them.
import { print } from "./print.ts";
import { type SharedSqld, startSharedSqld } from "./shared_sqld.ts";
import type { TestGroup } from "./test_groups.ts";
import { inCi } from "./sqld.ts";
import { CANCELLED, type FileReport, readReport, type Tally } from "./test_report.ts";

export interface GroupResult {
  readonly group: TestGroup;
  /** By the file in which the test is written, which may be one that files of the group import. */
  readonly reports: ReadonlyMap<string, FileReport>;
  /** It ended badly in a way that no test explains: a crash, a file that does not load, an error outside of all tests. */
  readonly broke: boolean;
  /** Tests that were not run, because what they need is not there. */
  readonly leftOut: number;
  /** The end of what was kept of its output. */
  readonly lastOutput: string;
}

export interface RunOptions {
  /** Of `deno test`. */
  readonly flags: readonly string[];
  /** Gets the output; null: it goes on to where ours goes. */
  readonly written: string[] | null;
  /** Ends the run. */
  readonly signal?: AbortSignal;
  /** Laid over the environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** After so many milliseconds without a test that ends the group counts as hanging and is ended; absent: in CI only. */
  readonly silentMs?: number;
}

/**
 * The same where nobody is there to end it: several times what the longest test takes on a busy machine. Short enough that
 * the group can be run again.
 */
const CI_SILENT_MS = 240_000;
/** What is written of a test that takes long, again and again. */
const STILL_RUNS = /has been running for over/;
/** How long output is waited for after the process has ended: what it left running may hold the pipe open. */
const LAST_OUTPUT_MS = 2_000;
/** What is kept of the output. */
const LAST_CHARACTERS = 3_000;
const root = new URL("../../", import.meta.url);
const decoder = new TextDecoder();

/** All tests together; a run that broke off without a failed test counts as one. */
export function tallyOf({ reports, broke, leftOut }: GroupResult): Tally {
  const sum = (name: keyof Tally) => [...reports.values()].reduce((total, report) => total + report[name], 0);
  const failed = sum("failed");
  return {
    passed: sum("passed"),
    failed: broke ? Math.max(1, failed) : failed,
    skipped: sum("skipped") + leftOut,
  };
}

export async function runGroup(group: TestGroup, options: RunOptions): Promise<GroupResult> {
  const result = { group, reports: new Map(), leftOut: 0, broke: false, lastOutput: "" };
  if (!group.onSqld) return { ...result, ...await runTests(group, options, options.env ?? {}) };
  let sqld: SharedSqld | null;
  try {
    sqld = await startSharedSqld();
  } catch (error) {
    print(`\n${group.name}: ${error}`);
    return { ...result, broke: true, lastOutput: String(error) };
  }
  // All that would run there counts as one.
  if (sqld === null) return { ...result, leftOut: 1 };
  try {
    return { ...result, ...await runTests(group, options, { ...options.env, ...sqld.env }) };
  } finally {
    await sqld.stop();
  }
}

/** `env` is laid over the environment. */
async function runTests(
  { paths }: TestGroup,
  { flags, written, signal, silentMs }: RunOptions,
  env: Readonly<Record<string, string>>,
): Promise<Pick<GroupResult, "reports" | "broke" | "lastOutput">> {
  const folder = await Deno.makeTempDir({ prefix: "test_group_" });
  const [report, entry] = [`${folder}/report.xml`, `${folder}/entry.ts`];
  await Deno.writeTextFile(entry, entryOf(paths));
  const limitMs = silentMs ?? (inCi() ? CI_SILENT_MS : null);
  const output = written === null && limitMs === null ? "inherit" : "piped";
  const hangs = new AbortController();
  const tests = new Deno.Command(Deno.execPath(), {
    cwd: root,
    args: [
      "test",
      // The checker has its own task; here it would only be slower.
      "--no-check",
      // Most code of a test runs only a few times: optimizing it takes longer than it saves. Nor does V8 place objects by what
      // it has learned of their kind, as in the service: calls in sqld would leave 10 kB each among the old ones.
      "--v8-flags=--no-opt,--no-allocation-site-pretenuring",
      "--sanitize-ops",
      "--sanitize-resources",
      // Tests look at the processes that they start in /proc, which no narrower permission opens.
      "--allow-all",
      "--config=deno.json",
      `--junit-path=${report}`,
      ...flags,
      entry,
    ],
    env,
    stdin: "null",
    stdout: output,
    stderr: output,
    signal: AbortSignal.any([...signal ? [signal] : [], hangs.signal]),
  }).spawn();
  const patience = patienceOf(limitMs, () => hangs.abort());
  const reading = output === "inherit" ? null : readOutput(tests, (text) => {
    patience.hear(text);
    if (written === null) Deno.stdout.writeSync(new TextEncoder().encode(text));
    else written.push(text);
  });
  const { success } = await tests.status;
  patience.end();
  await reading?.();
  const reports = readReport(await Deno.readTextFile(report).catch(() => ""));
  await Deno.remove(folder, { recursive: true });
  const failures = [...reports.values()].flatMap((one) => one.failures);
  const cancelled = failures.some(({ text }) => text === CANCELLED);
  return {
    reports,
    broke: cancelled || (!success && failures.length === 0),
    lastOutput: written?.join("").slice(-LAST_CHARACTERS) ?? "",
  };
}

/**
 * A module that imports them: `deno test` loads everything anew for each module that it is given, and for small files
 * that takes longer than their tests. Reports and failures name the files all the same.
 */
function entryOf(paths: readonly string[]): string {
  return paths.map((path) => `import ${JSON.stringify(new URL(path, root).href)};\n`).join("");
}

/** Calls `giveUp` when nothing is heard of the tests for `limitMs`; null: never. */
function patienceOf(limitMs: number | null, giveUp: () => void): { hear(text: string): void; end(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = () => {
    clearTimeout(timer);
    if (limitMs !== null) timer = setTimeout(giveUp, limitMs);
  };
  wait();
  return { hear: (text) => STILL_RUNS.test(text) ? undefined : wait(), end: () => clearTimeout(timer) };
}

/** What it answers is called when the process has ended, and resolves when the last output is there. */
function readOutput(
  { stdout, stderr }: Deno.ChildProcess,
  hear: (text: string) => void,
): () => Promise<void> {
  const letGo = new AbortController();
  const keep = () => new WritableStream<Uint8Array>({ write: (bytes) => hear(decoder.decode(bytes)) });
  const reading = [stdout, stderr].map((stream) =>
    stream.pipeTo(keep(), { signal: letGo.signal }).catch((error) => {
      if (!letGo.signal.aborted) throw error;
    })
  );
  return async () => {
    const patience = setTimeout(() => letGo.abort(), LAST_OUTPUT_MS);
    await Promise.all(reading);
    clearTimeout(patience);
  };
}
