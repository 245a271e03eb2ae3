// What a look-up reads, by what it returns: whoever knows that needs neither its plan nor its database to count its rows.
import type { SqlParameter } from "../../sql/words/sql_value.ts";

/** The rows that a look-up returns at most, and those that it reads beyond those that it returns: where they are fewer than `full`, and where not. */
export type LookupReads = readonly [most: number, full: number, beyond: number, over: number];

/** Rows that a look-up has read which has returned so many. */
export function rowsReadOf([, full, beyond, over]: LookupReads, returned: number): number {
  return returned + (returned < full ? beyond : over);
}

/** A statement with its values. */
export interface BoundRead {
  readonly sql: string;
  readonly params: readonly SqlParameter[];
}

const QUESTION_MARK = 63;
const BY_PARAMETER = /\blimit\s+\?$/i;
/** In a comment it would be no parameter. */
const COMMENT = /--|\/\*/;
/** Characters of such an end, and the greatest number that takes its place. */
const END_CHARACTERS = 12;
const MAX_NUMBER = 999;

/**
 * A read whose LIMIT is its last value, with that value in the text: the engine would compile the text again for each value.
 * Any other read as it is. Guarantee: it has compiled, and has as many values as parameters.
 */
export function withLimit(read: BoundRead): BoundRead {
  const { sql, params } = read;
  if (sql.charCodeAt(sql.length - 1) !== QUESTION_MARK) return read;
  if (!BY_PARAMETER.test(sql.slice(-END_CHARACTERS)) || COMMENT.test(sql)) return read;
  const last = params.at(-1) ?? null;
  // Some clients send each number as a REAL; for the engine a whole one is as good.
  const rows = typeof last === "object" && last !== null && "$real" in last ? last.$real : last;
  const isNumber = typeof rows === "number" && Number.isInteger(rows) && rows > 0 && rows <= MAX_NUMBER;
  return isNumber ? { sql: `${sql.slice(0, -1)}${rows}`, params: params.slice(0, -1) } : read;
}
