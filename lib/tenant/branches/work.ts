// Work on a branch, its ancestor and its trunk that says what it asks of them and leaves the asking to others: an engine
// child answers at once, a remote store over the network. So both stores compare and merge by the same code.
import type { EngineFailure } from "../../engine/engine_failure.ts";
import type { EngineValue } from "../../engine/result_json.ts";

/** The values of a row. */
export type Row = readonly EngineValue[];

/** A database that takes part. */
export type Side = "ancestor" | "branch" | "trunk";

/** A statement for one side. */
export interface AskedStatement {
  readonly sql: string;
  readonly params: Row;
}

/** Statements for one side. */
export interface Ask {
  readonly of: Side;
  readonly statements: readonly AskedStatement[];
  /** `must`: none runs behind one that failed. `may`: each runs, whatever became of the others. */
  readonly each: "must" | "may";
  /** `schema`: texts of a tenant, which may do no more than change the schema; otherwise the service's own. */
  readonly level: "internal" | "schema";
}

/** What a statement answers. */
export type Answer =
  | { readonly ok: true; readonly rows: readonly Row[] }
  /** `error` is what to throw where it cannot be lived with. */
  | { readonly ok: false; readonly failure: EngineFailure; readonly error: unknown };

/** Yields what it asks and is given the answers, integers as bigint. Behind the last answer of `must` some may miss. */
export type Work<T> = Generator<Ask, T, readonly Answer[]>;

/** Rows of each statement. Throws what the engine throws. */
export function* mustAll(
  of: Side,
  statements: readonly AskedStatement[],
  level: Ask["level"] = "internal",
): Work<(readonly Row[])[]> {
  if (statements.length === 0) return [];
  const answers = yield { of, statements, each: "must", level };
  return answers.map((answer) => {
    if (!answer.ok) throw answer.error;
    return answer.rows;
  });
}

/** Rows of one statement. Throws what the engine throws. */
export function* rowsOf(of: Side, sql: string, ...params: Row): Work<readonly Row[]> {
  const [rows] = yield* mustAll(of, [{ sql, params }]);
  return rows ?? [];
}

/** What became of each statement. */
export function* mayAll(of: Side, statements: readonly AskedStatement[]): Work<readonly Answer[]> {
  if (statements.length === 0) return [];
  return yield { of, statements, each: "may", level: "internal" };
}

/**
 * At most so many rows of a statement that ends in `LIMIT ?`, and how many were asked for in the end: a remote engine
 * refuses answers that are too large.
 */
export function* rowsWithin(
  of: Side,
  { sql, params }: AskedStatement,
  most: number,
): Work<{ readonly rows: readonly Row[]; readonly limit: number }> {
  for (let limit = most;; limit = Math.ceil(limit / 8)) {
    const [answer] = yield* mayAll(of, [{ sql, params: [...params, limit] }]);
    if (answer?.ok) return { rows: answer.rows, limit };
    if (answer?.failure.kind !== "result_too_large" || limit === 1) throw answer?.error;
  }
}

/** For those who can answer at once. */
export function runWork<T>(work: Work<T>, answer: (ask: Ask) => readonly Answer[]): T {
  let step = work.next();
  while (!step.done) step = work.next(answer(step.value));
  return step.value;
}
