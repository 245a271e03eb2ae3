// What the statements of one call have returned, for those behind them that take values of it.
import { type EngineFailure, plainFailure } from "../../engine/engine_failure.ts";
import { brokenText, type FirstRow, readFirstRow } from "../../engine/read_typed_result.ts";
import { foldName } from "../../sql/words/names.ts";
import { type RowForm, TYPED_ROWS } from "../../sql/words/row_form.ts";
import type { SqlParameter } from "../../sql/words/sql_value.ts";
import type { TakenValue } from "../../sql/words/taken_value.ts";
import type { TenantStatement } from "../tenant_statement.ts";

/** Why a statement did not run: no earlier one has returned a row with the column of which it takes the value. */
function noRow(column: string): EngineFailure {
  return plainFailure(
    "no_row",
    `Have an earlier statement return a row with ${column}; @${column} found none`,
  );
}

/** Why a statement did not run: no store can bind that text. */
function broken(column: string): EngineFailure {
  return plainFailure(
    "invalid_text",
    `Return CAST(… AS BLOB) as ${column}; @${column} is a text that is no UTF-8, which would be another one`,
  );
}

type Taking = { readonly takes?: readonly TakenValue[] };

type Filled =
  | { readonly ok: true; readonly statement: TenantStatement }
  | { readonly ok: false; readonly failure: EngineFailure };

/** Whether a statement can run only when those before it have. */
export function takesValues(statements: readonly Taking[]): boolean {
  return statements.some(({ takes }) => takes !== undefined);
}

/** The results of a call in their order. Nothing is kept where no statement takes anything. */
export class ReturnedRows {
  readonly #results: FirstRow[] = [];
  readonly #kept: boolean;

  constructor(private readonly statements: readonly Taking[]) {
    this.#kept = takesValues(statements);
  }

  /**
   * The form in which the statement at `index` writes its rows: of such a call only the last one's are for the caller,
   * and values keep their type only in the typed form.
   */
  formOf(index: number, rowForm: RowForm): RowForm {
    return this.#kept && index < this.statements.length - 1 ? TYPED_ROWS : rowForm;
  }

  /** Notes the result of the next statement. */
  add(json: string): void {
    if (!this.#kept || this.#results.length >= this.statements.length - 1) return;
    this.#results.push(readFirstRow(json));
  }

  /** The statement with the values that it takes. */
  fill(statement: TenantStatement): Filled {
    const { takes } = statement;
    if (takes === undefined) return { ok: true, statement };
    const params = [...statement.params];
    for (const { parameter, column } of takes) {
      const value = this.#valueOf(column);
      if (value === undefined) return { ok: false, failure: noRow(column) };
      if (value === brokenText) return { ok: false, failure: broken(column) };
      params[parameter] = value;
    }
    return { ok: true, statement: { ...statement, params } };
  }

  #valueOf(column: string): SqlParameter | typeof brokenText | undefined {
    const name = foldName(column);
    const result = this.#results.findLast(({ columns }) => columns.some((one) => foldName(one) === name));
    const at = result?.columns.findIndex((one) => foldName(one) === name) ?? -1;
    return result?.values?.[at];
  }
}
