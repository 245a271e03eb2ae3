// Runs a call's one statement once for each of its parameter sets.
import { systemClock } from "../../../core/clock.ts";
import type { Connection } from "../../../engine/connection.ts";
import { type EngineFailure, plainFailure } from "../../../engine/engine_failure.ts";
import { type ResultBounds, ResultTooLarge } from "../../../engine/result_json.ts";
import type { RunningLevel } from "../../../engine/guard.ts";
import type { ParamSets } from "../../../sql/words/param_sets.ts";
import { integerJson, type RowForm } from "../../../sql/words/row_form.ts";
import type { SqlParameter } from "../../../sql/words/sql_value.ts";
import { bytesOf, partsOfResult, ROWID_TABLE, type SetsPart } from "../../calls/sets_result.ts";
import { type StatementGuard, unguarded } from "./savepoints.ts";

/** A statement with its sets. */
export interface RepeatedStatement {
  readonly sql: string;
  readonly level: RunningLevel;
  readonly paramSets: ParamSets;
  /** Of all sets together. */
  readonly bounds: ResultBounds;
  readonly rowForm: RowForm;
  /** As a `TenantCall` has it. */
  readonly rowidOf: string | null;
  /** Milliseconds that all sets together may run. */
  readonly setsMs: number;
}

/** How to run the sets. */
export interface SetsScope {
  readonly connection: Connection;
  readonly guard: StatementGuard;
  /** Called with the index of each set before it runs. */
  readonly begins: (set: number) => void;
  /** Sorts the failure of a set that has just failed. */
  readonly failureOf: (error: unknown) => EngineFailure;
}

/** What the sets have done. */
export interface SetsRun {
  readonly part: SetsPart;
  readonly rowsRead: number;
  /** Rows changed, by triggers and cascades too, and those changed by the statement itself. */
  readonly changes: number;
  readonly ownRows: number;
  /** Why the set behind the last one in `part` has failed; null where all sets have run. */
  readonly failure: EngineFailure | null;
}

/** Runs the sets in order, until one fails or their time is up. */
export function runSets(scope: SetsScope, repeated: RepeatedStatement): SetsRun {
  const { paramSets, setsMs } = repeated;
  const run = new RunOfSets(scope, repeated);
  const startedMs = systemClock.monotonicMs();
  for (const [set, params] of paramSets.entries()) {
    if (systemClock.monotonicMs() - startedMs > setsMs) return run.end(TIMED_OUT);
    scope.begins(set);
    try {
      run.add(params);
    } catch (error) {
      return run.end(scope.failureOf(error));
    }
  }
  return run.end(null);
}

const TIMED_OUT = plainFailure("timeout", "all sets together ran longer than the time limit of a statement");

class RunOfSets {
  readonly #returned: number[] = [];
  readonly #written: number[] = [];
  readonly #own: number[] = [];
  readonly #rowids: (number | string | null)[] = [];
  readonly #plain: ((params: readonly SqlParameter[]) => void) | null;
  readonly #tellsRowids: boolean;
  readonly #reads: boolean;
  #columnsJson = "[]";
  #rows = "";
  #rowCount = 0;
  #rowBytes = 0;
  #rowsRead = 0;
  #total = 0;

  constructor(private readonly scope: SetsScope, private readonly repeated: RepeatedStatement) {
    const { connection } = scope;
    const { level, sql, rowidOf } = repeated;
    this.#reads = level === "read";
    connection.plan(level, sql);
    this.#plain = this.#reads ? null : connection.repeated(level, sql);
    this.#tellsRowids = rowidOf !== null && connection.internalRow(ROWID_TABLE, rowidOf) !== undefined;
    if (!this.#reads) this.#total = this.#totalNow();
  }

  /** Runs one set. Throws what the engine throws, or `ResultTooLarge`; then nothing of it is counted. */
  add(params: readonly SqlParameter[]): void {
    const { scope: { connection, guard }, repeated: { sql, rowForm } } = this;
    const { count, figures } = guard(() => {
      // To open or to release a savepoint makes a full-text index write what it holds in memory.
      if (guard !== unguarded && !this.#reads) this.#total = this.#totalNow();
      const count = this.#plain === null ? this.#addRows(params) : 0;
      this.#plain?.(params);
      return { count, figures: this.#reads ? null : connection.figures.all() };
    });
    let changed = 0;
    if (figures) {
      const { total, own, rowid } = figures;
      changed = total - this.#total;
      this.#total = total;
      const ownRows = changed === 0 ? 0 : own;
      this.#own.push(ownRows);
      if (this.#tellsRowids) this.#rowids.push(ownRows === 0 ? null : integerJson(rowid, rowForm));
    }
    this.#returned.push(count);
    this.#written.push(changed);
    this.#rowsRead += connection.rowsRead(sql, count, changed);
  }

  end(failure: EngineFailure | null): SetsRun {
    const part = {
      columnsJson: this.#columnsJson,
      rows: this.#rows,
      returned: this.#returned,
      written: this.#written,
      own: this.#own,
      rowids: this.#tellsRowids ? this.#rowids : null,
    };
    const sum = (list: readonly number[]) => list.reduce((all, one) => all + one, 0);
    return { part, rowsRead: this.#rowsRead, changes: sum(this.#written), ownRows: sum(this.#own), failure };
  }

  #addRows(params: readonly SqlParameter[]): number {
    const { level, sql, bounds, rowForm } = this.repeated;
    const { json, rowCount } = this.scope.connection.run(level, sql, params, bounds, rowForm);
    const { columnsJson, rows } = partsOfResult(json);
    const bytes = this.#rowBytes + bytesOf(rows);
    if (this.#rowCount + rowCount > bounds.maxRows) {
      throw new ResultTooLarge(`more than ${bounds.maxRows} rows`);
    }
    if (bytes > bounds.maxBytes) throw new ResultTooLarge(`more than ${bounds.maxBytes} bytes`);
    this.#columnsJson = columnsJson;
    this.#rows += this.#rows !== "" && rows !== "" ? `,${rows}` : rows;
    this.#rowBytes = bytes;
    this.#rowCount += rowCount;
    return rowCount;
  }

  #totalNow(): number {
    return this.scope.connection.figures.total();
  }
}
