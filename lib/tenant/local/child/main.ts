// The engine child: reads a frame, serves its request and answers, until its input ends. It may touch the tenants' folder
// and its progress file; it has no network, no environment and no other program. The service may kill it at any moment.
import { PLAIN_ROWS } from "../../../sql/words/row_form.ts";
import type { SqlParameter } from "../../../sql/words/sql_value.ts";
import { CallerTransactions } from "./caller_transactions.ts";
import { commitToDisk } from "./commit_to_disk.ts";
import { createFile } from "./create_file.ts";
import { diffBranch, foldLog, missingBranch, storeAncestor } from "./branch_file.ts";
import { compareSnapshot } from "./staged_snapshot.ts";
import { foldKeeping, foldNow, foldQuickly } from "./fold_now.ts";
import { withMemory } from "../../../engine/compiled_texts.ts";
import { type EngineFailure, engineFailure } from "../../../engine/engine_failure.ts";
import { readRequest, writeOutcomes, writeReply } from "./frame_io.ts";
import { inspect } from "./inspect.ts";
import { insertLogRows, pruneLog } from "./log_rows.ts";
import { listTables } from "../../../engine/list_tables.ts";
import { rest } from "./rest.ts";
import { MemoryReport, Progress } from "./progress.ts";
import { mergeBranch } from "./merge.ts";
import { OpenFiles } from "./open_files.ts";
import type { Request } from "./protocol.ts";
import { readGroup, writeGroup } from "./run_group.ts";
import { findReplay, noteReplay, pruneReplays } from "./replay.ts";
import { beginHistory, copyTo, restoreSnapshot } from "./restore.ts";
import { wholeCall, wholeReads } from "./wire_call.ts";
import { logBytesAt } from "./file_at.ts";
import type { TenantFile } from "./tenant_file.ts";
import { copyOut, takeSnapshot } from "./own_snapshots.ts";

const [directory, progressPath, keepBytes, keepsLogs, descriptors] = Deno.args;
if (directory === undefined || progressPath === undefined) Deno.exit(2);
const files = new OpenFiles(directory, {
  bytes: Number(keepBytes),
  keepsLogs: keepsLogs === "true",
  // The shell says "unlimited" where nothing limits them.
  descriptors: Number(descriptors) || Infinity,
});
const progressFile = Deno.openSync(progressPath, { write: true, create: true });
const memory = new MemoryReport(progressPath);
const progress = new Progress(progressFile, memory);
const transactions = new CallerTransactions(files, progress);
/** How a file was found, while more of its log rows follow: whether it was open for writing, and its log empty. */
const logsBegun = new Map<string, { readonly wrote: boolean; readonly rested: boolean }>();

writeReply({ t: "loaded" });
for (let request = readRequest(); request !== null; request = readRequest()) {
  memory.frameBegins();
  try {
    serve(request);
  } catch (error) {
    if ("db" in request) recover(request.db);
    writeReply({ t: "failed", f: storeFailure(error) });
  }
  files.settle();
  memory.frameEnds();
}
transactions.leaveReady();
files.closeAll();
// The thread that reports memory never ends by itself.
Deno.exit(0);

