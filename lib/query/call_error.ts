// The error that the caller of a whole call gets, with what a batch has kept.
import { AppError } from "../core/errors.ts";
import type { TenantOutcome } from "../tenant/tenant_store.ts";
import { failureError, tooManyAffected } from "./failure_error.ts";
import type { QueryCall, UnderstoodCall } from "./query_call.ts";

export type FailedOutcome = Extract<TenantOutcome, { ok: false }>;

/** The error of a statement that could not be understood; in a batch that is not atomic the ones before it stay. */
export async function misunderstoodError(
  understood: UnderstoodCall,
  kept: FailedOutcome["results"],
): Promise<AppError> {
  const { call, database, facts, misunderstood } = understood;
  if (!misunderstood) throw new TypeError("nothing was misunderstood");
  const index = call.batch ? facts.length : null;
  if (misunderstood.code) {
    const place = index === null ? {} : { failedIndex: index };
    return new AppError(misunderstood.code, { extra: { ...place, ...keptResults(call, kept) } });
  }
  const sql = call.statements[facts.length]?.sql ?? "";
  return await failureError(database, { ...misunderstood, sql, index, extra: keptResults(call, kept) });
}

/** The error of a statement that the engine did not run to its end. */
export async function outcomeError(understood: UnderstoodCall, outcome: FailedOutcome): Promise<AppError> {
  const facts = understood.facts[outcome.failedIndex];
  return await failureError(understood.database, {
    failure: outcome.failure,
    sql: understood.call.statements[outcome.failedIndex]?.sql ?? "",
    verb: facts?.verb ?? "other",
    target: facts?.target ?? null,
    index: understood.call.batch ? outcome.failedIndex : null,
    extra: keptResults(understood.call, outcome.results),
  });
}

/** The error of a call that changes so many rows in all, and more than it may: it fails at its last statement. */
export function tooManyError({ call, facts }: UnderstoodCall, rows: number): AppError {
  return tooManyAffected(rows, call.batch ? { failedIndex: facts.length - 1, ...keptResults(call, []) } : {});
}

/** A batch that is not atomic says what it kept before it stopped. */
function keptResults(call: QueryCall, results: FailedOutcome["results"]): Readonly<Record<string, unknown>> {
  if (!call.batch || call.atomic) return {};
  return {
    data: results.map((result) =>
      JSON.parse(`${result.json},"rowsRead":${result.rowsRead},"rowsWritten":${result.rowsWritten}}`)
    ),
  };
}
