// Whether a pattern may stand in a specification. Matching takes linear time anyway (lib/core/linear_pattern.ts); a
// pattern that a backtracking engine would choke on is refused all the same, for specifications are copied to others.
import { compilePattern } from "../../core/linear_pattern.ts";

/** Milliseconds that the search for a hostile text may take: the automaton needs a few, rarely tens. */
const SEARCH_MS = 500;
/** Verdicts that are kept: the same patterns come again with every change of a specification. */
const MAX_KEPT = 1000;

interface Verdict {
  readonly status: "safe" | "vulnerable" | "unknown";
}

type CheckSync = (source: string, flags: string, options: Record<string, unknown>) => Verdict;

const kept = new Map<string, string | null>();

/** What is wrong with it, or null. */
export async function patternIssue(source: string): Promise<string | null> {
  const known = kept.get(source);
  if (known !== undefined) return known;
  const compiled = compilePattern(source);
  if (!compiled.ok) return compiled.reason;
  const checkSync = await loadCheck();
  // Between two searches others get their turn.
  await new Promise((resolve) => setTimeout(resolve));
  const issue = issues[statusOf(checkSync, source)];
  if (kept.size >= MAX_KEPT) kept.clear();
  kept.set(source, issue);
  return issue;
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
  return (module.default as { readonly checkSync: CheckSync }).checkSync;
}

function flagsOf(source: string): "" | "u" {
  try {
    new RegExp(source, "u");
    return "u";
  } catch {
    return "";
  }
}
