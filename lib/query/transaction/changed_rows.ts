// How many rows a transaction has changed: rules that count rows see it as one call.
import { foldName } from "../../sql/words/names.ts";
import type { SavepointVerb } from "../../tenant/transaction_control.ts";

/** The count as it rests with its transaction. */
export interface RestedCount {
  readonly rows: number;
  /** Savepoints, and the count when each was set; the last one is the innermost. */
  readonly savepoints: readonly (readonly [name: string, rows: number])[];
}

/** Counts what stays: rolled back to a savepoint, it is what it was there. */
export class ChangedRows {
  #rows: number;
  #savepoints: RestedCount["savepoints"];

  constructor({ rows, savepoints }: RestedCount = { rows: 0, savepoints: [] }) {
    this.#rows = rows;
    this.#savepoints = savepoints;
  }

  get rows(): number {
    return this.#rows;
  }

  add(rows: number): void {
    this.#rows += rows;
  }

  /** After the statement has succeeded. */
  savepoint(verb: SavepointVerb, name: string): void {
    const key = foldName(name);
    if (verb === "savepoint") {
      this.#savepoints = [...this.#savepoints, [key, this.#rows]];
      return;
    }
    const at = this.#savepoints.findLastIndex(([known]) => known === key);
    if (verb === "rollback to") this.#rows = this.#savepoints[at]?.[1] ?? this.#rows;
    this.#savepoints = this.#savepoints.slice(0, verb === "release" ? Math.max(at, 0) : at + 1);
  }

  rest(): RestedCount {
    return { rows: this.#rows, savepoints: this.#savepoints };
  }
}
