// The rows read by the statements of one connection: their estimates, and what they can have read at most in their time.
import type { DatabaseSync } from "node:sqlite";
import type { Clock } from "../../core/clock.ts";
import { type FinishedStatement, RowsReadEstimates } from "./rows_read.ts";
import { TableCounts } from "./table_counts.ts";

/** An estimate of so many rows is taken as it is, whatever time the statement took. */
const SURE_ROWS = 10_000;
/** More rows than any machine's engine steps through in a millisecond; one of 2026 makes half of it. */
const MOST_A_MS = 100_000;

/** One connection's statements. */
export class ReadRows {
  readonly #counts: TableCounts;
  #estimates: RowsReadEstimates | null = null;
  #beganMs = 0;

  constructor(private readonly database: DatabaseSync, private readonly clock: Clock) {
    this.#counts = new TableCounts(database, clock);
  }

  /** From now on all statements are of one call: a look at the clock before each would be a part of what they take. */
  callBegins(atMs: number): void {
    this.#beganMs = atMs;
  }

  /**
   * Rows read by the statement that has just run. Where loops run inside of one another, guesses are multiplied: a join whose
   * first table has no row that fits, which the estimate cannot know, would be paid as if it had read everything. `shared`:
   * the estimates of databases with the same schema.
   */
  of(statement: FinishedStatement, shared: RowsReadEstimates | null): number {
    const estimates = this.#estimatesOf(shared);
    const rows = estimates.rowsRead({ database: this.database, counts: this.#counts }, statement);
    if (rows <= SURE_ROWS || !estimates.mayMultiply(statement.sql)) return rows;
    const nowMs = this.clock.monotonicMs();
    const most = Math.round(SURE_ROWS + (nowMs - this.#beganMs) * MOST_A_MS);
    this.#beganMs = nowMs;
    // A product that is no number any more is none that is less.
    return rows < most ? rows : Math.max(most, statement.rowsReturned);
  }

  /** A write is about to run. */
  plan(sql: string, shared: RowsReadEstimates | null): void {
    this.#estimatesOf(shared).plan({ database: this.database, counts: this.#counts }, sql);
  }

  #estimatesOf(shared: RowsReadEstimates | null): RowsReadEstimates {
    return shared ?? (this.#estimates ??= new RowsReadEstimates());
  }

  schemaChanged(): void {
    this.#estimates = null;
    this.#counts.forget();
  }
}
