// Questions about a schema, as generators that yield them: a file answers at once, a remote store over the network, so both are
// read by the same code.

import type { EngineValue } from "../../../sql/words/sql_value.ts";
/** A statement that reads, with its values. */
export interface Asked {
  readonly sql: string;
  readonly params: readonly (string | bigint)[];
}

/** The rows of an answer, integers as bigint. */
export type Rows = readonly (readonly EngineValue[])[];

/** Yields questions and receives their answers. */
export type Asking<Value> = Generator<Asked, Value, Rows>;

/** Asks one question. */
export function* ask(sql: string, ...params: (string | bigint)[]): Asking<Rows> {
  return yield { sql, params };
}
