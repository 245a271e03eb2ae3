// Hrana, the protocol of sqld and Turso, as far as the service speaks it: one batch of steps is one request, and
// the engine's counts of every statement come back with it (libsql's docs/HRANA_3_SPEC.md).

/** A value as it travels. JSON has no infinity: both arrive as a float without a value. */
export type HranaValue =
  | { readonly type: "null" }
  | { readonly type: "integer"; readonly value: string }
  | { readonly type: "float"; readonly value: number | null }
  | { readonly type: "text"; readonly value: string }
  | { readonly type: "blob"; readonly base64: string };

/** Under which a step runs; `step` counts from 0 within its batch. */
export type HranaCondition =
  | { readonly type: "ok" | "error"; readonly step: number }
  | { readonly type: "is_autocommit" }
  | { readonly type: "not"; readonly cond: HranaCondition }
  | { readonly type: "and"; readonly conds: readonly HranaCondition[] };

/** One step of a batch. */
export interface HranaStep {
  readonly stmt: { readonly sql: string; readonly args?: readonly HranaValue[] };
  readonly condition?: HranaCondition;
}

/** A step that ran to its end. */
export interface StepRows {
  readonly ok: true;
  readonly columns: readonly string[];
  /** Declared types of the columns. */
  readonly decltypes: readonly (string | null)[];
  readonly rows: readonly (readonly HranaValue[])[];
  readonly rowsRead: number;
  /** Rows that the statement itself has changed, and the rowid of the last one that it has added. */
  readonly changes: number;
  readonly lastRowid: string | null;
  /** Milliseconds in the engine. */
  readonly ms: number;
}

/** The engine's refusal, in its own words. */
export interface StepError {
  readonly ok: false;
  readonly message: string;
  readonly code: string;
}

/** Null: its condition did not hold. */
export type StepResult = StepRows | StepError | null;

/** The answer of a batch. */
export interface BatchAnswer {
  /** Names the stream for the next request; null: it is closed. */
  readonly baton: string | null;
  readonly steps: readonly StepResult[];
}

/** A batch of steps. */
export interface BatchRequest {
  readonly steps: readonly HranaStep[];
  readonly baton: string | null;
  /** Closes the stream behind the batch. */
  readonly close: boolean;
}

/** True when a step has succeeded. */
export const ifOk = (step: number): HranaCondition => ({ type: "ok", step });
/** True when a step has failed. */
export const ifError = (step: number): HranaCondition => ({ type: "error", step });
/** True inside a transaction. */
export const inTransaction: HranaCondition = { type: "not", cond: { type: "is_autocommit" } };
/** True outside a transaction. */
export const outsideTransaction: HranaCondition = { type: "is_autocommit" };
/** True when all conditions are. */
export const all = (...conds: readonly HranaCondition[]): HranaCondition => ({ type: "and", conds });
/** True when the condition is false. */
export const not = (cond: HranaCondition): HranaCondition => ({ type: "not", cond });

/** A float without a value stands somewhere in the rows: only the binary form of the protocol tells which infinity. */
export function losesInfinity(steps: readonly StepResult[]): boolean {
  return steps.some((step) =>
    step?.ok === true &&
    step.rows.some((row) => row.some((value) => value.type === "float" && value.value === null))
  );
}
