// The first write of a transaction that has only read. The engine refuses it as soon as anybody has committed since the state
// that was read, and the service itself does: log rows of reads are nobody's change.
import { MAX_KEPT_SAVEPOINTS } from "../../../core/limits_of_transactions.ts";
import type { Connection } from "../../../engine/connection.ts";
import { engineFailure } from "../../../engine/engine_failure.ts";
import { placeIn } from "./restart_changes.ts";
import type { TenantFile } from "./tenant_file.ts";

/** Changes nothing, and takes what the engine gives to one writer at a time. */
const TAKE_LOCK = "UPDATE _service_meta_change SET at = at WHERE 0";

/** Of one transaction. */
export class FirstWrite {
  readonly #savepoints: string[] = [];

  /** It has the engine's lock, or never writes. */
  #isDone: boolean;

  constructor(isDone: boolean) {
    this.#isDone = isDone;
  }

  /** Notes a statement about savepoints that has run. */
  noteSavepoint(sql: string): void {
    if (this.#isDone) return;
    if (this.#savepoints.push(sql) > MAX_KEPT_SAVEPOINTS) this.#isDone = true;
  }

  /**
   * To be called before a write, by who has the database's write slot. Goes on in the newest state where that has the same
   * rows as the one that was read; else the write that follows fails as busy.
   */
  prepare(file: TenantFile): void {
    if (this.#isDone) return;
    const connection = file.writer();
    if (!takesLock(connection)) {
      const [seen, newest] = [placeIn(connection), placeIn(file.reader())];
      if (seen?.seq !== newest?.seq || seen?.epoch !== newest?.epoch) return;
      connection.internalRun("ROLLBACK");
      connection.internalRun("BEGIN IMMEDIATE");
      for (const sql of this.#savepoints) connection.database.exec(sql);
    }
    this.#isDone = true;
  }
}

function takesLock(connection: Connection): boolean {
  try {
    connection.internalRun(TAKE_LOCK);
    return true;
  } catch (error) {
    if (engineFailure(error, null).kind !== "busy") throw error;
    return false;
  }
}
