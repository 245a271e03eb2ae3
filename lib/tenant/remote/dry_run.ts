// What a call would do: it runs, a request for each statement, in a transaction that is always undone.
import { AppError } from "../../core/errors.ts";
import type { Footprint } from "../../engine/footprint/footprint.ts";
import type { StatementEffect } from "../../engine/statement_effect.ts";
import type { EngineFailure } from "../../engine/engine_failure.ts";
import type { StatementResult, TenantOutcome, TenantStatement } from "../tenant_store.ts";
import { rowsBeside, textBefore, textBehind } from "./count_rows.ts";
import { failedOutcome, timedOut } from "./call_result.ts";
import { brokenFailure, DeferredReferences, mayBreak } from "./deferred_references.ts";
import { DryTransaction } from "./dry_transaction.ts";
import { Stopped } from "./hrana/deadline.ts";
import { RemoteFailure } from "./hrana/remote_failure.ts";
import { RemoteFootprint } from "./remote_footprint.ts";
import type { RemoteTenant } from "./remote_tenant.ts";
import { dryPreview } from "./dry_preview.ts";
import { hranaValue, integerOf, jsonValue, resultJson } from "./hrana/remote_values.ts";
import { ResultTooLarge } from "../../engine/result_json.ts";
import { retryable } from "./retryable.ts";
import type { DryTarget } from "./gate/schema_gate.ts";
import { statementFailure } from "./step_by_step.ts";
import { stepFailure, tooLarge } from "./hrana/step_failure.ts";
import type { CallJob } from "./write_call.ts";
import { TOTAL } from "./write_steps.ts";

/** Above so many affected rows none is shown: their keys would all have to travel. */
const MAX_PREVIEWED = 20_000;

/** For the write slot. Throws `AppError`. */
export async function dryRun(tenant: RemoteTenant, job: CallJob): Promise<TenantOutcome> {
  const reads = await ownReads(tenant, job);
  const outcome = await dryRunUntilAnswered(tenant, job);
  return reads === null ? outcome : withReads(outcome, reads);
}

/**
 * Rows that each statement of a call with a footprint reads by itself: what takes rows down reads some as well, and makes
 * the statement read others. Null: not known. For the write slot.
 */
export async function ownReads(tenant: RemoteTenant, job: CallJob): Promise<readonly number[] | null> {
  const { footprint = null, ...call } = job.call;
  if (footprint === null) return null;
  // What takes longer leaves no time for the run that counts.
  const timeoutMs = Math.min(tenant.context.queryTimeoutMs, call.timeoutMs ?? Infinity) / 2;
  const outcome = await dryRunUntilAnswered(tenant, { ...job, call: { ...call, timeoutMs } }).catch(() =>
    null
  );
  if (outcome === null || (outcome.ok !== true && outcome.ok !== false)) return null;
  return outcome.results.map(({ rowsRead }) => rowsRead);
}

function withReads(outcome: TenantOutcome, reads: readonly number[]): TenantOutcome {
  if (outcome.ok !== true) return outcome;
  return {
    ...outcome,
    results: outcome.results.map((result, at) => ({ ...result, rowsRead: reads[at] ?? result.rowsRead })),
  };
}

async function dryRunUntilAnswered(tenant: RemoteTenant, job: CallJob): Promise<TenantOutcome> {
  for (let attempt = 0;; attempt++) {
    try {
      return await dryRunOnce(tenant, job);
    } catch (error) {
      if (error instanceof Stopped) throw new AppError("store_unavailable");
      if (!(error instanceof RemoteFailure)) throw error;
      await retryable(tenant, error, attempt);
    }
  }
}

async function dryRunOnce(tenant: RemoteTenant, { call, signal }: CallJob): Promise<TenantOutcome> {
  const schemaGate = await tenant.schemaGate();
  if (call.schemaVersion !== schemaGate.version) return { ok: "stale", schemaVersion: schemaGate.version };
  const gate = schemaGate.gate(call);
  const transaction = new DryTransaction(tenant, {
    signal,
    timeoutMs: Math.min(tenant.context.queryTimeoutMs, call.timeoutMs ?? Infinity),
  });
  const run: DryRun = { transaction, results: [], effects: [], ms: 0, at: 0, watch: null, footprint: null };
  try {
    const stale = await transaction.begin(schemaGate.schema.engineVersion, call.foreignKeysOff);
    if (stale) return { ok: "stale", schemaVersion: (await tenant.schemaGate()).version };
    const deferred = mayBreak(call, schemaGate)
      ? new DeferredReferences(call, (steps) => transaction.send(steps.map(({ stmt }) => stmt)))
      : null;
    await deferred?.raised();
    if (call.footprint) {
      run.watch = await RemoteFootprint.open((all) => transaction.send(all), call.footprint);
    }
    run.footprint = await run.watch?.footprint() ?? null;
    let raisedAt = 0;
    const statements = call.statements.slice(0, gate.sendable);
    const targets = schemaGate.previewTargets({ ...call, statements });
    for (const statement of statements) {
      const last = run.at === call.statements.length - 1;
      const failure = await runStatement(run, call, statement);
      if (failure) return failedAt(run, failure);
      if (statement.level !== "read" && await deferred?.raised()) {
        if (!call.atomic) return failedAt(run, brokenFailure());
        raisedAt = run.at;
      }
      if (last && deferred?.broken) return failedAt({ ...run, at: raisedAt }, brokenFailure());
      run.footprint = await run.watch?.footprint() ?? null;
      await addPreview(run, statement, targets[run.at] ?? null, call.integersAsStrings, last);
      run.at++;
    }
  } catch (error) {
    const failure = statementFailure(error);
    if (failure === null) throw error;
    return failedAt(run, failure, failure === timedOut ? transaction.timeoutMs : run.ms);
  } finally {
    await transaction.end();
  }
  if (gate.failure) return failedAt(run, gate.failure);
  const durationMs = Math.round(run.ms * 1000) / 1000;
  const results = run.results.map((result, at) => {
    const effect = run.effects[at];
    return effect ? { ...result, effect } : result;
  });
  return { ok: true, ...told(run), results, durationMs, rowsReadBasis: "engine" };
}

