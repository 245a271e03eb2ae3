// One request of a stream on a socket: checked, run and answered like that of a pipeline which has no other.
import { andThen } from "../../core/and_then.ts";
import { AppError } from "../../core/errors.ts";
import { answerRequest, runBatch } from "./answer_request.ts";
import type { RunningRequest } from "./batch_run.ts";
import { refusalIn } from "./check_request.ts";
import { cursorEntries, failedEntry } from "./cursor_entries.ts";
import type { DoorContext } from "./hrana_types.ts";
import type { SocketCursors } from "./socket_cursors.ts";
import type { SocketRequest, SocketStreamRequest } from "./socket_types.ts";
import type { HranaStream } from "./stream.ts";

/** A stream of a socket, and who calls now. */
export interface OnStream {
  readonly ctx: DoorContext;
  readonly stream: HranaStream;
  readonly signal: AbortSignal;
  readonly cursors: SocketCursors;
}

type OpenCursor = Extract<SocketRequest, { type: "open_cursor" }>;

/** The response as text. Errors: the failure of the request. */
export function answerOnStream(
  request: SocketStreamRequest | OpenCursor,
  { ctx, stream, signal, cursors }: OnStream,
): string | Promise<string> {
  const asked = request.type === "open_cursor" ? { type: "batch", batch: request.batch } as const : request;
  return andThen(refusalIn(ctx, [asked], (id) => stream.texts.find(id)), (refusal) => {
    if (refusal !== null) throw refusal;
    return answerAllowed(request, { ctx, stream, signal, cursors });
  });
}

function answerAllowed(
  request: SocketStreamRequest | OpenCursor,
  { ctx, stream, signal, cursors }: OnStream,
): string | Promise<string> {
  let calls = 0;
  const running: RunningRequest = {
    ctx,
    stream,
    options: {
      maxAffected: null,
      snapshots: true,
      idempotencyKey: null,
      signal: () => signal,
      beganMs: ctx.clock.monotonicMs(),
    },
    opens: () => calls++ === 0,
    closes: false,
    isOnly: true,
  };
  if (request.type === "open_cursor") return openCursor(running, request, cursors);
  return andThen(answerRequest(running, request, "request."), ({ response }) => response);
}

async function openCursor(
  running: RunningRequest,
  { cursor_id: id, batch }: OpenCursor,
  cursors: SocketCursors,
): Promise<string> {
  const cursor = cursors.reserve(id);
  try {
    const run = await runBatch(running, batch, "request.");
    cursor.fill(cursorEntries(run), failedEntry(noRoom()));
  } catch (error) {
    cursor.release();
    throw error;
  }
  return '{"type":"open_cursor"}';
}

/** What the batch has written stays: a client that reads "refused" would write it again. */
function noRoom(): AppError {
  return new AppError("outcome_unknown", {
    message:
      "Read before you repeat; the batch has run, and its results have no room beside what is not read yet",
  });
}
