// Counts the rows that a statement replaces, by a step before it and one behind it.
import { countsText, replacedRows, type Replacing } from "../../sql/replaced_rows.ts";
import type { StepResult } from "./hrana.ts";
import { integerOf } from "./remote_values.ts";

/** The text of both steps, none where nothing can be replaced. */
export function countTexts(replacing: Replacing | undefined): readonly string[] {
  return replacing === undefined ? [] : [countsText(replacing)];
}

/** What the two steps answered; `all` changes were counted between them. */
export function countReplaced(
  replacing: Replacing | undefined,
  counts: readonly [before: StepResult | undefined, after: StepResult | undefined],
  all: number,
): number {
  const [before, after] = counts.map((step) => step?.ok ? step.rows[0]?.map(integerOf) : undefined);
  return replacing && before && after ? replacedRows(replacing, [before, after], all) : 0;
}
