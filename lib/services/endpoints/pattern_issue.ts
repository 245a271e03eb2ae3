// Whether a pattern may stand in a specification. Matching takes linear time anyway (lib/core/linear_pattern.ts); a
// pattern that a backtracking engine would choke on is refused all the same, for specifications are copied to others.
import { systemClock } from "../../core/clock.ts";
import { compilePattern } from "../../core/linear_pattern.ts";

/** Milliseconds that the search for a hostile text may take: the automaton needs a few, rarely tens. */
const SEARCH_MS = 500;
/** Verdicts that are kept: the same patterns come again with every change of a specification. */
const MAX_KEPT = 1000;

export interface Verdict {
  readonly status: "safe" | "vulnerable" | "unknown";
}

export type CheckSync = (source: string, flags: string, options: Record<string, unknown>) => Verdict;

const kept = new Map<string, string | null>();

/** What is wrong with it, or null. `load` brings the search. */
export async function patternIssue(
  source: string,
  load: () => Promise<CheckSync> = loadCheck,
): Promise<string | null> {
  const known = kept.get(source);
  if (known !== undefined) return known;
  const compiled = compilePattern(source);
  if (!compiled.ok) return compiled.reason;
  const status = await search(await load(), source);
  const issue = issues[status];
  // What a busy machine had no time for may be told the next time.
  if (status === "unknown") return issue;
  if (kept.size >= MAX_KEPT) kept.clear();
  kept.set(source, issue);
  return issue;
}

/** When the search before is over, and others have had the process for as long as it took. */
let turn: Promise<void> = Promise.resolve();

/** One at a time: however many hostile patterns are saved, at least half of the time is left to others. */
function search(checkSync: CheckSync, source: string): Promise<Verdict["status"]> {
  const found = turn.then(() => {
    const startedMs = systemClock.monotonicMs();
    const status = statusOf(checkSync, source);
    return { status, tookMs: systemClock.monotonicMs() - startedMs };
  });
  turn = found.then(({ tookMs }) => new Promise((resolve) => setTimeout(resolve, tookMs)));
  return turn.then(() => found).then(({ status }) => status);
}

/** A pattern that the search itself chokes on is as unknown as one that it had no time for. */
function statusOf(checkSync: CheckSync, source: string): Verdict["status"] {
  try {
    return checkSync(source, flagsOf(source), { checker: "automaton", timeout: SEARCH_MS }).status;
  } catch {
    // Its stack overflows on patterns that count high.
    return "unknown";
  }
}

const issues: Readonly<Record<Verdict["status"], string | null>> = {
  safe: null,
  vulnerable:
    "Write a regex that cannot backtrack more than linearly, such as one anchored with ^ and without nested repetition",
  unknown:
    "Write a simpler regex; whether this one can backtrack more than linearly could not be told in time",
};

let loaded: Promise<CheckSync> | null = null;

/** Large, and only needed where patterns are saved. */
function loadCheck(): Promise<CheckSync> {
  return loaded ??= import("recheck").then(checkOf);
}

/** Guarantee: the library's documented `checkSync`, whose module for browsers comes without types. */
function checkOf(module: { readonly default: unknown }): CheckSync {
  const { checkSync } = module.default as { readonly checkSync: CheckSync };
  // The first search takes ten times as long as the next ones; on a busy machine it would find no plain pattern safe.
  checkSync("^[a-z]+$", "u", { checker: "automaton" });
  return checkSync;
}

function flagsOf(source: string): "" | "u" {
  try {
    new RegExp(source, "u");
    return "u";
  } catch {
    return "";
  }
}
