// The engine says that the disk is full when a table with AUTOINCREMENT has no number left: that is the statement's failure.
import { type EngineFailure, plainFailure } from "../../engine/engine_failure.ts";
import { rowsOrNull, type Work } from "./work.ts";

/**
 * Tables without a number left, or with fewer than a statement may take: what the failed one has taken of them is given back by
 * now. An error where no table has AUTOINCREMENT.
 */
const USED_UP_TABLES = "SELECT name FROM sqlite_sequence WHERE seq > 9223372036854775807 - 1000000";

/**
 * The failure by its real name, where the statement that has just failed inserts into one of those tables; else as it is.
 * `actions`: what the statement does to which table; called only where it matters.
 */
export function* unlessUsedUp(
  failure: EngineFailure,
  actions: () => readonly string[],
): Work<EngineFailure> {
  if (failure.kind !== "full") return failure;
  const usedUp = yield* rowsOrNull({ sql: USED_UP_TABLES });
  const does = usedUp === null || usedUp.length === 0 ? [] : actions();
  const table = usedUp?.map(([name]) => String(name)).find((name) => does.includes(`insert ${name}`));
  if (table === undefined) return failure;
  return { ...plainFailure("unknown", `AUTOINCREMENT of ${table} has no number left`), table };
}