function serve(request: Request): void {
  switch (request.op) {
    case "read": {
      progress.startFrame(request.frame);
      const read = withMemory(() => readGroup(files.get(request.db), wholeReads(request.calls), progress));
      return read === null ? writeReply({ t: "rests" }) : writeOutcomes(read.outcomes, read.text);
    }
    case "write":
      progress.startFrame(request.frame);
      writeGroup({
        file: files.get(request.db),
        calls: request.calls.map(wholeCall),
        logRows: request.logRows,
        progress,
        answer: (outcomes, text) => writeReply({ t: "outcomes", o: outcomes }, text),
      });
      return writeReply({ t: "committed" });
    case "log": {
      const file = files.get(request.db);
      const { wrote, rested } = logsBegun.get(request.db) ??
        { wrote: file.writes, rested: logBytesAt(file.path) === 0 };
      logsBegun.delete(request.db);
      const left = writeLog(file, request);
      if (request.more) {
        logsBegun.set(request.db, { wrote, rested });
        return writeReply({ t: "done", left });
      }
      if (rested && request.folds && !file.keepsLog) foldQuickly(file.writer());
      // A file that is only read here would else count twice from then on, and one that only the service reads would
      // count for nothing. Where few files are open, the next rows find their writer again.
      if (!wrote && files.isTight) {
        if (request.held) files.leaveHeld(request.db);
        else file.endWriter();
      }
      return writeReply({ t: "done", left });
    }
    case "inspect":
      return writeReply({ t: "inspected", ...inspect(files.get(request.db), request) });
    case "schema": {
      const file = files.get(request.db);
      return writeReply({ t: "schema", v: file.readerVersion(), tables: listTables(file.briefReader()) });
    }
    case "find_replay": {
      const replay = findReplay(files.get(request.db).briefReader(), request.replay);
      return writeReply({ t: "replay", found: replay?.found ?? null }, replay?.text);
    }
    case "note_replay":
      noteReplay(files.get(request.db).writer(), request.replay);
      return writeReply({ t: "done" });
    case "create":
      createFile(files.pathOf(request.db));
      return writeReply({ t: "done" });
    case "internal":
      runInternal(files.get(request.db), request.statements);
      return writeReply({ t: "done" });
    case "snapshot":
      takeSnapshot(files.get(request.db), request.name, request.early);
      return writeReply({ t: "done" });
    case "restore":
      return writeReply(restoreSnapshot(files.get(request.db), request));
    case "compare_snapshot": {
      const { reply, effect } = compareSnapshot(files.get(request.db), request);
      return writeReply(reply, effect === undefined ? "" : JSON.stringify(effect));
    }
    case "copy":
      return writeReply(copyTo(files.get(request.db), { ...request, path: files.pathOf(request.to) }));
    case "copy_out":
      copyOut(files.get(request.db), files.transferCopy(request.transfer), request.early);
      return writeReply({ t: "done" });
    case "begin_history":
      return writeReply(beginHistory(files.pathOf(request.db), request));
    case "fold_log":
      foldLog(files.get(request.db));
      return writeReply({ t: "done" });
    case "fold_all": {
      const fold = request.keeps ? foldKeeping : foldNow;
      return writeReply({ t: "folded", frames: fold(files.get(request.db).writer()) });
    }
    case "wake":
      files.get(request.db).wake();
      return writeReply({ t: "done" });
    case "rest": {
      const file = files.get(request.db);
      return writeReply({ t: "rested", rests: foldNow(file.writer()) === null && file.rest() });
    }
    case "store_ancestor":
      storeAncestor(files.get(request.db));
      return writeReply({ t: "done" });
    case "diff": {
      const compared = diffBranch(files.get(request.db), request.rowForm);
      if (compared === null) return writeReply(missingBranch(files.get(request.db)));
      return writeReply({ t: "compared", rowsRead: compared.rowsRead }, JSON.stringify(compared.diff));
    }
    case "merge": {
      const merged = mergeBranch(files.get(request.db), files.get(request.branch), request);
      if (merged === null) return writeReply(missingBranch(files.get(request.branch)));
      return writeReply({ t: "merged", merge: merged.wire }, JSON.stringify(merged.report));
    }
    case "has_log":
      return writeReply({ t: "ids", ids: request.ids.filter((id) => hasLog(files.get(request.db), id)) });
    case "transaction": {
      progress.startFrame(request.frame);
      const { reply, text } = transactions.serve(request);
      return writeReply(reply, text);
    }
    case "close":
      transactions.closeReady(request.db);
      files.close(request.db);
      return writeReply({ t: "done" });
    case "sweep":
      return files.sweep();
  }
}

/** An unknown failure outside a caller's statement is one of the store; the log tells its name, as `PermissionDenied`. */
function storeFailure(error: unknown): EngineFailure {
  const failure = engineFailure(error, null);
  // Log rows wait for a disk that the system has made read-only, as for one without room.
  if (failure.kind === "readonly") return { ...failure, kind: "full" };
  if (failure.kind !== "unknown") return failure;
  return { ...failure, kind: "unavailable", message: error instanceof Error ? error.name : "unknown" };
}

/** Closes the database after an error outside the caller's SQL, because its handles may be unusable. */
function recover(databaseId: string): void {
  try {
    files.close(databaseId);
  } catch {
    // The caller reports the first error.
  }
}

/**
 * Writes log rows of reads without an fsync; the next durable commit brings them to the disk. True: more rows may have to go
 * than are gone now.
 */
function writeLog(
  file: TenantFile,
  { logRows, prune, held }: Extract<Request, { op: "log" }>,
): boolean {
  const writer = file.writer();
  let left = false;
  writer.database.exec("PRAGMA synchronous=NORMAL");
  try {
    writer.internalRun("BEGIN IMMEDIATE");
    insertLogRows(writer, logRows, held ? rest : undefined);
    if (prune !== null) {
      left = pruneLog(writer, prune);
      if (prune.nowMs !== null) pruneReplays(writer, prune.nowMs);
    }
    writer.internalRun("COMMIT");
  } finally {
    if (writer.database.isTransaction) writer.internalRun("ROLLBACK");
    writer.database.exec("PRAGMA synchronous=FULL");
  }
  return left;
}

function runInternal(
  file: TenantFile,
  statements: readonly (readonly [string, readonly SqlParameter[]])[],
): void {
  const writer = file.writer();
  writer.internalRun("BEGIN IMMEDIATE");
  try {
    for (const [sql, params] of statements) {
      writer.run("internal", sql, params, { maxRows: 0, maxBytes: 0 }, PLAIN_ROWS);
    }
    commitToDisk(writer);
  } finally {
    if (writer.database.isTransaction) writer.internalRun("ROLLBACK");
  }
}

function hasLog(file: TenantFile, id: string): boolean {
  return file.briefReader().internalRow("SELECT 1 FROM _service_meta_query_log WHERE id = ?", id) !==
    undefined;
}
