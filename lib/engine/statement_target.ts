// The facts that showing the rows of an UPDATE or DELETE needs, found from the schema alone.
import type { CompileConnection } from "./compile_connection.ts";
import { type BoundText, unmovedForm } from "./moved_rows.ts";
import { type PreviewTarget, targetOf } from "./preview_target.ts";

/** The table that a statement changes, and the form that shows its rows. */
export interface StatementTarget {
  readonly target: PreviewTarget;
  /** For an UPDATE that moves rows to other keys: the same UPDATE with unchanged keys. */
  readonly unmoved: BoundText | null;
}

/** Finds the target; null where the statement changes no single table's rows. Throws what the engine throws. */
export function statementTarget(connection: CompileConnection, statement: BoundText): StatementTarget | null {
  const target = targetOf(connection, statement.sql);
  if (target === null) return null;
  return { target, unmoved: target.verb === "UPDATE" ? unmovedForm(statement, target) : null };
}
