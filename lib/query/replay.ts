// Repeated calls: what an earlier one has left behind, and the claim of a read that is to leave something.
import type { Claim, ReplayScope } from "../control/replays.ts";
import { AppError } from "../core/errors.ts";
import { REPLAY_MS } from "../core/limits.ts";
import { isKvFull } from "../store/kv_call.ts";
import { readStoredAnswer, type StoredAnswer, writeStoredAnswer } from "../tenant/stored_answer.ts";
import type { ReplayKeys } from "../engine/replay_keys.ts";
import type { ReplayFound, TenantDatabase } from "../tenant/tenant_store.ts";
import { type AnswerContext, answerOf } from "./answer.ts";
import type {
  CallReplay,
  QueryAnswer,
  QueryContext,
  QueryTarget,
  Replayed,
  UnderstoodCall,
} from "./query_call.ts";

/** Times that a read's key is noted at most. */
const NOTE_ATTEMPTS = 3;

/** The keys of a call as the store takes them, in the order of `scopesOf`. */
export function replayKeys(ctx: QueryContext, replay: CallReplay, context: string): ReplayKeys {
  const nowMs = ctx.clock.now();
  return { keys: scopesOf(replay), nowMs, expiresAtMs: nowMs + REPLAY_MS, context };
}

/**
 * The answer of an earlier call, before this one is judged: what it did to the schema must not make its repetition
 * fail. A mutation that could run is looked up again in its own transaction, which is what makes it exactly once.
 * Errors: `replay_mismatch`, `replay_running`, `meter_unreachable`.
 */
export async function findEarlier(
  ctx: QueryContext,
  understood: UnderstoodCall,
  runnable: boolean,
): Promise<QueryAnswer | null> {
  const { replay } = understood.call;
  if (replay === null) return null;
  // A read that used the key has left a note in the database, which the write finds in its own transaction.
  if (runnable && writes(understood)) return null;
  if (replay.idempotency !== null) {
    const earlier = await ctx.replays.find(replay.idempotency);
    if (earlier.state === "mismatch") throw new AppError("replay_mismatch");
    if (earlier.state === "kept") return keptRead(earlier.answer);
  }
  const found = await understood.database.findReplay(replayKeys(ctx, replay, ""));
  return found === null ? null : replayedAnswer(replay, found);
}

/** The answer of a call whose own key is spent but whose answer was kept, or null. Errors: `replay_mismatch`. */
export async function findKept(
  ctx: QueryContext,
  target: QueryTarget,
  replay: CallReplay | null,
): Promise<QueryAnswer | null> {
  if (replay === null) return null;
  const database = ctx.tenants.open(target.databaseId, target.namespaceId);
  const found = await database.findReplay(replayKeys(ctx, replay, ""));
  return found === null ? null : replayedAnswer(replay, found);
}

/** An answer that the tenant's database has kept. Errors: `replay_mismatch`. */
export function replayedAnswer(replay: CallReplay, found: ReplayFound): QueryAnswer {
  if (found.ok === "replay_mismatch") throw new AppError("replay_mismatch");
  const scopes = scopesOf(replay);
  const matched = found.matched.map((index) => scopes[index]);
  const plan = replay.plan !== null && matched.includes(replay.plan);
  const idempotency = replay.idempotency !== null && matched.includes(replay.idempotency);
  return { ...keptAnswer(readStoredAnswer(found.answer), { idempotency, plan }), keptForPlan: plan };
}

/** A read's claim of its idempotency key, or the answer that somebody else has got meanwhile. */
export async function claimRead(
  ctx: QueryContext,
  understood: UnderstoodCall,
): Promise<Claim | QueryAnswer | null> {
  const scope = understood.call.replay?.idempotency ?? null;
  if (scope === null || writes(understood)) return null;
  const claim = await ctx.replays.claim(scope).catch((error) => {
    // A read does no harm twice: without room to note it, it runs and its repetition runs again.
    if (isKvFull(error)) return null;
    throw error;
  });
  if (claim === null) return null;
  if (claim.state === "claimed") return claim.claim;
  if (claim.state === "kept") return keptRead(claim.answer);
  throw new AppError(claim.state === "mismatch" ? "replay_mismatch" : "replay_running");
}

/**
 * Keeps a read's answer. It has been given already when KV or the database fails now: a repetition then reads again.
 * Errors: `replay_mismatch` where a write has got the key meanwhile.
 */
export async function keepRead(
  ctx: QueryContext,
  { call, database }: UnderstoodCall,
  claim: Claim,
  { answer, context }: { readonly answer: QueryAnswer; readonly context: string },
): Promise<void> {
  const text = writeStoredAnswer({
    context,
    results: answer.results.map((one) => [one.json.length, one.rowsRead, one.rowsWritten]),
    text: answer.results.map((one) => one.json).join(""),
    durationMs: answer.meta.durationMs,
    rowsReadBasis: answer.meta.rowsReadBasis,
  });
  const idempotency = call.replay?.idempotency ?? null;
  const keys = replayKeys(ctx, { idempotency, plan: null }, "");
  const found = await noted(database, keys);
  if (found === "failed") return;
  if (found?.ok === "replay_mismatch") throw new AppError("replay_mismatch");
  await claim.keep(new TextEncoder().encode(text)).catch(() => {});
}

/** Writes ask the database alone, so the key is noted there: a write finds the note, or has left its own answer before. */
async function noted(database: TenantDatabase, keys: ReplayKeys): Promise<ReplayFound | null | "failed"> {
  for (let attempt = 0; attempt < NOTE_ATTEMPTS; attempt++) {
    try {
      await database.noteReplay(keys);
      return await database.findReplay(keys);
    } catch {
      // An engine child may have ended at this moment, and to note it again does no harm.
    }
  }
  return "failed";
}

function keptRead(answer: Uint8Array): QueryAnswer {
  const kept = readStoredAnswer(new TextDecoder().decode(answer));
  return keptAnswer(kept, { idempotency: true, plan: false });
}

function keptAnswer(kept: StoredAnswer, replayed: Replayed): QueryAnswer {
  const context: AnswerContext = JSON.parse(kept.context);
  return { ...answerOf(kept, context), replayed };
}

/** Whether its answer belongs into the tenant's database, in its own transaction. */
export function writes({ facts }: UnderstoodCall): boolean {
  return facts.some((one) => one.class === "write" || one.class === "schema");
}

function scopesOf({ idempotency, plan }: CallReplay): ReplayScope[] {
  return [idempotency, plan].filter((scope) => scope !== null);
}
