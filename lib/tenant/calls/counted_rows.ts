// Counts the rows that the engine does not count as changes, by a query before a statement and one behind it.
import { countedRows, countsText, replacedRows } from "../../sql/uncounted_rows.ts";
import type { TenantStatement } from "../tenant_store.ts";

type Counted = Pick<TenantStatement, "replacing" | "schemaRows">;

/** The query before the statement, or null. */
export function textBefore({ replacing, schemaRows }: Counted): string | null {
  return replacing ? countsText(replacing) : schemaRows?.before ?? null;
}

/** The query after the statement, or null. */
export function textBehind({ replacing, schemaRows }: Counted): string | null {
  return replacing ? countsText(replacing) : schemaRows?.after ?? null;
}

export interface RowsBeside {
  /** Billed, as changes are. */
  readonly written: number;
  readonly removed: number;
}

export const nothingBeside: RowsBeside = { written: 0, removed: 0 };

/** Compares the numbers before and after the statement, undefined where they are not known. `changes`: what the engine counted. */
export function rowsBeside(
  { replacing, schemaRows }: Counted,
  [before, behind]: readonly [before: readonly number[] | undefined, behind: readonly number[] | undefined],
  changes: number,
): RowsBeside {
  if (schemaRows) return countedRows(schemaRows, [before?.[0], behind?.[0]], changes);
  const removed = replacing && before && behind ? replacedRows(replacing, [before, behind], changes) : 0;
  return { written: 0, removed };
}