interface DryRun {
  readonly transaction: DryTransaction;
  readonly results: StatementResult[];
  readonly effects: StatementEffect[];
  ms: number;
  /** Place of the statement that runs. */
  at: number;
  watch: RemoteFootprint | null;
  /** Of the statements that have run. */
  footprint: Footprint | null;
}

function told({ footprint }: DryRun): { readonly footprint?: Footprint } {
  return footprint === null ? {} : { footprint };
}

/** The outcome where the statement in its place fails. */
function failedAt(run: DryRun, failure: EngineFailure, durationMs = run.ms): TenantOutcome {
  const { results, effects, at } = run;
  return {
    ...failedOutcome(failure, at, durationMs),
    ...told(run),
    work: { rowsRead: results.reduce((sum, { rowsRead }) => sum + rowsRead, 0), rowsWritten: 0 },
    effects: effects.slice(0, at),
  };
}

/** Runs it behind the savepoint `effect`, which stays open, and counts. */
async function runStatement(
  run: DryRun,
  call: CallJob["call"],
  statement: TenantStatement,
): Promise<EngineFailure | null> {
  const { sql, params, level } = statement;
  const args = params.map(hranaValue);
  await run.watch?.begin(level, statement.schemaRows?.rows ?? null);
  const schemaChange = level === "schema";
  const plan = schemaChange ? "SELECT 1 WHERE 0" : `EXPLAIN QUERY PLAN ${sql}`;
  const step = (text: string | null) => text === null ? [] : [{ sql: text }];
  const counts = step(textBefore(statement));
  const steps = await run.transaction.sendEffect([
    ...counts,
    { sql: plan, args },
    { sql: TOTAL },
    { sql, args },
    { sql: TOTAL },
    { sql: "SELECT changes()" },
    ...step(textBehind(statement)),
  ]);
  const [planned, base, ran, total, changes, recounted] = steps.slice(counts.length);
  if (ran?.ok !== true) return stepFailure(ran ?? { message: "", code: "" }, sql);
  const count = (one: typeof ran | undefined) => one?.ok ? integerOf(one.rows[0]?.[0]) : 0;
  const notes = await run.watch?.end() ?? 0;
  const all = count(total?.ok ? total : undefined) - count(base?.ok ? base : undefined) - notes;
  const ownRows = schemaChange ? null : all === 0 ? 0 : count(changes?.ok ? changes : undefined);
  run.ms += ran.ms;
  try {
    const json = resultJson(ran, call.bounds, call.integersAsStrings);
    run.results.push({ json, rowsRead: ran.rowsRead, rowsWritten: 0 });
  } catch (error) {
    if (error instanceof ResultTooLarge) return tooLarge(error);
    throw error;
  }
  const { written, removed } = rowsBeside(statement, [counts.length > 0 ? steps[0] : null, recounted], all);
  run.effects.push({
    ownRows,
    cascadedRows: all - (ownRows ?? 0) + written + removed,
    plan: planned?.ok ? planned.rows.map((row) => row.map((value) => jsonValue(value, false))) : [],
    preview: null,
  });
  return null;
}

async function addPreview(
  run: DryRun,
  { sql, params }: TenantStatement,
  target: DryTarget | null,
  integersAsStrings: boolean,
  last: boolean,
): Promise<void> {
  const effect = run.effects.at(-1);
  const ownRows = effect?.ownRows ?? 0;
  const shown = effect !== undefined && target !== null && ownRows > 0 && ownRows <= MAX_PREVIEWED;
  if (shown) {
    const preview = await dryPreview(run.transaction, { sql, params }, target, integersAsStrings);
    run.effects[run.effects.length - 1] = { ...effect, preview };
  }
  if (last) return;
  // What follows in a batch is to see it.
  const again = shown ? [{ sql: "ROLLBACK TO effect" }, { sql, args: params.map(hranaValue) }] : [];
  await run.transaction.send([...again, { sql: "RELEASE effect" }]);
}
