// What a client sends, within bounds of size and time, and into a file.
import { AppError } from "../../core/errors.ts";
import type { Clock } from "../../core/clock.ts";
import { importLimits } from "../../core/limits_of_transfers.ts";
import { freeBytes } from "../../store/disk_reserve.ts";

type Body = ReadableStream<Uint8Array> | null;

/** The body piece by piece. Errors: `payload_too_large`, `request_timeout`, `validation_failed` for an empty one. */
export async function* uploadPieces(body: Body, clock: Clock): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  const startedMs = clock.monotonicMs();
  let received = 0;
  try {
    while (reader !== undefined) {
      const { value, done } = await silenceEnds(reader.read());
      if (done) break;
      received += value.length;
      const ms = clock.monotonicMs() - startedMs;
      if (received > importLimits.fileBytes) throw new AppError("payload_too_large");
      if (ms > importLimits.silentMs && received * 1000 < ms * importLimits.leastBytesPerSec) throw tooSlow();
      yield value;
    }
  } finally {
    await reader?.cancel().catch(() => {});
  }
  if (received === 0) {
    throw new AppError("validation_failed", {
      issues: [{ path: "body", message: "Send the file as the body" }],
    });
  }
}

/**
 * Writes the body into a new file, as long as there is room for what is built of it and for everybody else. `free` tells
 * the bytes that are left on the disk of a file. Errors: those of `uploadPieces`, `storage_full`.
 */
export async function spoolUpload(body: Body, path: string, clock: Clock, free = freeBytes): Promise<void> {
  using file = await Deno.open(path, { write: true, createNew: true, mode: 0o600 });
  let received = 0;
  let nextLook = 0;
  for await (const piece of uploadPieces(body, clock)) {
    received += piece.length;
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

async function silenceEnds<Value>(reading: Promise<Value>): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silent = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooSlow()), importLimits.silentMs);
  });
  try {
    return await Promise.race([reading, silent]);
  } catch (error) {
    // The connection broke off, and nobody reads the answer.
    throw error instanceof AppError ? error : tooSlow();
  } finally {
    clearTimeout(timer);
  }
}
