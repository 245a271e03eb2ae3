// Shows what a change of one row would do, and hands out the token that makes it. A change of another number of rows
// than one is refused, when it is shown and when it runs.
import { requireRole } from "../../access/caller.ts";
import { AppError } from "../../core/errors.ts";
import { DECISION_SEC } from "../../core/limits.ts";
import { quoteIdentifier } from "../../sql/words/quote.ts";
import { PLAIN_ROWS } from "../../sql/words/row_form.ts";
import type { SqlParameter } from "../../sql/words/sql_value.ts";
import { type Execution, issueExecution } from "../proposals/issue_execution.ts";
import { previewWrites, type WritePreview } from "../proposals/preview_writes.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import type { TableFacts } from "../schema/schema_facts.ts";
import { keyCondition, type RowAddress } from "./read_row.ts";

/** A value for a column. */
export interface ColumnValue {
  readonly column: string;
  readonly value: SqlParameter;
}

/** A change of one row. */
export type RowChange =
  | {
    readonly kind: "update";
    readonly row: RowAddress;
    readonly set: readonly ColumnValue[];
    /** Values that the row must still have: what the person saw in the columns that change. */
    readonly seen: readonly ColumnValue[];
  }
  | { readonly kind: "insert"; readonly table: TableFacts; readonly set: readonly ColumnValue[] }
  | { readonly kind: "delete"; readonly row: RowAddress };

/** The change as one statement. */
export interface RowStatement {
  readonly sql: string;
  readonly params: readonly SqlParameter[];
}

/** What the change would do, and the token that makes it. */
export interface ProposedRow extends Execution {
  readonly statement: RowStatement;
  readonly preview: WritePreview;
}

const GONE = "Open the row again; it is gone, or no longer as it was shown";

/**
 * Errors: `role_too_low`, `effect_changed` where it is not exactly one row as it was seen, and every error that the change
 * itself would raise.
 */
export async function proposeRow(ctx: StatementsContext, change: RowChange): Promise<ProposedRow> {
  requireRole(ctx.target, "write");
  const statement = rowStatement(change);
  const previewed = await previewWrites(ctx, {
    statements: [statement],
    atomic: true,
    batch: false,
    rowForm: PLAIN_ROWS,
    maxAffected: null,
  });
  const [preview] = previewed.data;
  if (preview?.estimatedAffectedRows !== 1) throw new AppError("effect_changed", { message: GONE });
  const execution = await issueExecution(ctx, previewed, {
    ttlSec: DECISION_SEC,
    maxAffected: 1 + (preview.cascadedRows ?? 0),
  });
  return { ...execution, statement, preview };
}

/** The statement that makes the change. */
function rowStatement(change: RowChange): RowStatement {
  if (change.kind === "insert") return insertStatement(change.table, change.set);
  const { row } = change;
  const name = quoteIdentifier(row.table.name);
  const where = keyCondition(row);
  if (change.kind === "delete") {
    return { sql: `DELETE FROM ${name} WHERE ${where.sql}`, params: where.params };
  }
  const seen = change.seen.map(({ column }) => ` AND ${quoteIdentifier(column)} IS ?`);
  return {
    sql: `UPDATE ${name} SET ${
      change.set.map(({ column }) => `${quoteIdentifier(column)} = ?`).join(", ")
    } WHERE ${where.sql}${seen.join("")}`,
    params: [
      ...change.set.map(({ value }) => value),
      ...where.params,
      ...change.seen.map(({ value }) => value),
    ],
  };
}

function insertStatement(table: TableFacts, set: readonly ColumnValue[]): RowStatement {
  const name = quoteIdentifier(table.name);
  if (set.length === 0) return { sql: `INSERT INTO ${name} DEFAULT VALUES`, params: [] };
  const columns = set.map(({ column }) => quoteIdentifier(column)).join(", ");
  return {
    sql: `INSERT INTO ${name} (${columns}) VALUES (${set.map(() => "?").join(", ")})`,
    params: set.map(({ value }) => value),
  };
}
