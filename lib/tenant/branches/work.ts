// Work on a branch, its ancestor and its trunk, as generators that yield the statements they need. An engine child answers
// at once, a remote store over the network, so both stores compare and merge with the same code.
import type { EngineValue } from "../../sql/words/sql_value.ts";
import type { StoredValue } from "../../sql/words/stored_text.ts";
import type { EngineFailure } from "../../engine/engine_failure.ts";

/** The values of a row. */
export type Row = readonly StoredValue[];

/** The values of a row as the engine's reader gives and takes them. */
export type EngineRow = readonly EngineValue[];

/** A database that takes part. */
export type Side = "ancestor" | "branch" | "trunk";

/** A statement for one side. */
export interface AskedStatement {
  readonly sql: string;
  readonly params: EngineRow;
}

/** Statements for one side. */
export interface Ask {
  readonly of: Side;
  readonly statements: readonly AskedStatement[];
  /** `must`: no statement runs after a failure. `may`: each statement runs, even after a failure. */
  readonly each: "must" | "may";
  /** `schema`: a tenant's texts, which may only change the schema; otherwise the service's own texts. */
  readonly level: "internal" | "schema";
}

/** The answer to one statement. */
export type Answer =
  | { readonly ok: true; readonly rows: readonly EngineRow[] }
  /** `error` is what to throw where the failure cannot be tolerated. */
  | { readonly ok: false; readonly failure: EngineFailure; readonly error: unknown };

/** Asks for nothing: whoever serves others while it works lets them have their turns. */
export const A_TURN: Ask = { of: "branch", statements: [], each: "may", level: "internal" };

/** Yields requests and receives the answers, integers as bigint. After a failure in `must`, later answers are missing. */
export type Work<T> = Generator<Ask, T, readonly Answer[]>;

/** Reads the rows of each statement. Throws what the engine throws. */
export function* mustAll(
  of: Side,
  statements: readonly AskedStatement[],
  level: Ask["level"] = "internal",
): Work<(readonly EngineRow[])[]> {
  if (statements.length === 0) return [];
  const answers = yield { of, statements, each: "must", level };
  return answers.map((answer) => {
    if (!answer.ok) throw answer.error;
    return answer.rows;
  });
}

/** Reads the rows of one statement. Throws what the engine throws. */
export function* rowsOf(of: Side, sql: string, ...params: EngineRow): Work<readonly EngineRow[]> {
  const [rows] = yield* mustAll(of, [{ sql, params }]);
  return rows ?? [];
}

/** Runs each statement and returns its answer, rows or error. */
export function* mayAll(of: Side, statements: readonly AskedStatement[]): Work<readonly Answer[]> {
  if (statements.length === 0) return [];
  return yield { of, statements, each: "may", level: "internal" };
}

/**
 * Reads at most this many rows of a statement that ends in `LIMIT ?`. Returns the rows and the last limit used, which
 * shrinks where a remote engine refuses an answer as too large.
 */
export function* rowsWithin(
  of: Side,
  { sql, params }: AskedStatement,
  most: number,
): Work<{ readonly rows: readonly EngineRow[]; readonly limit: number }> {
  for (let limit = most;; limit = Math.ceil(limit / 8)) {
    const [answer] = yield* mayAll(of, [{ sql, params: [...params, limit] }]);
    if (answer?.ok) return { rows: answer.rows, limit };
    if (answer?.failure.kind !== "result_too_large" || limit === 1) throw answer?.error;
  }
}
