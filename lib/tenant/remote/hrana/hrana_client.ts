// Sends one batch and reads what came back. Nothing outlives a call: two calls share no state through which one's
// counts could become another's.
import type { BatchAnswer, BatchRequest, HranaValue, StepResult } from "./hrana.ts";
import { decodeAnswer, encodeRequest } from "./hrana_binary.ts";
import type { PostAnswer, Posted, Poster } from "./poster.ts";
import { batchFailure, isBrokenText, refuseMoving, RemoteFailure, serverFailure } from "./remote_failure.ts";

/** Where one database answers, and what every request to it carries. */
export interface HranaEndpoint {
  /** Without a trailing slash. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** In which form of the protocol to send a batch. */
export interface SendForm {
  /** The one that has infinities. */
  readonly binary?: boolean;
}

/** How to send a batch. */
export interface SendOptions extends SendForm {
  readonly signal: AbortSignal | null;
  /** Never a second time, whatever the server says of it. */
  readonly once?: boolean;
  /** The stream that it opens will be used again soon: it is worth a socket of its own. */
  readonly stays?: boolean;
}

/** One round trip. Throws `RemoteFailure`. */
export async function sendBatch(
  poster: Poster,
  endpoint: HranaEndpoint,
  request: BatchRequest,
  { signal, binary = false }: SendOptions,
): Promise<BatchAnswer> {
  const { url, headers } = endpoint;
  const bytes = await post(poster, {
    url: `${url}/${binary ? "v3-protobuf" : "v3"}/pipeline`,
    headers: { ...headers, "content-type": binary ? "application/x-protobuf" : "application/json" },
    body: binary ? encodeRequest(request) : jsonRequest(request),
    signal,
  });
  try {
    return refuseMoving(
      binary ? decodeAnswer(bytes, request.steps.length) : readAnswer(new TextDecoder().decode(bytes)),
    );
  } catch (error) {
    throw error instanceof RemoteFailure ? error : new RemoteFailure("unreachable", "not an answer of Hrana");
  }
}

/** Sends one request and reads the bytes of its answer. Throws `RemoteFailure`. */
export async function post(poster: Poster, request: Posted): Promise<Uint8Array<ArrayBuffer>> {
  let answer: PostAnswer;
  try {
    answer = await poster.post(request);
  } catch (error) {
    if (request.signal?.aborted) throw new RemoteFailure("stopped");
    throw new RemoteFailure(/tcp connect error|dns error/.test(wordsOf(error)) ? "not_sent" : "unreachable");
  }
  const { status, bytes, serverMs } = answer;
  if (status >= 200 && status < 300) return bytes;
  throw statusFailure(status, new TextDecoder().decode(bytes.subarray(0, 1000)), serverMs);
}

/** `fetch` tells what has failed in the cause of its error. */
function wordsOf(error: unknown): string {
  return error instanceof Error ? `${error.message} ${wordsOf(error.cause)}` : "";
}

/** `serverMs`: the server's time, unless it is not a number. */
function statusFailure(status: number, text: string, serverMs: number): RemoteFailure {
  if (status === 404) return new RemoteFailure("gone");
  if (status === 401 || status === 403) {
    const expired = status === 401 && /expired/i.test(text) && Number.isFinite(serverMs);
    return new RemoteFailure("denied", "denied", {
      code: `${status}`,
      ...(expired ? { expiredMs: serverMs } : {}),
    });
  }
  if (status === 400 && /baton|stream/i.test(text)) return new RemoteFailure("lost_stream");
  if (status === 500 && isBrokenText(text)) return new RemoteFailure("invalid_text");
  return serverFailure(status, text);
}

function jsonRequest({ steps, baton, close }: BatchRequest): string {
  const requests: unknown[] = [{ type: "batch", batch: { steps } }];
  if (close) requests.push({ type: "close" });
  return JSON.stringify({ baton, requests });
}

/** A failure as JSON has it. */
export interface JsonError {
  readonly message: string;
  readonly code?: string | null;
}

interface JsonStep {
  readonly cols: readonly { readonly name: string | null; readonly decltype?: string | null }[];
  readonly rows: readonly (readonly HranaValue[])[];
  readonly affected_row_count?: number;
  readonly last_insert_rowid?: string | null;
  readonly rows_read?: number;
  readonly query_duration_ms?: number;
}

/** The result of a batch as JSON has it. */
export interface JsonResult {
  readonly step_results: readonly (JsonStep | null)[];
  readonly step_errors: readonly (JsonError | null)[];
}

interface JsonAnswer {
  readonly baton: string | null;
  readonly results: readonly {
    readonly error?: JsonError;
    readonly response?: { readonly result: JsonResult };
  }[];
}

function readAnswer(text: string): BatchAnswer {
  const { baton, results }: JsonAnswer = JSON.parse(text);
  const first = results[0];
  if (first?.error) throw batchFailure(first.error.message, first.error.code ?? "", baton);
  if (!first?.response) throw new RemoteFailure("unreachable", "no result");
  return { baton, steps: readResult(first.response.result) };
}

/** The steps of a batch. */
export function readResult({ step_results, step_errors }: JsonResult): readonly StepResult[] {
  return step_results.map((step, at) => readStep(step, step_errors[at] ?? null));
}

function readStep(step: JsonStep | null, error: JsonError | null): StepResult {
  if (error) return { ok: false, message: error.message, code: error.code ?? "" };
  return step && {
    ok: true,
    columns: step.cols.map((column) => column.name ?? ""),
    decltypes: step.cols.map((column) => column.decltype ?? null),
    rows: step.rows,
    rowsRead: step.rows_read ?? 0,
    changes: step.affected_row_count ?? 0,
    lastRowid: step.last_insert_rowid ?? null,
    ms: step.query_duration_ms ?? 0,
  };
}
