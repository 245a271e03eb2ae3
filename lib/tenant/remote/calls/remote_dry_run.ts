// A dry run on a remote database: a request for each statement, in a transaction that is always undone.
import { roundMs } from "../../../core/clock.ts";
import { AppError } from "../../../core/errors.ts";
import type { EngineFailure } from "../../../engine/engine_failure.ts";
import type { Footprint } from "../../../engine/footprint/footprint.ts";
import { failedOutcome, timedOut } from "../../calls/call_run.ts";
import { DryRun } from "../../calls/dry_run.ts";
import { FootprintWatch } from "../../calls/footprint_watch.ts";
import type { Answer, Ask } from "../../calls/work.ts";
import type { TenantOutcome } from "../../tenant_store.ts";
import { type AskedCall, watchDeferred } from "./write_call.ts";
import { answerAsk } from "./answer_ask.ts";
import { type HranaStep, ifError, type StepResult } from "../hrana/hrana.ts";
import type { SendForm } from "../hrana/hrana_client.ts";
import { rowsAt } from "../server/remote_context.ts";
import { RemoteFailure } from "../hrana/remote_failure.ts";
import { integerOf } from "../hrana/remote_values.ts";
import { withStatementDeadline } from "../connection/statement_deadline.ts";
import { undo } from "./undo.ts";
import { VERSION, versionGuard } from "../connection/write_steps.ts";
import { Stopped } from "../hrana/deadline.ts";
import { RemoteNotes } from "./remote_notes.ts";
import type { RemoteConnection } from "../connection/remote_connection.ts";
import { retryOpenUntil, untilAnswered } from "../connection/until_answered.ts";
import { statementFailure } from "./step_by_step.ts";
import { awaitWork } from "../../../core/run_work.ts";

/** Above so many affected rows none is shown: their keys would all have to travel. */
const MAX_PREVIEWED = 20_000;
/** Rows shown of a statement: the server sends no more than some megabytes at once, so fewer where they are too long for it, or none. */
const SHOWN = [Infinity, 1, 0] as const;
const NONE_SHOWN = [0] as const;

/** For the write slot. Throws `AppError`. */
export async function dryRun(connection: RemoteConnection, job: AskedCall): Promise<TenantOutcome> {
  const reads = await ownReads(connection, job);
  const outcome = await dryRunUntilAnswered(connection, job);
  return reads === null ? outcome : withReads(outcome, reads);
}

/**
 * Rows that each statement of a call with a footprint reads by itself, found by a dry run without one: taking notes reads
 * rows too. Null: not known. For the write slot. Throws `AppError`.
 */
export async function ownReads(
  connection: RemoteConnection,
  job: AskedCall,
): Promise<readonly number[] | null> {
  const { footprint = null, ...call } = job.call;
  if (footprint === null) return null;
  // What takes longer leaves no time for the run that counts.
  const timeoutMs = Math.min(connection.context.queryTimeoutMs, call.timeoutMs ?? Infinity) / 2;
  const outcome = await dryRunUntilAnswered(connection, { ...job, call: { ...call, timeoutMs } }, NONE_SHOWN);
  if (outcome.ok !== true && outcome.ok !== false) return null;
  return outcome.results.map(({ rowsRead }) => rowsRead);
}

function withReads(outcome: TenantOutcome, reads: readonly number[]): TenantOutcome {
  if (outcome.ok !== true) return outcome;
  return {
    ...outcome,
    results: outcome.results.map((result, at) => ({ ...result, rowsRead: reads[at] ?? result.rowsRead })),
  };
}

async function dryRunUntilAnswered(
  connection: RemoteConnection,
  job: AskedCall,
  shown: readonly number[] = SHOWN,
): Promise<TenantOutcome> {
  const untilMs = retryOpenUntil(connection);
  try {
    return await untilAnswered(() => dryRunShowing(connection, job, shown), () => connection, untilMs);
  } catch (error) {
    throw error instanceof Stopped ? new AppError("store_unavailable") : error;
  }
}

async function dryRunShowing(
  connection: RemoteConnection,
  job: AskedCall,
  [mostRows = 0, ...fewer]: readonly number[],
): Promise<TenantOutcome> {
  const outcome = await dryRunOnce(connection, job, mostRows);
  return outcome === "rows too long" ? await dryRunShowing(connection, job, fewer) : outcome;
}

