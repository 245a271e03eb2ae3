// Answers the requests of one HTTP call in their order: an error stops none of those behind it.
import { AppError } from "../../core/errors.ts";
import { answerRequest, failureText, type RequestAnswer, runBatch } from "./answer_request.ts";
import { keyOnSeveral, type RunningRequest } from "./batch_run.ts";
import { refusalIn, runsSql } from "./check_request.ts";
import { cursorEntries, failedEntry } from "./cursor_entries.ts";
import { isWhole } from "./door_error.ts";
import type { DoorContext, DoorOptions, StreamRequest, WireBatch } from "./hrana_types.ts";
import type { KeptStreams } from "./kept_streams.ts";
import type { HranaStream } from "./stream.ts";

/** Requests of one call, and the stream that they are for. */
export interface PipelineInput {
  readonly baton: string | null;
  readonly requests: readonly StreamRequest[];
  readonly options: DoorOptions;
}

/** The answer as text. */
export interface PipelineAnswer {
  readonly body: string;
  readonly replayed: boolean;
}

/** What the requests of a stream at work share. */
interface OpenPipeline {
  readonly running: Omit<RunningRequest, "closes">;
  /** Whether a call of the pipeline has been made. */
  readonly hasRun: () => boolean;
}

function openPipeline(
  ctx: DoorContext,
  stream: HranaStream,
  { options, isOnly }: { readonly options: DoorOptions; readonly isOnly: boolean },
): OpenPipeline {
  let calls = 0;
  const running = { ctx, options, stream, opens: () => calls++ === 0, isOnly };
  return { running, hasRun: () => calls > 0 };
}

/**
 * Errors: those of the stream; and, where nothing has run yet on a new stream, failures that are about the request or the
 * service rather than a statement.
 */
export async function answerPipeline(
  ctx: DoorContext,
  kept: KeptStreams,
  { baton, requests, options }: PipelineInput,
): Promise<PipelineAnswer> {
  const isOnly = requests.filter(runsSql).length === 1;
  requireKeyable(options, isOnly);
  const claiming = kept.claim(ctx, baton);
  const claimed = claiming instanceof Promise ? await claiming : claiming;
  const { stream, id } = claimed;
  const open = openPipeline(ctx, stream, { options, isOnly });
  let run: PipelineRun;
  let closed: boolean;
  // From the claim on every failure ends the stream: one that stayed claimed could be neither used nor evicted.
  try {
    const refusing = refusalIn(ctx, requests, (id) => stream.texts.find(id));
    const refusal = refusing instanceof Promise ? await refusing : refusing;
    run = new PipelineRun(open, { requests, refusal, isNew: baton === null });
    closed = await run.all();
  } catch (error) {
    await stream.close();
    kept.forget(id);
    throw error;
  }
  if (closed) kept.forget(id);
  const next = closed ? null : await kept.keep(ctx, claimed);
  const body = `{"baton":${JSON.stringify(next)},"base_url":null,"results":[${run.results.join(",")}]}`;
  return { body, replayed: run.replayed };
}

/** A batch over `POST …/cursor`. */
export interface CursorInput {
  readonly baton: string | null;
  readonly batch: WireBatch;
  readonly options: DoorOptions;
}

/** The lines of a cursor's answer. Errors: as `answerPipeline`. */
export async function answerCursor(
  ctx: DoorContext,
  kept: KeptStreams,
  { baton, batch, options }: CursorInput,
): Promise<string> {
  const claimed = await kept.claim(ctx, baton);
  const { stream, id } = claimed;
  const { running, hasRun } = openPipeline(ctx, stream, { options, isOnly: true });
  let entries: string[];
  try {
    const refusal = await refusalIn(ctx, [{ type: "batch", batch }], (id) => stream.texts.find(id));
    if (refusal !== null) throw refusal;
    entries = cursorEntries(await runBatch({ ...running, closes: false }, batch, ""));
  } catch (error) {
    if (error instanceof AppError && !(isWhole(error) && !hasRun() && baton === null)) {
      entries = [failedEntry(error)];
    } else {
      await stream.close();
      kept.forget(id);
      throw error;
    }
  }
  const next = await kept.keep(ctx, claimed);
  return `${[JSON.stringify({ baton: next, base_url: null }), ...entries].join("\n")}\n`;
}

class PipelineRun {
  readonly results: string[] = [];
  replayed = false;

  constructor(
    private readonly open: OpenPipeline,
    private readonly asked: {
      readonly requests: readonly StreamRequest[];
      readonly refusal: AppError | null;
      readonly isNew: boolean;
    },
  ) {}

  /** Whether the stream is closed in the end. What follows a close is answered `stream_expired`. */
  async all(): Promise<boolean> {
    let closed = false;
    for (const [at, request] of this.asked.requests.entries()) {
      const hasRun = this.open.hasRun();
      try {
        if (closed) throw new AppError("stream_expired");
        const answering = this.#answer(request, at);
        const answer = answering instanceof Promise ? await answering : answering;
        this.replayed ||= answer.replayed;
        this.results.push(`{"type":"ok","response":${answer.response}}`);
        closed = request.type === "close";
      } catch (error) {
        if (!(error instanceof AppError) || (!hasRun && this.#isForAll(error))) throw error;
        this.results.push(`{"type":"error","error":${failureText(error)}}`);
      }
    }
    return closed;
  }

  #answer(request: StreamRequest, at: number): RequestAnswer | Promise<RequestAnswer> {
    const { refusal, requests } = this.asked;
    if (refusal !== null && runsSql(request)) throw refusal;
    const closes = requests[at + 1]?.type === "close";
    return answerRequest({ ...this.open.running, closes }, request, `requests[${at}].`);
  }

  #isForAll(error: AppError): boolean {
    return this.asked.isNew && isWhole(error);
  }
}

/** Errors: `validation_failed` for a key on several requests that run SQL. */
function requireKeyable({ idempotencyKey }: DoorOptions, isOnly: boolean): void {
  if (idempotencyKey === null || isOnly) return;
  throw keyOnSeveral();
}
