// What the engine has counted of the rows that a connection changed.
import type {} from "./node_sqlite.d.ts";
import type { DatabaseSync, StatementSync } from "node:sqlite";

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
    this.#all ??= this.#prepare("SELECT total_changes(), changes(), last_insert_rowid()", { big: true });
    const [total, own, rowid] = valuesOf(this.#all);
    return { total: Number(total), own: Number(own), rowid: typeof rowid === "bigint" ? rowid : 0n };
  }

  /** The total alone, which takes half the time. */
  total(): number {
    this.#total ??= this.#prepare("SELECT total_changes()");
    return Number(valuesOf(this.#total)[0]);
  }

  /** Call before the connection is closed. */
  forget(): void {
    this.#all = this.#total = null;
  }

  #prepare(sql: string, { big = false } = {}): StatementSync {
    const statement = this.database.prepare(sql);
    statement.setReturnArrays(true);
    statement.setReadBigInts(big);
    return statement;
  }
}

/** Guarantee: with `setReturnArrays(true)` a row is an array of values; the declared type does not say so. */
function valuesOf(statement: StatementSync): unknown[] {
  const row: unknown = statement.get();
  return Array.isArray(row) ? row : [];
}
