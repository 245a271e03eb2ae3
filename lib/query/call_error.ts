// The error that the caller of a whole call gets, with the results of what a batch has committed before it.
import { AppError } from "../core/errors.ts";
import { statementOfRun } from "../sql/words/param_sets.ts";
import { failureError, tooManyAffected } from "./failure_error.ts";
import type { QueryCall, UnderstoodCall } from "./query_call.ts";
import type { FailedOutcome } from "../tenant/what_stays.ts";

/**
 * Makes the error of a statement that could not be understood. In a batch that is not atomic, the statements before it
 * stay.
 */
export async function misunderstoodError(
  { call, database, facts, misunderstood }: Pick<
    UnderstoodCall,
    "call" | "database" | "facts" | "misunderstood"
  >,
  committed: FailedOutcome["results"],
): Promise<AppError> {
  if (!misunderstood) throw new TypeError("nothing was misunderstood");
  const index = call.batch ? misunderstood.at ?? facts.length : null;
  if (misunderstood.code) {
    const at = index === null ? {} : { failedIndex: index };
    return new AppError(misunderstood.code, { extra: { ...at, ...committedResults(call, committed) } });
  }
  const sql = call.statements[statementOfRun(call, facts.length)]?.sql ?? "";
  return await failureError(database, {
    ...misunderstood,
    sql,
    index,
    extra: committedResults(call, committed),
  });
}

/** Makes the error of a statement that failed in the engine. */
export async function outcomeError(
  understood: UnderstoodCall,
  { outcome, snapshot }: { readonly outcome: FailedOutcome; readonly snapshot: string | null },
): Promise<AppError> {
  const at = statementOfRun(understood.call, outcome.failedIndex);
  const facts = understood.facts[at];
  return await failureError(understood.database, {
    failure: outcome.failure,
    sql: understood.call.statements[at]?.sql ?? "",
    verb: facts?.verb ?? "other",
    target: facts?.target ?? null,
    index: understood.call.batch ? outcome.failedIndex : null,
    snapshot: snapshot !== null && understood.call.snapshotFirst !== true,
    extra: committedResults(understood.call, outcome.results),
  });
}

/** Makes the error of a call that changes too many rows in all. It names the last run. */
export function tooManyError({ call, facts }: UnderstoodCall, rows: number): AppError {
  const last = (call.paramSets ?? facts).length - 1;
  return tooManyAffected(rows, call.batch ? { failedIndex: last, ...committedResults(call, []) } : {});
}

/** The results that a batch which is not atomic has committed before it stopped. */
function committedResults(
  call: QueryCall,
  results: FailedOutcome["results"],
): Readonly<Record<string, unknown>> {
  if (!call.batch || call.atomic) return {};
  const data = results.map((result) =>
    JSON.parse(`${result.json},"rowsRead":${result.rowsRead},"rowsWritten":${result.rowsWritten}}`)
  );
  // The sets that stay have one result, and none where no set stays.
  return { data: call.paramSets ? data[0] ?? null : data };
}
