// Finds the answer of an earlier call with the same keys.
import { AppError } from "../core/errors.ts";
import type { ReplayScope } from "../control/replays.ts";
import { REPLAY_MS } from "../core/limits.ts";
import { readStoredAnswer, type ReplayKeys, type StoredAnswer } from "../tenant/stored_answer.ts";
import type { ReplayFound } from "../tenant/tenant_store.ts";
import { type AnswerContext, answerOf } from "./answer.ts";
import type {
  CallReplay,
  QueryAnswer,
  QueryContext,
  QueryTarget,
  Replayed,
  UnderstoodCall,
} from "./query_call.ts";

/** Makes the keys of a call for the store. */
export function replayKeys(
  ctx: Pick<QueryContext, "clock">,
  replay: CallReplay,
  context: string,
): ReplayKeys {
  const nowMs = ctx.clock.now();
  return { keys: scopesOf(replay), nowMs, expiresAtMs: nowMs + REPLAY_MS, context };
}

/**
 * Finds the answer of an earlier call; null where there is none. Errors: `replay_mismatch`, `meter_unreachable`, those
 * of the store.
 */
export async function findEarlier(
  ctx: QueryContext,
  { call: { replay }, database }: Pick<UnderstoodCall, "call" | "database">,
): Promise<QueryAnswer | null> {
  if (replay === null) return null;
  if (replay.idempotency !== null) {
    const earlier = await ctx.replays.find(replay.idempotency);
    if (earlier.state === "mismatch") throw new AppError("replay_mismatch");
    if (earlier.state === "stored") return storedReadAnswer(earlier.answer);
  }
  const found = await database.findReplay(replayKeys(ctx, replay, ""));
  return found === null ? null : replayedAnswer(replay, found);
}

/**
 * Finds the answer that the tenant's database has stored for a call whose execution token is spent, or null. Errors:
 * `replay_mismatch`.
 */
export async function findStored(
  ctx: QueryContext,
  target: QueryTarget,
  replay: CallReplay | null,
): Promise<QueryAnswer | null> {
  if (replay === null) return null;
  const database = ctx.tenants.open(target);
  const found = await database.findReplay(replayKeys(ctx, replay, ""));
  return found === null ? null : replayedAnswer(replay, found);
}

/** Reads an answer that the tenant's database has stored. Errors: `replay_mismatch`. */
export function replayedAnswer(replay: CallReplay, found: ReplayFound): QueryAnswer {
  if (found.ok === "replay_mismatch") throw new AppError("replay_mismatch");
  const scopes = scopesOf(replay);
  const matched = found.matched.map((index) => scopes[index]);
  const plan = replay.plan !== null && matched.includes(replay.plan);
  const idempotency = replay.idempotency !== null && matched.includes(replay.idempotency);
  return { ...storedAnswer(readStoredAnswer(found.answer), { idempotency, plan }), storedForPlan: plan };
}

/** Reads the answer of a read, which KV has stored. */
export function storedReadAnswer(answer: Uint8Array): QueryAnswer {
  const stored = readStoredAnswer(new TextDecoder().decode(answer));
  return storedAnswer(stored, { idempotency: true, plan: false });
}

function storedAnswer(stored: StoredAnswer, replayed: Replayed): QueryAnswer {
  const context: AnswerContext = JSON.parse(stored.context);
  return { ...answerOf(stored, context), replayed };
}

function scopesOf({ idempotency, plan, heldPlan }: CallReplay): ReplayScope[] {
  return [idempotency, plan, heldPlan ?? null].filter((scope) => scope !== null);
}
