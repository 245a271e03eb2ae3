// Brings a file in as a whole database: a child that may touch nothing else reads it, another one builds a fresh database of
// what it says, and that is put in place as a restore puts a snapshot in place, so that there is an undo.
import { callerId, requireRole } from "../../access/caller.ts";
import type { Meter } from "../../control/balance/meter.ts";
import { AppError, failedWith } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { QueryContext } from "../../query/query_call.ts";
import { Bill } from "../../query/bill.ts";
import { replayOfStep } from "../../query/hold_call.ts";
import { autoLabel } from "../../query/choose_snapshot.ts";
import { identifyWork, recordEnd } from "../../query/record.ts";
import { transferFiles, type TransferJob, type TransferReport } from "../../tenant/transfer/job.ts";
import type { TransferStore } from "../../tenant/transfer/transfer_store.ts";
import type { TransferRun } from "../../tenant/transfer/transfer_room.ts";
import { lostRecords } from "../migrations/migration_state.ts";
import { databaseOf } from "../snapshots/manage_snapshots.ts";
import { type RestoreContext, type RestoreInput, restoreSnapshot } from "../snapshots/restore_snapshot.ts";
import { refused } from "./check_item.ts";
import { requireTransfers } from "./export_database.ts";
import { type FileStep, hasRun, importedBefore, readStep, refuseIfHeld } from "./file_step.ts";
import type { KeptExports } from "./kept_exports.ts";
import type { KeptImport, NamedImport } from "./kept_imports.ts";
import { passItems } from "./pass_items.ts";
import { spoolUpload } from "./spool_upload.ts";

/** What imports need of a request. */
export interface ImportContext extends RestoreContext, QueryContext {
  readonly clock: RestoreContext["clock"];
  readonly meter: Meter;
  readonly exports: KeptExports | null;
  /** As appending needs it. */
  readonly again: () => Promise<unknown>;
}

/** A file, and what becomes of the database. `create`: only into one without tables. */
export interface ImportInput extends NamedImport {
  /** Whether rows may refer to rows that are not there. */
  readonly looseReferences: boolean;
  readonly body: ReadableStream<Uint8Array> | null;
  /** The step of a plan that it is. */
  readonly step?: FileStep | undefined;
}

/** What was brought in. */
export interface Imported {
  readonly tables: number;
  readonly rows: number;
  readonly notKept: readonly string[];
  /** Label of the snapshot that undoes this. */
  readonly snapshot: string | null;
}

/**
 * Errors: `role_too_low`, those of the balance, `transfers_unavailable`, `too_many_transfers`, `import_refused`,
 * `import_cancelled`, those of `spoolUpload`, of `again` and of `restoreSnapshot`.
 */
export async function importFile(ctx: ImportContext, input: ImportInput): Promise<Imported> {
  requireRole(ctx.target, "admin");
  const { imports, places, transfers } = requireTransfers(ctx);
  const { target, clock } = ctx;
  const log = identifyWork(ctx, {
    target,
    operation: "import",
    what: `import of ${input.format}: ${input.mode}`,
  });
  const bill = new Bill(ctx.meter, target);
  const startedMs = clock.monotonicMs();
  const transferId = newId("imp", clock.now());
  const kept = imports.begin(input, target.databaseId, `${transferId}/out`);
  try {
    return await bill.during("writes", () =>
      places.duringUpload(target.namespaceId, async () => {
        // The step's own tables may be there, and whether they are its own is told by its file.
        if (!input.step || !await hasRun(ctx, input.step)) await requireEmpty(ctx, input.mode);
        await receiveFile(ctx, transfers.room, { transferId, kept }, input.body);
        const step = readStep(input.step);
        const keyed = { ...ctx, replay: step && replayOfStep(step) };
        const earlier = step ? await importedBefore(keyed) : null;
        if (earlier !== null) return kept.done(earlier);
        if (step) await requireEmpty(ctx, input.mode);
        // Of what is held already nothing is built, or paid, a second time.
        await refuseIfHeld(ctx, log, step);
        kept.begin("waiting");
        return await places.duringWork(target.namespaceId, kept.signal, async () => {
          // Also a file that is refused takes its time to read.
          bill.figures = { rowsRead: 0, rowsWritten: 0 };
          const report = await buildFile(transfers.room, { transferId, kept }, input);
          const { tables, rows } = report;
          kept.built = { tables, rows };
          bill.figures = { rowsRead: 0, rowsWritten: rows };
          const built = `${transfers.room.folderOf(`${transferId}/out`)}/${transferFiles.built}`;
          const snapshot = autoLabel(clock, "import", input.format);
          const lost = await lostRecords({ ...ctx, tokenId: callerId(ctx.caller) });
          const imported = { tables, rows, notKept: report.notKept };
          // Hours may have passed since the caller was let in.
          await ctx.again();
          await transfers.adopt(target, built, snapshot);
          const restore = { snapshot, as: log, imported, lost, step };
          const { undo } = await putInPlace(keyed, transfers, kept, restore);
          return kept.done({ tables, rows, notKept: [...report.notKept, ...lost], snapshot: undo });
        });
      }));
  } catch (error) {
    kept.state = "failed";
    kept.code = error instanceof AppError ? error.code : "internal";
    // A restore that was stopped by a rule, or has begun, has written its row.
    if (error instanceof AppError && !LOGGED.has(error.code)) {
      const durationMs = Math.round(clock.monotonicMs() - startedMs);
      const figures = bill.figures ?? { rowsRead: 0, rowsWritten: 0 };
      recordEnd(databaseOf(ctx), log, { errorKind: error.code, ...figures, durationMs });
    }
    throw error;
  } finally {
    await transfers.room.remove(transferId);
  }
}

