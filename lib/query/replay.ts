// Repeated calls: one wrapper around the stages of a call that has an idempotency key or is a step of a plan.
import type { Claim } from "../control/replays.ts";
import { AppError } from "../core/errors.ts";
import { type ReplayKeys, writeStoredAnswer } from "../tenant/stored_answer.ts";
import type { ReplayFound } from "../tenant/tenant_store.ts";
import { answerContext } from "./answer.ts";
import { findEarlier, replayKeys, storedReadAnswer } from "./find_earlier.ts";
import { claimHarmless } from "./claim_harmless.ts";
import { answered, goOn, type Said } from "./pipeline.ts";
import type { QueryAnswer, StatementDatabase } from "./query_call.ts";
import type { StatementPass, StatementStages } from "./statement_stages.ts";

/** The most attempts to note a read's key. */
const NOTE_ATTEMPTS = 3;

/**
 * The stages of a call whose repetition gets the first answer. The answer of a write is found and stored in its own
 * transaction ("execute"), so that it runs exactly once; every stage that could stop its repetition earlier asks for
 * the answer first. A read is claimed and stored in KV. Errors beside those of the stages: `replay_mismatch`,
 * `replay_running`, `meter_unreachable`.
 */
export function withReplay(stages: StatementStages): StatementStages {
  return {
    ...stages,
    check: async (pass) => {
      const { understood, timer } = pass;
      const storeLooks = understood.canRun && understood.writes;
      // Before any decision, because a repetition must not fail for the call's own change of the schema.
      const first = storeLooks ? null : await earlier(pass);
      timer.end("replay");
      if (first) return answered(first);
      const checked = await stages.check(pass);
      if (checked.say !== "go on" || checked.found.length === 0) return checked;
      // Before a rule stops the call or an approval is made: a repetition needs neither.
      const ran = await earlier(pass);
      return ran ? answered(ran) : checked;
    },
    admit: async (pass, matches) => {
      try {
        return await stages.admit(pass, matches);
      } catch (error) {
        // A repetition costs nothing, so it is answered also when there is no money left.
        const ran = error instanceof AppError && error.status === 402 ? await earlier(pass) : null;
        if (ran) return answered(ran);
        throw error;
      }
    },
    perform: async (pass, maxRows) => {
      const { writes, canRun } = pass.understood;
      const perform = () => stages.perform(pass, maxRows);
      if (writes) return storedByTenant(pass, await perform());
      return canRun ? await performClaimed(pass, perform) : await perform();
    },
  };
}

function earlier({ ctx, understood }: StatementPass): Promise<QueryAnswer | null> {
  return findEarlier(ctx, understood);
}

/** Marks the answer of a plan's step that writes: the tenant's database has stored it. */
function storedByTenant(
  { understood: { call } }: StatementPass,
  said: Said<never, QueryAnswer>,
): Said<never, QueryAnswer> {
  if (said.say !== "answer" || said.answer.replayed !== null || !call.replay?.plan) return said;
  return answered({ ...said.answer, storedForPlan: true });
}

/** Of many reads with one idempotency key one runs; the others get its answer. */
async function performClaimed(
  pass: StatementPass,
  perform: () => Promise<Said<never, QueryAnswer>>,
): Promise<Said<never, QueryAnswer>> {
  const claimed = await claimRead(pass);
  if (claimed.say !== "go on") return claimed;
  const claim = claimed.found;
  if (claim === null) return await perform();
  pass.timer.end("claim");
  try {
    const said = await perform();
    if (said.say === "answer") await storeRead(pass, claim, said.answer);
    pass.timer.end("store");
    return said;
  } finally {
    await claim.release();
  }
}

/** Claims a read's idempotency key (null: it has none, or KV has no room), or finds the answer that is stored under it. */
async function claimRead({ ctx, understood }: StatementPass): Promise<Said<Claim | null, QueryAnswer>> {
  const scope = understood.call.replay?.idempotency ?? null;
  if (scope === null) return goOn(null);
  const claimed = await claimHarmless(ctx.replays, scope);
  return "answer" in claimed ? answered(storedReadAnswer(claimed.answer)) : goOn(claimed.claim);
}

/**
 * Stores a read's answer. Where KV or the database fails, or KV has no more room for the namespace, the caller gets the answer
 * all the same, and a repetition reads again. Errors: `replay_mismatch` where a write has taken the key meanwhile.
 */
async function storeRead(
  { ctx, understood }: StatementPass,
  claim: Claim,
  { results, meta }: QueryAnswer,
): Promise<void> {
  const text = writeStoredAnswer({
    context: JSON.stringify(answerContext(understood, meta.snapshot)),
    results: results.map((one) => [one.json.length, one.rowsRead, one.rowsWritten]),
    text: results.map((one) => one.json).join(""),
    durationMs: meta.durationMs,
    rowsReadBasis: meta.rowsReadBasis,
  });
  const { call, database } = understood;
  const idempotency = call.replay?.idempotency ?? null;
  const found = await noted(database, replayKeys(ctx, { idempotency, plan: null }, ""));
  if (found === "failed") return;
  if (found?.ok === "replay_mismatch") throw new AppError("replay_mismatch");
  await claim.store(new TextEncoder().encode(text), call.target.namespaceId).catch(() => {});
}

/**
 * Notes a read's key in the tenant's database, because writes ask that only: a write finds the note, or has stored its
 * answer before.
 */
async function noted(
  database: Pick<StatementDatabase, "findReplay" | "noteReplay">,
  keys: ReplayKeys,
): Promise<ReplayFound | null | "failed"> {
  for (let attempt = 0; attempt < NOTE_ATTEMPTS; attempt++) {
    try {
      await database.noteReplay(keys);
      return await database.findReplay(keys);
    } catch {
      // An engine child may have ended meanwhile, and noting the key twice does no harm.
    }
  }
  return "failed";
}
