// Counts the rows that the engine does not count as changes, by a query before a statement and one behind it.
import {
  countsText,
  replacedRows,
  type RowsBeside,
  rowsOfSchemaChange,
} from "../../sql/grammar/uncounted_rows.ts";
import type { TenantStatement } from "../tenant_statement.ts";

type Counted = Pick<TenantStatement, "replacing" | "schemaRows">;

/** The query before the statement, or null. */
export function textBefore({ replacing, schemaRows }: Counted): string | null {
  return replacing ? countsText(replacing) : schemaRows?.before ?? null;
}

/** The query after the statement, or null. */
export function textBehind({ replacing, schemaRows }: Counted): string | null {
  return replacing ? countsText(replacing) : schemaRows?.after ?? null;
}

export const nothingBeside: RowsBeside = { written: 0, removed: 0 };

/** What the engine has counted. */
export interface EngineCounts {
  readonly changes: number;
  /** Rows that all sets of the statement have changed themselves, because the engine tells that of the last set. */
  readonly ownOfSets?: number | undefined;
}

/** Compares the numbers before and after the statement, undefined where they are not known. */
export function rowsBeside(
  { replacing, schemaRows }: Counted,
  [before, behind]: readonly [before: readonly number[] | undefined, behind: readonly number[] | undefined],
  { changes, ownOfSets }: EngineCounts,
): RowsBeside {
  if (schemaRows) return rowsOfSchemaChange(schemaRows, [before?.[0], behind?.[0]], changes);
  if (!replacing || !before || !behind) return nothingBeside;
  const after = ownOfSets === undefined ? behind : [ownOfSets, ...behind.slice(1)];
  return { written: 0, removed: replacedRows(replacing, [before, after], changes) };
}
