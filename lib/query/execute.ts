// Stage "execute": runs the call. The store groups, commits and logs.
import type { TenantOutcome } from "../tenant/tenant_store.ts";
import { answerContext } from "./answer.ts";
import { replayedAnswer, replayKeys } from "./find_earlier.ts";
import { answered, goOn, type Said, START_OVER } from "./pipeline.ts";
import type { QueryAnswer, QueryCall, QueryContext, UnderstoodCall } from "./query_call.ts";
import { callStore, type EndedOutcome } from "./store_call.ts";

/** What earlier stages have decided about the run. */
export interface RunTerms {
  /** Label of the snapshot to take first, or null. */
  readonly snapshot: string | null;
  /** The most rows that rules let the call change; null: any number. */
  readonly maxRows: number | null;
}

/** Runs the call in the store. Errors: those of the store. */
export function execute(
  ctx: QueryContext,
  understood: UnderstoodCall,
  { snapshot, maxRows, signal }: RunTerms & Pick<QueryCall, "signal">,
): Promise<TenantOutcome> {
  const { replay } = understood.call;
  return callStore(ctx, bounded(understood, maxRows), {
    snapshot,
    signal,
    replay: replay && understood.writes
      ? replayKeys(ctx, replay, JSON.stringify(answerContext(understood, snapshot)))
      : null,
  });
}

/**
 * What the outcome of a call means. Says `answer` where the call ran before, which the store has found in the call's own
 * transaction, and `start over` where the schema has changed, or more rows would change than the rules let pass. Errors:
 * `replay_mismatch`.
 */
export function judge(
  ctx: QueryContext,
  understood: UnderstoodCall,
  { outcome, maxRows }: Pick<RunTerms, "maxRows"> & { readonly outcome: TenantOutcome },
): Said<EndedOutcome, QueryAnswer> {
  const { replay, target: { databaseId } } = understood.call;
  if (outcome.ok === "stale") {
    ctx.facts.seen(databaseId, outcome.schemaVersion, outcome.schema);
    return START_OVER;
  }
  if (outcome.ok === true && outcome.schemaVersion !== undefined) {
    ctx.facts.seen(databaseId, outcome.schemaVersion, understood.schema);
  }
  if (outcome.ok === "replayed" || outcome.ok === "replay_mismatch") {
    if (replay === null) throw new TypeError("a call without a key is not answered as before");
    return answered(replayedAnswer(replay, outcome));
  }
  // Rows were added since the rules decided, and the call was undone: the rules decide again, at no price.
  if (!outcome.ok && maxRows !== null && (outcome.failure.affected ?? 0) > maxRows) return START_OVER;
  return goOn(outcome);
}

/** The narrowest of the bounds of the approval, the caller and the rules. */
function bounded(understood: UnderstoodCall, maxRows: number | null): UnderstoodCall {
  const { affected, maxAffected } = understood.call;
  if (maxRows === null && maxAffected === null) return understood;
  const max = Math.min(maxRows ?? Infinity, maxAffected ?? Infinity, affected?.max ?? Infinity);
  const again = maxRows === null ? {} : { startsOverAbove: maxRows };
  return {
    ...understood,
    call: { ...understood.call, affected: { min: 0, ...affected, max, ...again } },
  };
}
