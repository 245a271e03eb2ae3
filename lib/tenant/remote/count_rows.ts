// Counts the rows that the engine does not count as changes, by a step before a statement and one behind it.
import { countsText, replacedRows } from "../../sql/replaced_rows.ts";
import { countedRows } from "../../sql/schema_rows.ts";
import type { TenantStatement } from "../tenant_store.ts";
import type { StepResult } from "./hrana/hrana.ts";
import { integerOf } from "./hrana/remote_values.ts";

type Counted = Pick<TenantStatement, "replacing" | "schemaRows">;

/** The text of the step before it, or null. */
export function textBefore({ replacing, schemaRows }: Counted): string | null {
  return replacing ? countsText(replacing) : schemaRows?.before ?? null;
}

/** The text of the step behind it, or null. */
export function textBehind({ replacing, schemaRows }: Counted): string | null {
  return replacing ? countsText(replacing) : schemaRows?.after ?? null;
}

export interface RowsBeside {
  /** Billed, as changes are. */
  readonly written: number;
  readonly removed: number;
}

/** What the steps answered; `changes` were counted between them. */
export function rowsBeside(
  { replacing, schemaRows }: Counted,
  steps: readonly [before: StepResult | undefined, behind: StepResult | undefined],
  changes: number,
): RowsBeside {
  const [before, behind] = steps.map((step) => step?.ok ? step.rows[0]?.map(integerOf) : undefined);
  if (schemaRows) return countedRows(schemaRows, [before?.[0], behind?.[0]], changes);
  const removed = replacing && before && behind ? replacedRows(replacing, [before, behind], changes) : 0;
  return { written: 0, removed };
}
