// Makes the file of a new database, with the service's tables.
import { Connection } from "../../../engine/connection.ts";
import { serviceTableStatements } from "../../../sql/words/service_tables.ts";
import { syncDatabase } from "./file_copy.ts";

/** Makes the file, whole, on the disk and without a log, and leaves it closed. Fails when it exists already. */
export function createFile(path: string): void {
  Deno.openSync(path, { createNew: true, write: true, mode: 0o600 }).close();
  const maker = new Connection(path);
  try {
    // Nobody knows of the file before it is synced as a whole.
    maker.database.exec("PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF");
    maker.internalRun("BEGIN");
    for (const sql of serviceTableStatements) maker.internalRun(sql);
    maker.internalRun("COMMIT");
    maker.database.exec("PRAGMA journal_mode=WAL");
  } finally {
    maker.close();
  }
  syncDatabase(path);
}
