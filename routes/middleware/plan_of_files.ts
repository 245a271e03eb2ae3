// Steps of a plan whose request or answer is a file of any length, which is not held in memory: of a request its digest is
// compared, behind the file's end, and of answers those are kept that are no longer than a result.
import type { Context, MiddlewareHandler } from "hono";
import type { Clock } from "../../lib/core/clock.ts";
import type { Replays } from "../../lib/control/replays.ts";
import { AppError } from "../../lib/core/errors.ts";
import { sha256 } from "../../lib/core/sha256.ts";
import { replayScope, sealAnswer } from "../../lib/access/replay_scope.ts";
import { uploadPieces } from "../../lib/services/transfer/spool_upload.ts";
import type { Env } from "../http/env.ts";
import { behindDigest, claimStep, isStep, planWords, stepLine, storedBytes, storedResponse } from "./plan.ts";

/** What this needs of the process. */
interface StepsOfFiles {
  readonly replays: Replays;
  readonly clock: Clock;
  /** Bytes of the longest answer that is kept. */
  readonly maxBytes: number;
}

/** Characters of a digest, which stands before the answer that is kept. */
const DIGEST_LENGTH = 64;

/** Errors: as those of `plan`; of a repeated file also those of `uploadPieces`. */
export function planOfFiles({ replays, clock, maxBytes }: StepsOfFiles): MiddlewareHandler<Env> {
  return async (c, next) => {
    if (!isStep(c)) return await next();
    const words = planWords(c);
    const scope = replayScope(words, stepLine(c));
    const { stored, claim } = await claimStep(replays, c, { scope, words });
    if (stored !== null) {
      const digest = new TextDecoder().decode(stored.subarray(0, DIGEST_LENGTH));
      if (await digestOf(c, clock) !== digest) throw new AppError("replay_mismatch");
      return storedResponse(stored.subarray(DIGEST_LENGTH));
    }
    const digest = digested(c);
    c.set("fileStep", { scope, digest });
    try {
      await next();
      const bytes = c.res.status === 200 ? await keptBytes(c, maxBytes) : null;
      const told = digest();
      if (bytes === null || told === null) return;
      const sealed = await sealAnswer(words, behindDigest(told, bytes));
      // The call has run, so it is answered whether its answer can be stored or not.
      await claim?.store(sealed, c.get("target").namespaceId).catch(() => {});
    } finally {
      const upload = c.get("upload");
      if (upload?.locked === false) await upload.cancel().catch(() => {});
      await claim?.release();
    }
  };
}

/** Of the file that is sent again. */
async function digestOf(c: Context<Env>, clock: Clock): Promise<string> {
  const hash = sha256();
  if (c.req.method === "POST") {
    for await (const piece of uploadPieces(c.req.raw.body, clock)) hash.update(piece);
  }
  return hash.digest("hex");
}

/** Lets the handler read the file. What this answers tells its digest, or null where the handler has not read all of it. */
function digested(c: Context<Env>): () => string | null {
  const { body } = c.req.raw;
  const hash = sha256();
  let isWhole = body === null;
  if (body !== null) {
    c.set(
      "upload",
      body.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform: (piece, controller) => {
            hash.update(piece);
            controller.enqueue(piece);
          },
          flush: () => {
            isWhole = true;
          },
        }),
      ),
    );
  }
  let told: string | null = null;
  return () => isWhole ? told ??= hash.digest("hex") : null;
}

/** What is to be kept of the answer; null where it is too long. It is answered in both cases. */
async function keptBytes(c: Context<Env>, maxBytes: number): Promise<Uint8Array | null> {
  const { res } = c;
  const reader = res.body?.getReader();
  const begun: Uint8Array<ArrayBuffer>[] = [];
  let [length, isWhole] = [0, reader === undefined];
  while (reader !== undefined && length <= maxBytes) {
    const { value, done } = await reader.read();
    isWhole = done;
    if (done) break;
    begun.push(value);
    length += value.length;
  }
  const arrival = c.get("arrival");
  const hasId = arrival.wholeAnswer === res;
  c.res = undefined;
  c.res = new Response(isWhole ? new Blob(begun) : restOf(begun, reader), res);
  if (hasId) arrival.wholeAnswer = c.res;
  return isWhole && length <= maxBytes ? await storedBytes(c.res) : null;
}

/** A body that goes on after what was read of it. */
function restOf(
  begun: readonly Uint8Array<ArrayBuffer>[],
  reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const first = begun.values();
  return new ReadableStream({
    pull: async (controller) => {
      const { value, done } = first.next();
      if (!done) return controller.enqueue(value);
      const read = await reader?.read();
      if (read === undefined || read.done) controller.close();
      else controller.enqueue(read.value);
    },
    cancel: (reason) => reader?.cancel(reason),
  }, { highWaterMark: 0 });
}
