// Runs calls inside a transaction over several requests, on its stream.
import type { EngineFailure } from "../../../engine/engine_failure.ts";
import {
  type CallRun,
  committedRun,
  failedOutcome,
  isUndone,
  outcomeOf,
  timedOut,
} from "../../calls/call_run.ts";
import { CarefulRun } from "../../calls/careful_run.ts";
import { DryRun } from "../../calls/dry_run.ts";
import type { TenantOutcome } from "../../tenant_store.ts";
import { answerAsk, type SendSteps } from "../calls/answer_ask.ts";
import { type SchemaGate, schemaGate } from "../gate/schema_gate.ts";
import { asSelect } from "../gate/sent_text.ts";
import { type HranaStep, ifOk, losesInfinity } from "../hrana/hrana.ts";
import { RemoteFailure } from "../hrana/remote_failure.ts";
import { hranaValue } from "../hrana/remote_values.ts";
import { stepFailure } from "../hrana/step_failure.ts";
import { StepReader } from "../calls/read_steps.ts";
import { SCHEMA_STEPS, schemaOf } from "../connection/read_schema.ts";
import type { RemoteConnection } from "../connection/remote_connection.ts";
import { dryOutcome } from "../calls/remote_dry_run.ts";
import { statementFailure } from "../calls/step_by_step.ts";
import type { TransactionStream } from "./transaction_stream.ts";
import type { AskedCall } from "../calls/write_call.ts";
import type { GatedCall } from "../connection/write_steps.ts";
import { awaitWork } from "../../../core/run_work.ts";

/** A call that passed the gate, and the stream on which it runs. */
export interface InsideCall extends GatedCall {
  readonly stream: TransactionStream;
  readonly signal: AskedCall["signal"];
}

/** Throws `RemoteFailure` and `Stopped`; the transaction is gone then. */
export async function readInside({ call, gate, stream, signal }: InsideCall): Promise<TenantOutcome> {
  const steps = call.statements.slice(0, gate.sendable).map(({ sql, params }, at): HranaStep => ({
    stmt: { sql: asSelect(sql), args: params.map(hranaValue) },
    ...(at > 0 ? { condition: ifOk(at - 1) } : {}),
  }));
  const reader = new StepReader(call, 0);
  const read = async (part: readonly HranaStep[], first: number) => {
    let answers = await stream.send(part, { signal });
    if (losesInfinity(answers)) answers = await stream.send(part, { signal, binary: true });
    if (part.length > 0 && (answers[0] ?? null) === null) throw new RemoteFailure("lost_stream");
    for (const [at, step] of answers.entries()) reader.add(first + at, step, null);
  };
  try {
    await read(steps, 0);
  } catch (error) {
    const failure = failureInside(error, stream);
    if (steps.length === 1) reader.runner.fail(failure);
    // Which of them cannot be sent is told by each alone.
    for (const [at, { stmt }] of steps.entries()) {
      if (reader.runner.ended) break;
      await read([{ stmt }], at).catch((error) => reader.runner.fail(failureInside(error, stream)));
    }
  }
  return outcomeOf(reader.finish(gate));
}

/** How a writing call ended. `gone`: a statement has rolled the whole transaction back. */
export interface WroteInside {
  readonly outcome: TenantOutcome;
  readonly gone: boolean;
}

/** `depth`: how many savepoints are open. Throws `RemoteFailure` and `Stopped`; the transaction is gone then. */
export async function writeInside(inside: InsideCall, depth: number): Promise<WroteInside> {
  const { call, gate, stream, signal } = inside;
  const opened = await stream.openCall(depth, signal);
  if (opened === null) throw new RemoteFailure("lost_stream");
  if (!opened.ok) return { outcome: failedOutcome(stepFailure(opened), 0, 0), gone: false };
  const send: SendSteps = (steps, form) => stream.send(steps, { ...form, signal });
  const run = new CarefulRun({
    call,
    watch: null,
    migration: null,
    count: gate.sendable,
    notRun: gate.failure,
    // What is broken may be mended before the commit.
    deferred: null,
  });
  let ran: CallRun;
  try {
    ran = await awaitWork(run.run(), (ask) => answerAsk(send, ask));
  } catch (error) {
    const failure = failureInside(error, stream);
    if (!call.paramSets) ran = run.cut(failure);
    else {
      if (!await stream.closeCall(["ROLLBACK TO call"])) throw new RemoteFailure("lost_stream");
      return { outcome: failedOutcome(failure, run.at, 0), gone: false };
    }
  }
  if (run.runner.ended && await stream.isGone()) return { outcome: nothingOf(ran), gone: true };
  const result = await awaitWork(run.ended(ran), (ask) => answerAsk(send, ask));
  const nothingStays = isUndone(result.failure, call);
  const closed = await stream.closeCall([...run.closing, ...(nothingStays ? ["ROLLBACK TO call"] : [])]);
  if (!closed) throw new RemoteFailure("lost_stream");
  return { outcome: outcomeOf(committedRun(result, nothingStays)), gone: false };
}

/** The outcome of a call of which nothing stays, because its transaction does not. */
function nothingOf(ran: CallRun): TenantOutcome {
  return outcomeOf({ ...ran, results: [] });
}

/**
 * Runs a call and undoes it. Only its counts are looked at, because nobody can approve a part of a transaction: no rows are
 * shown. Throws `RemoteFailure` and `Stopped`; the transaction is gone then.
 */
export async function dryInside(inside: InsideCall, depth: number): Promise<TenantOutcome> {
  const { call, gate, stream, signal } = inside;
  const opened = await stream.openCall(depth, signal);
  if (opened === null) throw new RemoteFailure("lost_stream");
  if (!opened.ok) return failedOutcome(stepFailure(opened), 0, 0);
  const run = new DryRun({
    call,
    count: gate.sendable,
    deferred: null,
    openWatch: null,
    targetOf: () => null,
    mostPreviewed: 0,
  });
  const send: SendSteps = (steps, form) => stream.send(steps, { ...form, signal });
  let failure: EngineFailure | null;
  try {
    failure = await awaitWork(run.run(), (ask) => answerAsk(send, ask)) ?? gate.failure;
  } catch (error) {
    failure = failureInside(error, stream);
  }
  if (!await stream.closeCall(["ROLLBACK TO call"])) throw new RemoteFailure("lost_stream");
  return dryOutcome(run, failure);
}

/** The schema that the transaction sees. `versionBase`: what is added to the engine's version. */
export async function schemaInside(
  connection: RemoteConnection,
  stream: TransactionStream,
  versionBase: number,
): Promise<SchemaGate> {
  const schema = schemaOf(await stream.send(SCHEMA_STEPS));
  return await schemaGate(versionBase + schema.engineVersion, schema, connection);
}

/** The failure of a statement after which the stream is open: its result is too large, say. Throws what else has happened. */
function failureInside(error: unknown, stream: TransactionStream): EngineFailure {
  const failure = statementFailure(error);
  if (failure === null || failure === timedOut || !stream.isOpen) throw error;
  return failure;
}

/** The failure of a statement that the transaction did not survive; null: it was no statement's. */
export function lastFailure(error: unknown): EngineFailure | null {
  const failure = statementFailure(error);
  return failure === timedOut ? failure : null;
}
