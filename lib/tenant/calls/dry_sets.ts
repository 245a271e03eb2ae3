// Dry runs of many parameter sets: the first sets run one by one, so that their rows can be shown, the others at once.
import type { StatementEffect } from "../../engine/statement_effect.ts";
import type { ParamSets } from "../../sql/words/param_sets.ts";
import type { TenantCall } from "../tenant_store.ts";
import type { TenantStatement } from "../tenant_statement.ts";

/** Sets whose rows may be shown, and of a call about which a person may have to decide. */
const SHOWN = 10;
const SHOWN_TO_PERSON = 50;
/** Sets that run one by one where references are counted behind each, to find the one that breaks them. */
const COUNTED = 200;

/** What runs at a time: a statement (`sets` null), or all sets that are left. */
export interface DryStep {
  readonly statement: TenantStatement;
  readonly sets: ParamSets | null;
}

/** The steps of a dry run of the first `count` statements. `counted`: references are; `held`: a person may decide. */
export function dryRuns(
  { statements, paramSets = null }: Pick<TenantCall, "statements" | "paramSets">,
  count: number,
  { counted, held }: { readonly counted: boolean; readonly held: boolean },
): DryStep[] {
  const single = counted ? COUNTED : held ? SHOWN_TO_PERSON : SHOWN;
  return statements.slice(0, count).flatMap((statement): DryStep[] => {
    if (paramSets === null) return [{ statement, sets: null }];
    const steps: DryStep[] = paramSets.slice(0, single).map((params) => ({
      statement: { ...statement, params },
      sets: null,
    }));
    const others = paramSets.slice(single);
    return others.length === 0 ? steps : [...steps, { statement, sets: others }];
  });
}

/** The effect of sets together with that of later sets. `most`: rows that are shown. */
export function joinEffects(first: StatementEffect, then: StatementEffect, most: number): StatementEffect {
  return {
    ownRows: first.ownRows === null || then.ownRows === null ? null : first.ownRows + then.ownRows,
    cascadedRows: first.cascadedRows + then.cascadedRows,
    plan: first.plan,
    preview: joinPreviews(first.preview, then.preview, most),
  };
}

function joinPreviews(
  first: StatementEffect["preview"],
  then: StatementEffect["preview"],
  most: number,
): StatementEffect["preview"] {
  if (first === null || then === null) return first ?? then;
  // The rows after that have one before stand first, in its order.
  const met = [first, then].flatMap(({ before, after }) => after.slice(0, before.length));
  const added = [first, then].flatMap(({ before, after }) => after.slice(before.length));
  return {
    ...first,
    before: [...first.before, ...then.before].slice(0, most),
    after: [...met, ...added].slice(0, most),
  };
}