const LOGGED: ReadonlySet<string> = new Set([
  "rule_denied",
  "approval_required",
  "effect_changed",
  "outcome_unknown",
]);

/** Errors: `import_refused`. */
async function requireEmpty(ctx: ImportContext, mode: ImportInput["mode"]): Promise<void> {
  if (mode === "replace") return;
  const { tables } = await databaseOf(ctx).schema();
  if (tables.length === 0) return;
  throw new AppError("import_refused", {
    issues: [{
      path: "mode",
      message: "Use replace, which takes away all that is there; create is for a database without tables",
    }],
  });
}

/** One import's files, and what is known of it. */
interface ImportWork {
  readonly transferId: string;
  readonly kept: KeptImport;
}

/** Errors: `import_cancelled`, those of `spoolUpload`. */
async function receiveFile(
  { clock }: ImportContext,
  room: TransferStore["room"],
  { transferId, kept }: ImportWork,
  body: ImportInput["body"],
): Promise<void> {
  const reads = `${transferId}/in`;
  await room.make(reads);
  await spoolUpload(body, {
    path: `${room.folderOf(reads)}/${transferFiles.upload}`,
    clock,
    signal: kept.signal,
    received: (bytes) => kept.receivedBytes = bytes,
  });
}

/** Errors: `import_refused`, `import_cancelled`, `storage_full`, `store_unavailable` (somebody else has ended a child). */
async function buildFile(
  room: TransferStore["room"],
  { transferId, kept }: ImportWork,
  { format, looseReferences }: ImportInput,
): Promise<TransferReport> {
  const [reads, builds] = [`${transferId}/in`, `${transferId}/out`];
  await room.make(builds);
  kept.begin("building");
  const runs: TransferRun[] = [];
  const start = async (folder: string, job: TransferJob) => {
    const run = await room.start(folder, job);
    runs.push(run);
    return run;
  };
  const stop = () => runs.forEach((run) => run.kill());
  kept.signal.addEventListener("abort", stop);
  try {
    // Where the second one cannot be started, the first one ends too.
    const reader = await start(reads, { do: "read", format });
    const builder = await start(builds, { do: "build", looseReferences });
    if (kept.signal.aborted) stop();
    const problem = await passed(reader, builder);
    const [read, built] = await Promise.all([reader.ended, builder.ended]);
    kept.signal.throwIfAborted();
    // Where the builder has refused something, the reader was ended in the middle, and has refused nothing.
    const [unread, unbuilt] = [read, built].map(refusalOf);
    const refusal = unread ?? problem ?? unbuilt;
    if (refusal) throw refusal;
    if (read.state !== "done" || built.state !== "done") {
      throw refused("reading the file took too much time or memory");
    }
    return built;
  } finally {
    kept.signal.removeEventListener("abort", stop);
    await Promise.all(runs.map(endRun));
  }
}

async function endRun(run: TransferRun): Promise<void> {
  run.kill();
  await run.ended;
  const { stdin, stdout } = run.process;
  await Promise.all([stdin.abort().catch(() => {}), stdout.cancel().catch(() => {})]);
}

/** What was refused on the way from one child to the other; null: nothing. A child that has ended says why itself. */
async function passed(reader: TransferRun, builder: TransferRun): Promise<AppError | null> {
  try {
    await reader.process.stdin.close();
    await builder.process.stdout.cancel();
    await passItems(reader, builder);
    return null;
  } catch (error) {
    reader.kill();
    return error instanceof AppError ? error : null;
  }
}

/** Null where the child says nothing: it has done its work, ended by itself, or was given up. */
function refusalOf({ failure }: TransferReport): AppError | null {
  if (failure === undefined || failure.kind === "fault") return null;
  if (failure.kind === "ended") return new AppError("store_unavailable");
  return failure.kind === "room" ? new AppError("storage_full") : refused(failure.message, failure.at);
}

/** What rules hold stays for the person who decides; anything else leaves no snapshot. */
async function putInPlace(
  ctx: ImportContext,
  transfers: TransferStore,
  kept: KeptImport,
  restore: RestoreInput,
) {
  try {
    // Somebody may have made a table while the file came in.
    await requireEmpty(ctx, kept.named.mode);
    kept.begin("placing");
    const restored = await restoreSnapshot(ctx, restore);
    await transfers.forget(ctx.target, restore.snapshot);
    return restored;
  } catch (error) {
    const isHeld = failedWith(error, "approval_required");
    if (!isHeld) await transfers.forget(ctx.target, restore.snapshot);
    throw error;
  }
}
