// Restores a database to a snapshot, and copies databases. The service has closed the database in every other child.
import { damagedBeside, snapshotsBeside } from "../../folders_beside.ts";
import { roundMs, systemClock } from "../../../core/clock.ts";
import { CHRONICLES } from "../../../sql/service/chronicles.ts";
import type { ChangePlace } from "../../../sql/service/change_rows.ts";
import { isReservedName, ownTablesQuery } from "../../../sql/words/service_tables.ts";
import { type Restored as StoreRestored, setAsideText } from "../../damage.ts";
import { Connection } from "../../../engine/connection.ts";
import { isDamage } from "../../../engine/engine_failure.ts";
import { carryChronicles, carryReplays } from "./carry_over.ts";
import { copyDatabase, exists, moveDatabase, removeDatabase, replaceDatabase } from "./file_copy.ts";
import { digestOf, effectOn, openWhole, stagedPath, stageSnapshot } from "./staged_snapshot.ts";
import { insertAuditRow, insertCallRow } from "./log_rows.ts";
import type { Reply, Request, RestoreRequest } from "./protocol.ts";
import { storeReplay } from "./replay.ts";
import { placeIn, restart } from "./restart_changes.ts";
import { salvageReplays, salvageRows } from "./salvage.ts";
import type { TenantFile } from "./tenant_file.ts";
import { upgradeTables } from "./upgrade_tables.ts";
import { takeSnapshot } from "./own_snapshots.ts";

/** Index of the text in a log row. */
const LOG_TEXT = 13;

type Restore = Omit<RestoreRequest, "op" | "db">;
type Copy = Pick<Extract<Request, { op: "copy" }>, "snapshot" | "early"> & { readonly path: string };
type BeginHistory = Omit<Extract<Request, { op: "begin_history" }>, "op" | "db">;
type Restored = Extract<Reply, { t: "restored" | "missing" | "damaged" | "changed" }>;
type Copied = Extract<Reply, { t: "done" | "missing" | "damaged" }>;

/** Facts about the previous state: its tables, and a version that the new schema version must exceed. */
interface Before {
  readonly tables: readonly string[];
  readonly version: number;
  /** Null: there was no change yet. */
  readonly change: ChangePlace | null;
}

/**
 * Restores a snapshot, for which only the snapshot has to be readable. The previous state becomes the snapshot `undo`. A
 * file that cannot be read is set aside instead, and what can be read of its log, audit trail and stored answers is
 * carried over.
 */
export function restoreSnapshot(file: TenantFile, restore: Restore): Restored {
  const startedMs = systemClock.monotonicMs();
  const target = stageSnapshot(file, restore.snapshot);
  if (!(target instanceof Connection)) return target;
  try {
    return restoreStaged(file, target, { ...restore, startedMs });
  } finally {
    // After the restore the staged copy has the file's name.
    removeDatabase(stagedPath(file));
  }
}