async function dryRunOnce(
  connection: RemoteConnection,
  { call, signal }: AskedCall,
  mostRows: number,
): Promise<TenantOutcome | "rows too long"> {
  const schemaGate = await connection.schemaGate();
  if (call.schemaVersion !== schemaGate.version) return { ok: "stale", schemaVersion: schemaGate.version };
  const gate = await schemaGate.gate(call);
  const timeoutMs = Math.min(connection.context.queryTimeoutMs, call.timeoutMs ?? Infinity);
  const transaction = new DryTransaction(connection, { signal, timeoutMs });
  const { footprint } = call;
  const targets = await schemaGate.previewTargets({
    ...call,
    statements: call.statements.slice(0, gate.sendable),
  });
  const run = new DryRun({
    call,
    count: gate.sendable,
    deferred: watchDeferred(call, schemaGate),
    openWatch: footprint ? () => FootprintWatch.open(footprint, new RemoteNotes()) : null,
    targetOf: (index) => targets[index] ?? null,
    mostPreviewed: MAX_PREVIEWED,
    mostRows,
  });
  try {
    const stale = await transaction.begin(schemaGate.schema.engineVersion, call.foreignKeysOff);
    if (stale) return { ok: "stale", schemaVersion: (await connection.schemaGate()).version };
    const failure = await awaitWork(run.run(), (ask) => transaction.answer(ask)) ?? gate.failure;
    return dryOutcome(run, failure);
  } catch (error) {
    const failure = statementFailure(error);
    if (failure === null) throw error;
    if (run.isShowing && failure.kind === "result_too_large") return "rows too long";
    return failedRun(run, failure, failure === timedOut ? timeoutMs : run.ms);
  } finally {
    await transaction.end();
  }
}

/** The outcome of a run that came to its end, or to the failure of a statement. */
export function dryOutcome(run: DryRun, failure: EngineFailure | null): TenantOutcome {
  return failure ? failedRun(run, failure, run.ms) : outcomeOf(run);
}

function outcomeOf(run: DryRun): TenantOutcome {
  const results = run.results.map(({ json, rowsRead }, at) => {
    const effect = run.effects[at];
    return { json, rowsRead, rowsWritten: 0, ...(effect ? { effect } : {}) };
  });
  return { ok: true, ...told(run), results, durationMs: roundMs(run.ms), rowsReadBasis: "engine" };
}

function told({ footprint }: DryRun): { readonly footprint?: Footprint } {
  return footprint === null ? {} : { footprint };
}

function failedRun(run: DryRun, failure: EngineFailure, durationMs: number): TenantOutcome {
  return {
    ...failedOutcome(failure, run.at, durationMs),
    ...told(run),
    work: { rowsRead: run.rowsRead, rowsWritten: 0 },
    effects: run.effects.slice(0, run.at),
  };
}

/** A transaction in several requests that is always undone, and that has one bound in time for all of them. */
class DryTransaction {
  readonly timeoutMs: number;
  readonly #signal: AbortSignal | null;
  #leftMs: number;
  #baton: string | null = null;

  constructor(
    private readonly connection: RemoteConnection,
    { signal, timeoutMs }: { readonly signal: AbortSignal | null; readonly timeoutMs: number },
  ) {
    this.#signal = signal;
    this.timeoutMs = timeoutMs;
    this.#leftMs = timeoutMs;
  }

  /** True: the schema is another one. */
  async begin(engineVersion: number, foreignKeysOff: boolean): Promise<boolean> {
    const [sql, args] = versionGuard(engineVersion);
    const first = foreignKeysOff ? [{ stmt: { sql: "PRAGMA foreign_keys=OFF" } }] : [];
    const guard = first.length + 1;
    const steps: HranaStep[] = [
      ...first,
      { stmt: { sql: "BEGIN IMMEDIATE" } },
      { stmt: { sql, args } },
      { stmt: { sql: VERSION }, condition: ifError(guard) },
    ];
    const answers = await this.#request(steps);
    rowsAt(answers, guard - 1);
    if (answers[guard]?.ok) return false;
    await this.connection.seen(integerOf(rowsAt(answers, guard + 1)[0]?.[0]));
    return true;
  }

  /** Throws `RemoteFailure` and `Stopped`. */
  answer(ask: Ask): Promise<readonly Answer[]> {
    return answerAsk((steps, form) => this.#request(steps, form), ask);
  }

  async end(): Promise<void> {
    await undo(this.connection, this.#baton);
  }

  async #request(
    steps: readonly HranaStep[],
    form: SendForm = {},
  ): Promise<readonly StepResult[]> {
    const startedMs = this.connection.context.clock.monotonicMs();
    const bounds = { timeoutMs: Math.max(1, this.#leftMs), waiting: [this.#signal] };
    const answer = await withStatementDeadline(this.connection, bounds, (signal) => {
      const baton = this.#baton;
      this.#baton = null;
      return this.connection.send("write", { steps, baton, close: false }, { ...form, signal });
    });
    this.#leftMs -= this.connection.context.clock.monotonicMs() - startedMs;
    if (answer.baton === null) throw new RemoteFailure("lost_stream");
    // Noted first: without the baton nobody could undo the transaction, and it would hold the server's write lock.
    this.#baton = answer.baton;
    if (this.#leftMs <= 0) throw new Stopped("timeout");
    return answer.steps;
  }
}
