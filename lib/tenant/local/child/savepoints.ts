// Work that leaves nothing behind where it fails.
import type { Connection } from "../../../engine/connection.ts";

/** Runs a statement so that its failure leaves no change. */
export type StatementGuard = <T>(work: () => T) => T;

/** Only runs it: a failure undoes more than the statement, or there is nothing to undo. */
export const unguarded: StatementGuard = <T>(work: () => T): T => work();

/** Runs work behind a savepoint of its own. */
export function behindSavepoint<T>(connection: Connection, work: () => T): T {
  connection.internalRun("SAVEPOINT statement");
  try {
    return undoing(connection, "statement", work);
  } finally {
    if (connection.database.isTransaction) connection.internalRun("RELEASE statement");
  }
}

/** Rolls back to an open savepoint when the work fails, unless the engine has ended the transaction. */
export function undoing<T>(connection: Connection, savepoint: "call" | "statement", work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (connection.database.isTransaction) connection.internalRun(`ROLLBACK TO ${savepoint}`);
    throw error;
  }
}
