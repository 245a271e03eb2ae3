// Whether a pattern may be part of a specification. This service matches in linear time (lib/core/linear_pattern.ts).
// A pattern on which a backtracking engine takes too long is refused all the same, for specifications are copied
// elsewhere.
import { systemClock } from "../../../core/clock.ts";
import { compilePattern } from "../../../core/linear_pattern.ts";
import { once } from "../../../core/once.ts";
import { ownTurn } from "../../../core/own_turn.ts";

/** Milliseconds that the search for a hostile text may take: the automaton needs a few, rarely tens. */
const SEARCH_MS = 500;
/** Verdicts in the cache: the same patterns come again with every change of a specification. */
const MAX_CACHED = 1000;

/** What the search says about a pattern. */
export interface Verdict {
  readonly status: "safe" | "vulnerable" | "unknown";
  /** Why it is unknown: `invalid` where the search does not know the syntax. */
  readonly error?: { readonly kind: string };
}

/** `unread`: the search does not know the syntax, so another one would tell as little. */
type Judged = Verdict["status"] | "unread";

/** The search for a text on which a pattern takes too long. */
export type CheckSync = (source: string, flags: string, options: Record<string, unknown>) => Verdict;

const cached = new Map<string, string | null>();

/** What is wrong with a pattern, or null. `load` loads the search. */
export async function patternIssue(
  source: string,
  load: () => Promise<CheckSync> = loadCheck,
): Promise<string | null> {
  const known = cached.get(source);
  if (known !== undefined) return known;
  // A specification has a hundred of them.
  await ownTurn();
  const compiled = compilePattern(source);
  if (!compiled.ok) return compiled.reason;
  const status = await search(await load(), source);
  const issue = issues[status];
  // A busy machine may have had no time for it: the next save searches again.
  if (status === "unknown") return issue;
  if (cached.size >= MAX_CACHED) cached.clear();
  cached.set(source, issue);
  return issue;
}

/** Resolves when the search before is over and the process has been free for as long as that search took. */
let turn: Promise<void> = Promise.resolve();

/** One at a time: however many hostile patterns are saved, at least half of the time is left to others. */
function search(checkSync: CheckSync, source: string): Promise<Judged> {
  const found = turn.then(() => {
    const startedMs = systemClock.monotonicMs();
    const status = statusOf(checkSync, source);
    return { status, tookMs: systemClock.monotonicMs() - startedMs };
  });
  turn = found.then(({ tookMs }) => new Promise((resolve) => setTimeout(resolve, tookMs)));
  return turn.then(() => found).then(({ status }) => status);
}

/** A pattern on which the search itself fails is as unknown as one for which there was no time. */
function statusOf(checkSync: CheckSync, source: string): Judged {
  try {
    const { status, error } = checkSync(source, flagsOf(source), {
      checker: "automaton",
      timeout: SEARCH_MS,
    });
    return error?.kind === "invalid" ? "unread" : status;
  } catch {
    // Its stack overflows on patterns that count high.
    return "unknown";
  }
}

const issues: Readonly<Record<Judged, string | null>> = {
  safe: null,
  vulnerable:
    "Write a regex that cannot backtrack more than linearly, such as one anchored with ^ and without nested repetition",
  unknown:
    "Write a simpler regex; whether this one can backtrack more than linearly could not be told in time",
  unread:
    "Write a regex without modifiers as in (?i:a) and other newer syntax; whether it can backtrack more than linearly cannot be told",
};

/** Large, and only needed where patterns are saved. */
const loadCheck = once(() => import("recheck").then(checkOf));

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