/** Closes `target`. */
function restoreStaged(
  file: TenantFile,
  target: Connection,
  { startedMs, ...restore }: Restore & { readonly startedMs: number },
): Restored {
  let setAside: string | null = null;
  let undo = false;
  try {
    if (restore.expects !== null && digestOf(effectOn(file, target, restore)) !== restore.expects) {
      return { t: "changed" };
    }
    upgradeTables(target);
    const before = restore.suspect ? null : carryOver(file, target, restore.nowMs);
    if (before === null) {
      salvage(file, target, restore.nowMs);
      setAside = exists(file.path) || exists(`${file.path}-wal`) ? restore.aside : null;
    } else {
      takeSnapshot(file, restore.undo);
      undo = true;
    }
    const tables = [...before?.tables ?? [], ...tablesOf(target)];
    restart(target, { former: before?.change ?? placeIn(target), tables, nowMs: restore.nowMs });
    // The records are written into the staged file, so that they exist exactly when the restore is done.
    writeRecord(target, restore, { tables: before?.tables ?? [], startedMs, restored: { undo, setAside } });
    raiseVersion(target, before?.version ?? null);
    target.internalRow("PRAGMA wal_checkpoint(TRUNCATE)");
    // The old file's log is folded in, so that the old file is complete until the new one takes its name.
    if (before !== null) file.writer().internalRow("PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    target.close();
  }
  file.close();
  if (setAside !== null) moveDatabase(file.path, `${damagedBeside(file.path)}/${setAside}.db`);
  replaceDatabase(stagedPath(file), file.path);
  return { t: "restored", setAside, undo };
}

/** Null when the file turns out to be damaged. */
function carryOver(file: TenantFile, target: Connection, nowMs: number): Before | null {
  try {
    const reader = file.reader();
    carryChronicles(reader, target);
    carryReplays(reader, target, nowMs);
    // An open writing connection prevents others from folding the log.
    file.writer();
    return { tables: tablesOf(reader), version: file.readerVersion(), change: placeIn(reader) };
  } catch (error) {
    if (!isDamage(error)) throw error;
    return null;
  }
}

/** No failure of the damaged file may prevent the restore. */
function salvage(file: TenantFile, target: Connection, nowMs: number): void {
  let reader: Connection;
  try {
    reader = file.reader();
  } catch (error) {
    if (!isDamage(error)) throw error;
    return;
  }
  for (const table of CHRONICLES) salvageRows(reader, target, table);
  salvageReplays(reader, target, nowMs);
}

/** Copies the files of a database or a snapshot. Copying a snapshot needs only the snapshot's file. */
export function copyTo(
  file: TenantFile,
  { snapshot, path, early }: Copy,
): Extract<Copied, { t: "done" | "missing" }> {
  if (snapshot === null) file.writer();
  const source = snapshot === null ? file.path : `${snapshotsBeside(file.path)}/${snapshot}.db`;
  if (!exists(source)) return { t: "missing" };
  removeDatabase(path);
  copyDatabase(source, path, early);
  return { t: "done" };
}

/** Removes the history of the database from which the files at `path` were copied. */
export function beginHistory(path: string, { record, ms, check }: BeginHistory): Copied {
  const startedMs = systemClock.monotonicMs() - ms;
  const target = check ? openWhole(path) : new Connection(path);
  if (target === null) return { t: "damaged" };
  try {
    upgradeTables(target);
    target.internalRun("BEGIN IMMEDIATE");
    for (const table of [...CHRONICLES, "_service_meta_replay", "_service_meta_change"]) {
      target.internalRun(`DELETE FROM ${table}`);
    }
    target.internalRun("COMMIT");
    writeRecord(target, { record, replay: null }, { tables: [], startedMs, restored: null });
    target.internalRow("PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    target.close();
  }
  return { t: "done" };
}

/**
 * Writes the log and audit rows, and the stored answer. All tables of the old and the new state count as changed; no rows
 * are counted but those of an imported file.
 */
function writeRecord(
  target: Connection,
  { record, replay }: Pick<Restore, "record" | "replay">,
  { tables: before, startedMs, restored }: {
    readonly tables: readonly string[];
    readonly startedMs: number;
    /** Null: nothing was restored. */
    readonly restored: StoreRestored | null;
  },
): void {
  if (record === null) return;
  const tables = [...new Set([...before, ...tablesOf(target)])];
  const ms = roundMs(systemClock.monotonicMs() - startedMs);
  const { rowsWritten = 0 } = record;
  const log = [...record.log];
  if (restored?.setAside) log[LOG_TEXT] += setAsideText(restored.setAside);
  target.internalRun("BEGIN IMMEDIATE");
  insertCallRow(target, log, { errorKind: null, rowsRead: 0, rowsWritten, ms });
  insertAuditRow(target, record.auditId, JSON.stringify(tables.sort()), log, rowsWritten);
  if (replay !== null) {
    const text = JSON.stringify(restored);
    storeReplay(target, replay, {
      results: [[text.length, 0, 0]],
      text,
      durationMs: ms,
      rowsReadBasis: "plan",
    });
  }
  target.internalRun("COMMIT");
}

function tablesOf(connection: Connection): string[] {
  const names = connection.internalRows(ownTablesQuery).map(([name]) => String(name));
  return names.filter((name) => !isReservedName(name));
}

/**
 * Sets a schema version that the database has never had, so that facts cached for an old version never match again. Where
 * the old version cannot be read, a random one that was most likely never used is drawn.
 */
function raiseVersion(target: Connection, above: number | null): void {
  target.database.enableDefensive(false);
  const own = Number(target.internalRow("PRAGMA schema_version")?.[0] ?? 0);
  const next = above === null ? FIRST_DRAWN + Math.floor(Math.random() * DRAWN) : Math.max(own, above) + 1;
  target.database.exec(`PRAGMA schema_version=${next}`);
}

/** A version above any that counting reaches, and below the engine's 31 bits with room for further counting. */
const FIRST_DRAWN = 2 ** 24;
const DRAWN = 2 ** 30;
