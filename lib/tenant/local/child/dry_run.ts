// What a call would do: it runs in a transaction that is always undone.
import { systemClock } from "../../../core/clock.ts";
import type { Connection, RunResult } from "../../../engine/connection.ts";
import { countSchemaRows } from "../../../engine/count_schema_rows.ts";
import { countReplaced } from "../../../engine/count_replaced.ts";
import { BrokenReference, watchDeferred } from "./deferred_references.ts";
import { FootprintRun } from "./footprint_run.ts";
import type { Progress } from "./progress.ts";
import type { JsonValue, RowPreview, StatementEffect } from "../../../engine/statement_effect.ts";
import type { EngineFailure } from "../../../engine/engine_failure.ts";
import type { WireCall, WireOutcome, WireResult, WireStatement } from "./protocol.ts";
import { failureOf } from "./run_call.ts";
import { jsonRows, rowPreview } from "../../../engine/row_preview.ts";
import type { TenantFile } from "./tenant_file.ts";

/** Above so many affected rows none is shown: their keys would have to be held in memory. */
const MAX_PREVIEWED = 500_000;

/**
 * The outcome of running the call's statements one after the other, and nothing of it stays. The bound in time is one
 * for all of them: they hold the write slot together. Deferred references, which are judged at a commit that a dry run
 * never reaches, fail the statement that breaks them; in an atomic call the last one to do so, if they stay broken.
 * `callIndex` is its place in the frame.
 */
export function dryRun(
  file: TenantFile,
  call: WireCall,
  progress: Progress,
  callIndex = 0,
): { readonly outcome: WireOutcome; readonly text: string } {
  const connection = file.writer();
  const startedMs = systemClock.monotonicMs();
  progress.startStatement(callIndex, 0);
  if (call.foreignKeysOff) connection.database.exec("PRAGMA foreign_keys=OFF");
  try {
    connection.internalRun("BEGIN IMMEDIATE");
    const version = file.writerVersion();
    if (call.schemaVersion !== version) return { outcome: { k: "stale", v: version }, text: "" };
    return undoneRun(connection, call, startedMs);
  } finally {
    if (connection.database.isTransaction) connection.internalRun("ROLLBACK");
    if (call.foreignKeysOff) connection.database.exec("PRAGMA foreign_keys=ON");
    // Statements that were compiled for a schema which is gone again are void.
    if (call.level === "schema") connection.schemaChanged();
  }
}

function undoneRun(connection: Connection, call: WireCall, startedMs: number) {
  const watch = call.footprint ? new FootprintRun(connection, call.footprint) : null;
  try {
    return watchedRun(connection, call, { startedMs, watch });
  } finally {
    watch?.close();
  }
}

function watchedRun(
  connection: Connection,
  call: WireCall,
  { startedMs, watch }: { readonly startedMs: number; readonly watch: FootprintRun | null },
) {
  const results: WireResult[] = [];
  const effects: StatementEffect[] = [];
  let text = "";
  let footprint = watch?.footprint() ?? null;
  const failed = (at: number, f: EngineFailure) => {
    const ms = systemClock.monotonicMs() - startedMs;
    const read = results.reduce((sum, [, rowsRead]) => sum + rowsRead, 0);
    const e = effects.slice(0, at);
    const p = footprint === null ? {} : { p: footprint };
    return { outcome: { k: "failed", r: [], at, f, ms, w: [read, 0], e, ...p } as const, text: "" };
  };
  const deferred = watchDeferred(connection, call);
  let raisedAt = 0;
  const last = call.statements.length - 1;
  for (const [index, statement] of call.statements.entries()) {
    try {
      watch?.begin(statement[2], statement[3]?.schemaRows?.rows ?? null);
      connection.internalRun("SAVEPOINT effect");
      const { json, read, effect } = effectOf(connection, call, statement);
      watch?.end();
      results.push([json.length, read, 0]);
      text += json;
      if ((effect.ownRows !== 0 || effect.cascadedRows > 0) && deferred?.raised()) {
        if (!call.atomic) throw new BrokenReference();
        raisedAt = index;
      }
      if (index === last && deferred?.broken) {
        return failed(raisedAt, failureOf(new BrokenReference(), connection, statement[0]));
      }
      footprint = watch?.footprint() ?? null;
      effects.push({ ...effect, preview: previewBehind(connection, call, statement, effect.ownRows) });
      // What follows in a batch is to see it.
      if (index < last && isUndone(effect.ownRows)) run(connection, call, statement);
      connection.internalRun("RELEASE effect");
    } catch (error) {
      return failed(index, failureOf(error, connection, statement[0]));
    }
  }
  const ms = Math.round((systemClock.monotonicMs() - startedMs) * 1000) / 1000;
  const p = footprint === null ? {} : { p: footprint };
  return { outcome: { k: "ok", r: results, ms, e: effects, ...p } as const, text };
}

/** Whether rows are shown of so many; then the statement is undone for it. */
function isUndone(ownRows: number | null): ownRows is number {
  return ownRows !== null && ownRows > 0 && ownRows <= MAX_PREVIEWED;
}

function previewBehind(
  connection: Connection,
  call: WireCall,
  statement: WireStatement,
  ownRows: number | null,
): RowPreview | null {
  if (!isUndone(ownRows)) return null;
  connection.internalRun("ROLLBACK TO effect");
  return rowPreview(connection, call.integersAsStrings, statement, ownRows);
}

function run(connection: Connection, call: WireCall, [sql, params, level]: WireStatement): RunResult {
  return connection.run(level, sql, params, call, call.integersAsStrings);
}

/** Runs the statement, which is left as it is, and counts. */
function effectOf(connection: Connection, call: WireCall, statement: WireStatement) {
  const [sql, , level, more] = statement;
  const schemaChange = level === "schema";
  const plan = schemaChange ? [] : planRows(connection, sql);
  const replaced = countReplaced(connection, more?.replacing);
  const counted = countSchemaRows(connection, more?.schemaRows);
  const before = totalChanges(connection);
  const { json, rowCount } = run(connection, call, statement);
  const all = totalChanges(connection) - before;
  const ownRows = schemaChange
    ? null
    : all === 0
    ? 0
    : Number(connection.internalRow("SELECT changes()")?.[0] ?? 0);
  const { written, removed } = counted(all);
  const read = connection.rowsRead(sql, rowCount, all);
  const cascadedRows = all - (ownRows ?? 0) + replaced(all) + written + removed;
  return { json, read, effect: { ownRows, cascadedRows, plan } };
}

function planRows(connection: Connection, sql: string): JsonValue[][] {
  try {
    return jsonRows(connection, `EXPLAIN QUERY PLAN ${sql}`, false);
  } catch {
    return [];
  }
}

function totalChanges(connection: Connection): number {
  return Number(connection.internalRow("SELECT total_changes()")?.[0] ?? 0);
}
