// What has to be known of an UPDATE or DELETE of one table to show its rows. Needs the schema only.
import type { CompileConnection } from "./compile_connection.ts";
import { type BoundText, unmovedForm } from "./moved_rows.ts";
import { type PreviewTarget, targetOf } from "./preview_target.ts";

export interface StatementTarget {
  readonly target: PreviewTarget;
  /** Of an UPDATE that moves rows to other keys: the same one that leaves them where they are. */
  readonly unmoved: BoundText | null;
}

/** Null where no single table's rows can be told. Throws what the engine throws. */
export function statementTarget(connection: CompileConnection, statement: BoundText): StatementTarget | null {
  const target = targetOf(connection, statement.sql);
  if (target === null) return null;
  return { target, unmoved: target.verb === "UPDATE" ? unmovedForm(statement, target) : null };
}
