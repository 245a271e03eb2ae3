// Making a database what a snapshot says, and copies of databases. The service has closed it in every other child.
import { systemClock } from "../../../core/clock.ts";
import { isReservedName, ownTablesQuery } from "../../../sql/service_tables.ts";
import { Connection, type EngineValue } from "./connection.ts";
import { copyDatabase, exists, removeDatabase, replaceDatabase, snapshotFolder } from "./file_copy.ts";
import { insertAuditRow, insertCallRow } from "./log_rows.ts";
import type { Request } from "./protocol.ts";
import type { TenantFile } from "./tenant_file.ts";
import type { WireRecord } from "./wire_log.ts";

/** Tables whose rows are about what happened, which a restore does not undo. Their ids sort by time. */
const CHRONICLES = ["_service_meta_query_log", "_service_meta_audit", "_service_meta_endpoint_call"] as const;
/** Rows carried over at once. */
const CARRIED_AT_ONCE = 2000;

type Restore = Omit<Extract<Request, { op: "restore" }>, "op" | "db">;
type Copy = Pick<Extract<Request, { op: "copy" }>, "snapshot" | "record"> & { readonly path: string };

/** False when the snapshot is not there. The state before becomes the snapshot `undo`. */
export function restoreSnapshot(file: TenantFile, { snapshot, undo, nowMs, record }: Restore): boolean {
  const startedMs = systemClock.monotonicMs();
  const source = `${snapshotFolder(file.path)}/${snapshot}.db`;
  if (!exists(source)) return false;
  file.snapshot(undo);
  const staged = `${file.path}.restoring`;
  removeDatabase(staged);
  copyDatabase(source, staged);
  const target = new Connection(staged, false);
  try {
    carryChronicles(file.reader(), target);
    carryReplays(file.reader(), target, nowMs);
    // In the staged file, so that it is there exactly when the restore is.
    if (record) keepRecord(target, record, { tablesOf: [file.reader(), target], startedMs });
    raiseVersion(target, file.readerVersion());
    target.internalRow("PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    target.close();
  }
  // With its log folded in, the old file is whole at every moment until the new one takes its name.
  file.writer().internalRow("PRAGMA wal_checkpoint(TRUNCATE)");
  file.close();
  replaceDatabase(staged, file.path);
  removeDatabase(staged);
  return true;
}

/** False when the snapshot is not there. What is told of the source's past does not belong to the copy. */
export function copyTo(file: TenantFile, { snapshot, path, record }: Copy): boolean {
  const startedMs = systemClock.monotonicMs();
  file.writer();
  const source = snapshot === null ? file.path : `${snapshotFolder(file.path)}/${snapshot}.db`;
  if (!exists(source)) return false;
  removeDatabase(path);
  copyDatabase(source, path);
  const target = new Connection(path, false);
  try {
    target.internalRun("BEGIN IMMEDIATE");
    for (const table of [...CHRONICLES, "_service_meta_replay"]) target.internalRun(`DELETE FROM ${table}`);
    target.internalRun("COMMIT");
    if (record) keepRecord(target, record, { tablesOf: [target], startedMs });
    target.internalRow("PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    target.close();
  }
  return true;
}

/** All data of the tables changes at once, those of before and of now; no rows are counted. */
function keepRecord(
  target: Connection,
  { log, auditId }: WireRecord,
  about: { readonly tablesOf: readonly Connection[]; readonly startedMs: number },
): void {
  const names = about.tablesOf.flatMap((one) =>
    one.internalRows(ownTablesQuery).map(([name]) => String(name))
  );
  const tables = [...new Set(names)].filter((name) => !isReservedName(name)).sort();
  const ms = Math.round((systemClock.monotonicMs() - about.startedMs) * 1000) / 1000;
  target.internalRun("BEGIN IMMEDIATE");
  insertCallRow(target, log, { errorKind: null, rowsRead: 0, rowsWritten: 0, ms });
  insertAuditRow(target, auditId, JSON.stringify(tables), log, 0);
  target.internalRun("COMMIT");
}

function carryChronicles(from: Connection, to: Connection): void {
  for (const table of CHRONICLES) {
    for (;;) {
      const last = to.internalRow(`SELECT max(id) FROM ${table}`)?.[0] ?? "";
      const rows = from.internalRows(
        `SELECT * FROM ${table} WHERE id > ? ORDER BY id LIMIT ?`,
        String(last),
        CARRIED_AT_ONCE,
      );
      if (rows.length === 0) break;
      insertRows(to, table, rows);
    }
  }
}

/** Calls that have been answered stay answered: their repetition must not run again. */
function carryReplays(from: Connection, to: Connection, nowMs: number): void {
  // What the snapshot knows of them and is still good, the present knows as well.
  to.internalRun("DELETE FROM _service_meta_replay");
  const ids = from.internalRows(
    "SELECT id FROM _service_meta_replay WHERE expires_at > ? ORDER BY id",
    nowMs,
  );
  for (const [id] of ids) {
    insertRows(
      to,
      "_service_meta_replay",
      from.internalRows("SELECT * FROM _service_meta_replay WHERE id = ?", Number(id)),
    );
  }
}

function insertRows(to: Connection, table: string, rows: readonly EngineValue[][]): void {
  to.internalRun("BEGIN IMMEDIATE");
  for (const row of rows) {
    to.internalRun(
      `INSERT OR REPLACE INTO ${table} VALUES (${row.map(() => "?").join(",")})`,
      ...row.map((value) => value instanceof Uint8Array ? null : value),
    );
  }
  to.internalRun("COMMIT");
}

/** A schema version never means two schemas: what was learned at the old one's numbers must not fit again. */
function raiseVersion(target: Connection, above: number): void {
  target.database.enableDefensive(false);
  const own = Number(target.internalRow("PRAGMA schema_version")?.[0] ?? 0);
  target.database.exec(`PRAGMA schema_version=${Math.max(own, above) + 1}`);
}
