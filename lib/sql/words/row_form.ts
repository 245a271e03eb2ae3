// How rows are written in JSON, as the request asks for it.

/** The form of the rows of one call: chosen by a header where the request comes in, read where rows are written. */
export interface RowForm {
  /** Every INTEGER is a string of digits. */
  readonly integersAsStrings: boolean;
  /**
   * Set where the result is written as libSQL's protocol has it (HRANA_3_SPEC, `StmtResult`): each value with its type,
   * each column with its declared type, and behind the rows what the statement itself has changed.
   */
  readonly typed?: true;
}

/** The form for whoever asks for none: an INTEGER is a number up to 2^53, and a string of digits beyond. */
export const PLAIN_ROWS: RowForm = { integersAsStrings: false };

/** The form for whoever reads JSON with numbers that are less exact: every INTEGER is a string of digits. */
export const DIGIT_ROWS: RowForm = { integersAsStrings: true };

/** The form for clients of libSQL. */
export const TYPED_ROWS: RowForm = { integersAsStrings: false, typed: true };

/** The form that either of two requests for the same rows has asked for. */
export function eitherForm(one: RowForm, other: RowForm): RowForm {
  if (one.typed || other.typed) return TYPED_ROWS;
  return one.integersAsStrings ? one : other;
}

/** An INTEGER as JSON has it. */
export function integerJson(value: bigint | string, { integersAsStrings }: RowForm): number | string {
  const number = Number(value);
  return integersAsStrings || !Number.isSafeInteger(number) ? String(value) : number;
}

declare global {
  /** Of ECMAScript, unknown to the compiler yet (tc39.es/proposal-json-parse-with-source). */
  interface JSON {
    rawJSON(text: string): object;
  }
}

/**
 * A REAL as JSON has it. From 2^53 on, where an INTEGER is a string of digits, it has an exponent: so it is no whole number to
 * whoever reads it, and may be sent back as it stands.
 */
export function realJson(value: number): number | string | object {
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value;
  if (!Number.isFinite(value)) return value > 0 ? "Infinity" : "-Infinity";
  return JSON.rawJSON(value.toExponential());
}

/**
 * The JSON of a value in which every number beyond 2^53 is a REAL: of rows that were read from a result (in counts and times
 * there is none), or of a body.
 */
export function jsonWithReals(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) => typeof one === "number" ? realJson(one) : one);
}
