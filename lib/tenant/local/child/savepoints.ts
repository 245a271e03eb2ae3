// Savepoints around what may fail.
import type { Connection } from "../../../engine/connection.ts";

/** Behind a savepoint of its own. */
export function behindSavepoint<T>(connection: Connection, work: () => T): T {
  connection.internalRun("SAVEPOINT statement");
  try {
    return undoing(connection, "statement", work);
  } finally {
    if (connection.database.isTransaction) connection.internalRun("RELEASE statement");
  }
}

/** Goes back to an open savepoint when the work fails, unless the engine has ended the transaction by itself. */
export function undoing<T>(connection: Connection, savepoint: "call" | "statement", work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (connection.database.isTransaction) connection.internalRun(`ROLLBACK TO ${savepoint}`);
    throw error;
  }
}
