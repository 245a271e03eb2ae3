// Answers one request of a stream with the JSON text of its response.
import { AppError } from "../../core/errors.ts";
import { BatchRun, requireOneCall, type RunningRequest } from "./batch_run.ts";
import { describeText } from "./describe_text.ts";
import { doorError } from "./door_error.ts";
import { readStatement, textOf } from "./door_statement.ts";
import type { StreamRequest, WireBatch, WireStatement } from "./hrana_types.ts";
import { type DoorStep, endsWithProbe } from "./plan_batch.ts";
import { NOTHING, ONE_COLUMN } from "./result_text.ts";
import { runCall } from "./run_calls.ts";
import { sequenceSteps } from "./sequence_steps.ts";

/** A response as text. */
export interface RequestAnswer {
  /** `{"type":…}` */
  readonly response: string;
  /** The answer is that of an earlier request with the same key. */
  readonly replayed: boolean;
}

/** Runs the request; what runs no SQL is answered at once. Errors: its failure. */
export function answerRequest(
  running: RunningRequest,
  request: StreamRequest,
  path: string,
): RequestAnswer | Promise<RequestAnswer> {
  const { stream } = running;
  switch (request.type) {
    case "execute":
      return execute(running, request.stmt, path);
    case "batch":
      return batch(running, request.batch, path);
    case "sequence":
      return sequence(running, textOf(request, (id) => stream.texts.find(id)));
    case "describe":
      return describe(running, textOf(request, (id) => stream.texts.find(id)));
    case "store_sql":
      stream.texts.store(request.sql_id, request.sql);
      return plain('{"type":"store_sql"}');
    case "close_sql":
      stream.texts.remove(request.sql_id);
      return plain('{"type":"close_sql"}');
    case "get_autocommit":
      return plain(`{"type":"get_autocommit","is_autocommit":${stream.autocommit}}`);
    case "close":
      return stream.transaction === null ? CLOSED : stream.close().then(() => CLOSED);
  }
}

const CLOSED = plain('{"type":"close"}');

async function batch(running: RunningRequest, asked: WireBatch, path: string): Promise<RequestAnswer> {
  const run = await runBatch(running, asked, path);
  return { response: `{"type":"batch","result":${batchText(run)}}`, replayed: run.replayed };
}

async function describe({ ctx, stream }: RunningRequest, text: string): Promise<RequestAnswer> {
  return plain(`{"type":"describe","result":${await describeText(ctx, stream.transaction, text)}}`);
}

/** Runs the steps of a batch. Errors: those of statements that cannot be read, before anything runs. */
export async function runBatch(running: RunningRequest, batch: WireBatch, path: string): Promise<BatchRun> {
  const steps = batchSteps(running, batch, path);
  // Its answer is known here; as a call of its own it would cost as much as the steps, which then were not one call either.
  const probes = endsWithProbe(steps);
  const run = new BatchRun(running, probes ? steps.slice(0, -1) : steps);
  await run.run();
  if (probes) run.add(running.stream.autocommit ? ONE_COLUMN : null);
  return run;
}

function batchSteps({ ctx, stream }: RunningRequest, { steps }: WireBatch, path: string): DoorStep[] {
  const find = (id: number) => stream.texts.find(id);
  return steps.map(({ stmt, condition = null }, at) => ({
    statement: readStatement(ctx.facts, stmt, { find, path: `${path}batch.steps[${at}].stmt` }),
    condition,
  }));
}

async function execute(running: RunningRequest, stmt: WireStatement, path: string): Promise<RequestAnswer> {
  const { ctx, stream, options } = running;
  const find = (id: number) => stream.texts.find(id);
  const statement = readStatement(ctx.facts, stmt, { find, path: `${path}stmt` });
  const { control } = statement.text;
  requireOneCall(running, control === null);
  if (control !== null) {
    await stream.control(ctx, control, options);
    return plain(`{"type":"execute","result":${NOTHING}}`);
  }
  const { isOnly, opens } = running;
  const form = { atomic: true, batch: false, mayWait: isOnly };
  const { transaction } = stream;
  const outcome = await runCall(ctx, [statement], { form, opensRequest: opens(), options, transaction });
  stream.settle();
  if (outcome.failure) throw outcome.failure.error;
  return { response: `{"type":"execute","result":${outcome.results[0]}}`, replayed: outcome.replayed };
}

async function sequence(running: RunningRequest, text: string): Promise<RequestAnswer> {
  const run = new BatchRun(running, sequenceSteps(running.ctx.facts, text));
  await run.run();
  const failure = run.errors.find((error) => error !== null);
  if (failure) throw failure;
  return { response: '{"type":"sequence"}', replayed: run.replayed };
}

function batchText({ results, errors }: BatchRun): string {
  const texts = results.map((result) => result ?? "null");
  const failures = errors.map((error) => error && doorError(error));
  return `{"step_results":[${texts.join(",")}],"step_errors":${
    JSON.stringify(failures)
  },"replication_index":null}`;
}

function plain(response: string): RequestAnswer {
  return { response, replayed: false };
}

/** The failure of a request as the protocol has it. Throws what is no expected failure. */
export function failureText(error: unknown): string {
  if (!(error instanceof AppError)) throw error;
  return JSON.stringify(doorError(error));
}
