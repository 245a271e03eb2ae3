// Sends an export: a file that its child has built, or what its child writes.
import { AppError } from "../../core/errors.ts";
import { CHILD_WORK_MS } from "../../core/limits_of_transfers.ts";
import { transferFiles, type TransferReport } from "../../tenant/transfer/job.ts";
import type { TransferStore } from "../../tenant/transfer/transfer_store.ts";
import { clientStream } from "./client_stream.ts";
import type { KeptExport, KeptExports } from "./kept_exports.ts";
import { removeIfThere } from "../../store/if_there.ts";

/** The first byte wanted and the last one; null: up to the end. */
export interface ExportRange {
  readonly from: number;
  readonly to: number | null;
}

/** The body of an answer. */
export interface SentBody {
  readonly body: ReadableStream<Uint8Array>;
  /** Of a SQLite file: its size, and the part that is sent. */
  readonly file: { readonly sizeBytes: number; readonly from: number; readonly to: number } | null;
}

/** What sending an export needs. */
interface Sending {
  readonly exports: KeptExports;
  readonly transfers: TransferStore;
  /** Settles and records; to be called once. */
  readonly end: (errorKind: string | null, rowsRead: number) => void;
}

async function startRun(kept: KeptExport, { exports, transfers }: Sending): Promise<void> {
  if (kept.run !== null || kept.starts) throw new AppError("too_many_transfers");
  const { format, table, safe } = kept.input;
  if (kept.state !== "writing") exports.places.requireRoom(kept.owner.namespaceId);
  kept.state = "writing";
  kept.starts = true;
  exports.noteStart(kept);
  try {
    kept.run = await transfers.room.start(kept.id, { do: "export", format, table, safe });
  } finally {
    kept.starts = false;
  }
  const { run } = kept;
  // It reads the copy, and nothing is told to it.
  await run.process.stdin.close();
  // A file is no output.
  if (format === "sqlite") await run.process.stdout.cancel();
}

async function endRun(kept: KeptExport): Promise<TransferReport> {
  const report = await kept.run?.ended;
  if (report === undefined) throw new TypeError("the export does not run");
  kept.run = null;
  kept.report = report;
  kept.state = report.state === "done" ? "ready" : "failed";
  return report;
}

/**
 * The file is built first; then it can be sent from any byte on. Errors: `range_not_satisfiable`, those of what has failed
 * to build it.
 */
export async function sendFile(
  kept: KeptExport,
  range: ExportRange | null,
  sending: Sending,
): Promise<SentBody> {
  const folder = sending.transfers.room.folderOf(kept.id);
  let rows = 0;
  if (kept.sizeBytes === null) {
    await startRun(kept, sending);
    const report = await endRun(kept);
    if (report.state !== "done") {
      await sending.exports.fail(kept);
      throw failureOf(report);
    }
    rows = report.rows;
    kept.sizeBytes = (await Deno.stat(`${folder}/${transferFiles.built}`)).size;
    for (const suffix of ["", "-wal", "-shm"]) {
      await removeIfThere(`${folder}/${transferFiles.copy}${suffix}`);
    }
  }
  const sizeBytes = kept.sizeBytes;
  const from = range?.from ?? 0;
  const to = Math.min(range?.to ?? sizeBytes - 1, sizeBytes - 1);
  if (from > to) {
    throw new AppError("range_not_satisfiable", { headers: { "Content-Range": `bytes */${sizeBytes}` } });
  }
  const file = await Deno.open(`${folder}/${transferFiles.built}`);
  await file.seek(from, Deno.SeekMode.Start);
  let left = to - from + 1;
  const body = clientStream({
    kept,
    read: async (into) => {
      if (left === 0) return 0;
      const count = await file.read(into.subarray(0, Math.min(into.length, left))) ?? 0;
      left -= count;
      return count;
    },
    done: () => Promise.resolve(null),
    close: (errorKind) => {
      file.close();
      sending.end(errorKind, rows);
    },
  });
  return { body, file: { sizeBytes, from, to } };
}

/** The child's output is the answer; its first bytes are awaited, so that what cannot be exported is a failure. */
export async function sendText(kept: KeptExport, sending: Sending): Promise<SentBody> {
  await startRun(kept, sending);
  const reader = kept.run?.process.stdout.getReader({ mode: "byob" });
  if (reader === undefined) throw new TypeError("the export does not run");
  // A child that stands still writes nothing and does not end by itself.
  const read = async () => {
    const late = setTimeout(() => kept.run?.kill(), CHILD_WORK_MS);
    try {
      return await reader.read(new Uint8Array(PIECE));
    } finally {
      clearTimeout(late);
    }
  };
  const first = await read();
  if (first.done) {
    const report = await endRun(kept);
    if (report.state !== "done") {
      await sending.exports.fail(kept);
      throw failureOf(report);
    }
  }
  let pending: Uint8Array | null = first.done ? new Uint8Array() : first.value;
  let report: TransferReport | null = kept.run === null ? kept.report : null;
  const body = clientStream({
    kept,
    read: async (into) => {
      if (pending !== null) {
        const count = pending.length;
        into.set(pending);
        pending = null;
        return count;
      }
      const { value, done } = await read();
      if (done) return 0;
      into.set(value);
      return value.length;
    },
    done: async () => {
      report ??= await endRun(kept);
      return report.state === "done" ? null : failureOf(report);
    },
    close: async (errorKind) => {
      await reader.cancel().catch(() => {});
      if (report === null) {
        kept.run?.kill();
        report = await endRun(kept);
        // What was copied is whole; another download may read it.
        kept.state = "ready";
      }
      sending.end(errorKind, report.rows);
    },
  });
  return { body, file: null };
}

const PIECE = 256 * 1024;

function failureOf({ failure }: TransferReport): AppError {
  switch (failure?.kind) {
    case "refused":
      return new AppError("export_refused", {
        issues: [{ path: "table", message: failure.message }],
      });
    case "damaged":
      return new AppError("database_corrupt");
    case "room":
      return new AppError("storage_full");
    default:
      return new AppError("store_unavailable");
  }
}
