// What a client sends, within bounds of size and time, and into a file.
import { AppError, invalidInput } from "../../core/errors.ts";
import type { Clock } from "../../core/clock.ts";
import { importLimits } from "../../core/limits_of_transfers.ts";
import { tooLarge } from "../../guard/read_body.ts";
import { freeBytes } from "../../store/disk_reserve.ts";

type Body = ReadableStream<Uint8Array> | null;

interface UploadOptions {
  readonly signal?: AbortSignal | null;
  /** Until when all of it has to be there. */
  readonly mostMs?: number;
  /** An empty body is a file, and none that was forgotten. */
  readonly mayBeEmpty?: boolean;
}

/**
 * The body piece by piece. Errors: `payload_too_large`, `request_timeout`, `validation_failed` for an empty one; the reason of
 * the signal.
 */
export async function* uploadPieces(
  body: Body,
  clock: Clock,
  { signal = null, mostMs = Infinity, mayBeEmpty = false }: UploadOptions = {},
): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  const startedMs = clock.monotonicMs();
  let received = 0;
  try {
    while (reader !== undefined) {
      const { value, done } = await silenceEnds(reader.read(), signal);
      if (done) break;
      received += value.length;
      const ms = clock.monotonicMs() - startedMs;
      if (received > importLimits.fileBytes) throw tooLarge(importLimits.fileBytes);
      if (ms > mostMs) throw tooSlow();
      if (ms > importLimits.silentMs && received * 1000 < ms * importLimits.leastBytesPerSec) throw tooSlow();
      yield value;
    }
  } finally {
    await reader?.cancel().catch(() => {});
  }
  if (received === 0 && !mayBeEmpty) {
    throw invalidInput("body", "Send the file as the body");
  }
}

/** Where an upload goes, and who watches it. */
export interface Spool {
  /** The new file. */
  readonly path: string;
  readonly clock: Clock;
  readonly signal?: AbortSignal | null;
  /** Called with all bytes that have come. */
  readonly received?: (bytes: number) => void;
  /** The bytes that are left on the disk of a file. */
  readonly free?: (path: string) => Promise<number>;
}

/**
 * Writes the body into a new file, as long as there is room for what is built of it and for everybody else. Errors: those of
 * `uploadPieces`, `storage_full`.
 */
export async function spoolUpload(
  body: Body,
  { path, clock, signal = null, received: tell, free = freeBytes }: Spool,
): Promise<void> {
  using file = await Deno.open(path, { write: true, createNew: true, mode: 0o600 });
  let received = 0;
  let nextLook = 0;
  for await (const piece of uploadPieces(body, clock, { signal, mostMs: importLimits.uploadMs })) {
    received += piece.length;
    tell?.(received);
    if (received > nextLook) {
      if (await free(path) < received + importLimits.leftBytes) throw new AppError("storage_full");
      nextLook = received + importLimits.lookBytes;
    }
    for (let written = 0; written < piece.length;) written += await write(file, piece.subarray(written));
  }
}

/** Errors: `storage_full`. */
async function write(file: Deno.FsFile, bytes: Uint8Array): Promise<number> {
  try {
    return await file.write(bytes);
  } catch {
    throw new AppError("storage_full");
  }
}

function tooSlow(): AppError {
  return new AppError("request_timeout", { headers: { "Connection": "close" } });
}

async function silenceEnds<Value>(reading: Promise<Value>, signal: AbortSignal | null): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stop = () => {};
  const silent = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooSlow()), importLimits.silentMs);
    stop = () => reject(signal?.reason);
    signal?.addEventListener("abort", stop);
    if (signal?.aborted) stop();
  });
  try {
    return await Promise.race([reading, silent]);
  } catch (error) {
    // The connection broke off, and nobody reads the answer.
    throw error instanceof AppError ? error : tooSlow();
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}
