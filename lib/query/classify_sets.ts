// Understands a call whose one statement runs once for each parameter set: the statement as any other, then its sets.
import { invalidInput } from "../core/errors.ts";
import type { ParamSets } from "../sql/words/param_sets.ts";
import type { StatementFacts } from "../sql/grammar/statement_facts.ts";
import { type Classified, parameterFailure } from "./classify.ts";

/**
 * Checks the sets of a statement. A set that does not fit makes the whole call fail, atomic or not, because it can be
 * seen before anything runs. Errors: `validation_failed` for a statement that cannot run so often.
 */
export function classifySets(classified: Classified, paramSets: ParamSets): Classified {
  const [facts] = classified.facts;
  if (facts === undefined || facts.class === "refused") return classified;
  refuseOthers(facts);
  for (const [at, params] of paramSets.entries()) {
    const failure = parameterFailure(facts.parameterCount, params);
    if (failure === null) continue;
    const misunderstood = { failure, verb: facts.verb, target: facts.target, at, code: null };
    return { ...classified, facts: [], misunderstood };
  }
  return classified;
}

/** Facts hold for all sets only where no value decides what the statement does. */
function refuseOthers({ class: kind, verb, pragma, commands }: StatementFacts): void {
  const repeats = (kind === "read" || kind === "write") && verb !== "explain" && pragma === null;
  const decides = commands?.some(({ own, triggered }) =>
    [...own, ...triggered].some(({ is }) => is === "parameter")
  );
  if (repeats && !decides) return;
  throw invalidInput(
    "sql",
    decides
      ? "Write the command of the full-text table into the text; no parameter of paramSets may be a command"
      : "Send SELECT, INSERT, UPDATE, DELETE or REPLACE with paramSets, and other statements as statements",
  );
}
