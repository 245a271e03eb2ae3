// The one way in which SQL runs, whatever surface it comes from.
import { AppError } from "../core/errors.ts";
import type { TenantDatabase, TenantOutcome } from "../tenant/tenant_store.ts";
import { applyRules } from "./apply_rules.ts";
import { authorise } from "./authorise.ts";
import { type Classified, classify, textError } from "./classify.ts";
import { execute } from "./execute.ts";
import { failureError } from "./failure_error.ts";
import { toUsd } from "./prices.ts";
import type { QueryAnswer, QueryCall, QueryContext, UnderstoodCall } from "./query_call.ts";
import { identify, recordRefusal } from "./record.ts";
import { reserveBalance } from "./reserve_balance.ts";
import { settle } from "./settle.ts";
import { StageTimer } from "./stage_timer.ts";
import { takeSnapshot } from "./take_snapshot.ts";

/** Times that a call starts over because the schema changed under it. */
const MAX_STALE = 5;

/**
 * Classify, authorise, apply rules, reserve balance, take a snapshot, execute, settle, record. Errors: every code of
 * the stages; an SQL failure carries `errorDetail`, in a batch also `failedIndex` and the results that stay.
 */
export async function run(ctx: QueryContext, call: QueryCall): Promise<QueryAnswer> {
  const database = ctx.tenants.open(call.target.databaseId, call.target.namespaceId);
  for (let attempt = 0; attempt < MAX_STALE; attempt++) {
    const answer = await runOnce(ctx, call, database);
    if (answer) return answer;
  }
  throw new AppError("database_busy", { message: "Try again shortly; the schema keeps changing" });
}

/** Null when the schema was another one by the time the call ran. */
async function runOnce(
  ctx: QueryContext,
  call: QueryCall,
  database: TenantDatabase,
): Promise<QueryAnswer | null> {
  const timer = new StageTimer(ctx.clock);
  const log = identify(ctx, call);
  const classified = await classify(ctx, call.target.databaseId, database, call.statements);
  timer.end("classify");
  const understood: UnderstoodCall = {
    call,
    database,
    schemaVersion: classified.schemaVersion,
    facts: classified.facts,
    log,
  };
  try {
    authorise(call.target.role, classified.facts, call.operation === "batch");
    timer.end("authorise");
    applyRules(understood);
    timer.end("rules");
    reserveBalance(understood);
    timer.end("reserve");
  } catch (error) {
    if (error instanceof AppError) recordRefusal(database, log, error.code);
    throw error;
  }
  if (classified.misunderstood && (call.atomic || classified.facts.length === 0)) {
    throw await misunderstoodError(understood, classified, []);
  }
  const snapshot = takeSnapshot(understood);
  timer.end("snapshot");
  const outcome = await execute(ctx, understood, classified.misunderstood?.failure.kind ?? null);
  timer.end("execute");
  if (outcome.ok === "stale") {
    ctx.facts.seen(call.target.databaseId, outcome.schemaVersion);
    return null;
  }
  if (!outcome.ok) throw await outcomeError(understood, outcome);
  const settled = settle(outcome.results);
  timer.end("settle");
  if (classified.misunderstood) throw await misunderstoodError(understood, classified, outcome.results);
  return {
    results: outcome.results,
    meta: {
      rowsRead: settled.rowsRead,
      rowsWritten: settled.rowsWritten,
      durationMs: Math.round(outcome.durationMs),
      statementCount: call.statements.length,
      costUsd: toUsd(settled.costNanoUsd),
      snapshot,
      queryLogId: log.id,
      rowsReadBasis: outcome.rowsReadBasis,
    },
    timing: timer.header,
  };
}

type Failed = Extract<TenantOutcome, { ok: false }>;

/** The error of a statement that could not be understood; in a batch that is not atomic the ones before it stay. */
async function misunderstoodError(
  understood: UnderstoodCall,
  classified: Classified,
  kept: Failed["results"],
): Promise<AppError> {
  const { misunderstood } = classified;
  if (!misunderstood) throw new TypeError("nothing was misunderstood");
  const index = understood.call.operation === "batch" ? classified.facts.length : null;
  if (classified.facts.length === 0 || understood.call.atomic) {
    recordRefusal(understood.database, understood.log, misunderstood.failure.kind);
  }
  if (misunderstood.code) return textError(misunderstood.code, index);
  return await failureError(understood.database, {
    ...misunderstood,
    index,
    extra: keptResults(understood.call, kept),
  });
}

async function outcomeError(understood: UnderstoodCall, outcome: Failed): Promise<AppError> {
  const facts = understood.facts[outcome.failedIndex];
  return await failureError(understood.database, {
    failure: outcome.failure,
    verb: facts?.verb ?? "other",
    target: facts?.target ?? null,
    index: understood.call.operation === "batch" ? outcome.failedIndex : null,
    extra: keptResults(understood.call, outcome.results),
  });
}

/** A batch that is not atomic says what it kept before it stopped. */
function keptResults(call: QueryCall, results: Failed["results"]): Readonly<Record<string, unknown>> {
  if (call.operation !== "batch" || call.atomic) return {};
  return {
    data: results.map((result) =>
      JSON.parse(`${result.json},"rowsRead":${result.rowsRead},"rowsWritten":${result.rowsWritten}}`)
    ),
  };
}
