// Tells those who follow a database that another state has taken the place of the former one.
import { type ChangePlace, newestChangeQuery, restartChanges } from "../../../sql/service/change_rows.ts";
import type { Connection } from "../../../engine/connection.ts";

/** How far the changes of a database have come; null: it had none. */
export function placeIn(connection: Connection): ChangePlace | null {
  const row = connection.internalRow(newestChangeQuery);
  return row ? { seq: Number(row[0]), epoch: Number(row[1]) } : null;
}

/** Begins the changes of the new state behind those of the former one. `tables`: those of both. */
export function restart(
  target: Connection,
  { former, tables, nowMs }: {
    readonly former: ChangePlace | null;
    readonly tables: readonly string[];
    readonly nowMs: number;
  },
): void {
  target.internalRun("BEGIN IMMEDIATE");
  const statements = restartChanges(former, { tables: [...new Set(tables)].sort(), nowMs });
  for (const [sql, params] of statements) target.internalRun(sql, ...params);
  target.internalRun("COMMIT");
}
