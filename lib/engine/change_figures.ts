// What the engine has counted of the rows that a connection changed.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { arrayRow, arrayStatement } from "./array_rows.ts";

/** Figures of the last write and of all before it. */
export interface RunFigures {
  /** Rows that the connection has changed since it was opened. */
  readonly total: number;
  /** Rows that the last write itself has changed. */
  readonly own: number;
  /** The rowid of the row that was added last. */
  readonly rowid: bigint;
}

/** Asks one connection for them. */
export class ChangeFigures {
  #all: StatementSync | null = null;
  #total: StatementSync | null = null;

  constructor(private readonly database: DatabaseSync) {}

  all(): RunFigures {
    const sql = "SELECT total_changes(), changes(), last_insert_rowid()";
    this.#all ??= arrayStatement(this.database, sql, { big: true });
    const [total, own, rowid] = arrayRow(this.#all.get()) ?? [];
    return { total: Number(total), own: Number(own), rowid: typeof rowid === "bigint" ? rowid : 0n };
  }

  /** The total alone, which takes half the time. */
  total(): number {
    this.#total ??= arrayStatement(this.database, "SELECT total_changes()");
    return Number(arrayRow(this.#total.get())?.[0]);
  }

  /** Call before the connection is closed. */
  forget(): void {
    this.#all = this.#total = null;
  }
}
