// Merges and restores as steps of a plan: the database that one changes has its answer, and gives it again.
import type { ReplayScope } from "../control/replays.ts";
import type { Clock } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { replayKeys } from "../query/find_earlier.ts";
import type { CallReplay } from "../query/query_call.ts";
import { readStoredAnswer, type ReplayKeys, type StoredAnswer } from "../tenant/stored_answer.ts";
import type { TenantDatabase } from "../tenant/tenant_store.ts";

/** What a step needs of a request. */
export interface StepContext {
  readonly clock: Clock;
  /** The step of a plan that it is: done, its answer is stored in the database; held, its repetitions wait for the approval. */
  readonly plan?: ReplayScope | undefined;
  /** The keys of a file, or of what a person has approved; they take the place of those of `plan`. */
  readonly replay?: CallReplay | null | undefined;
}

/** The keys under which its answer is stored, with the caller's own `context`; undefined: it has none. */
export function stepKeys({ clock, plan, replay }: StepContext, context: string): ReplayKeys | undefined {
  const keys = replay ?? (plan && { idempotency: null, plan });
  return keys && replayKeys({ clock }, keys, context);
}

/**
 * What the same step has answered; null: nothing. The database itself has it: whoever was to note it in KV may have died since.
 * Errors: `replay_mismatch`, those of the store.
 */
export async function answerOfStep(
  ctx: StepContext,
  database: Pick<TenantDatabase, "findReplay">,
): Promise<StoredAnswer | null> {
  const keys = stepKeys(ctx, "");
  const found = keys === undefined ? null : await database.findReplay(keys);
  if (found === null) return null;
  if (found.ok === "replay_mismatch") throw new AppError("replay_mismatch");
  return readStoredAnswer(found.answer);
}
