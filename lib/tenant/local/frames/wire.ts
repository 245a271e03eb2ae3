// Translates between the store's calls and outcomes and the frames of an engine child.
import type { Clock } from "../../../core/clock.ts";
import { newId } from "../../../core/ids.ts";
import type { ParamSets } from "../../../sql/words/param_sets.ts";
import { type RowTexts, statementResult, textOf } from "./row_texts.ts";
import { snapshotName } from "../files/snapshot_files.ts";
import type { FailedOutcome } from "../../what_stays.ts";
import type {
  LogIdentity,
  ReplayFound,
  StatementResult,
  TenantCall,
  TenantOutcome,
} from "../../tenant_store.ts";
import type { TenantStatement } from "../../tenant_statement.ts";
import type { WireLogTable, WireRecord } from "../child/protocol.ts";
import {
  type SentCall,
  type SentStatement,
  type WireOutcome,
  type WireReplayed,
  type WireStatementMore,
} from "../child/wire_call.ts";
import { logColumns, type LogValues, noFigures } from "../../log_columns.ts";

/** A call in the form of a frame. `statementMs`: how long a statement may run. */
export function wireCall(call: TenantCall, clock: Clock, statementMs = Infinity): SentCall {
  const wire = {
    statements: call.statements.map(wireStatement),
    level: call.level,
    atomic: call.atomic,
    schemaVersion: call.schemaVersion,
    maxRows: call.bounds.rows,
    maxBytes: call.bounds.bytes,
    rowForm: call.rowForm,
    foreignKeysOff: call.foreignKeysOff,
  };
  // Spreading objects, even empty ones, would be a noticeable part of a point read.
  if (call.level === "read" && !hasRareParts(call)) {
    return call.schema === undefined ? wire : { ...wire, schema: call.schema };
  }
  return {
    ...wire,
    ...(call.level === "read" ? null : writeParts(call, clock)),
    ...(call.failsWith === null ? null : { failsWith: call.failsWith }),
    ...(call.dryRun ? { dryRun: true } : null),
    ...(call.affected === null ? null : { affected: call.affected }),
    ...(call.footprint ? { footprint: call.footprint } : null),
    ...(call.migration ? { migration: call.migration } : null),
    ...(call.paramSets ? setsParts(call, call.paramSets, statementMs) : null),
  };
}

function hasRareParts({ failsWith, dryRun, affected, footprint, migration, paramSets }: TenantCall): boolean {
  const rare = dryRun || footprint || migration || paramSets;
  return Boolean(rare) || failsWith !== null || affected !== null;
}

/** The statements of a batch mostly have one text, which travels once. */
function wireStatement(
  statement: TenantStatement,
  at: number,
  all: readonly TenantStatement[],
): SentStatement {
  const { sql, params, level, replacing, schemaRows, takes, returns, after } = statement;
  if (replacing || schemaRows || takes || returns || after) return [sql, params, level, moreOf(statement)];
  const before = all[at - 1];
  return before?.sql === sql && before.level === level ? params : [sql, params, level];
}

function moreOf({ sql: _sql, params: _params, level: _level, ...more }: TenantStatement): WireStatementMore {
  return more;
}

function setsParts(
  { rowidOf, timeoutMs }: TenantCall,
  paramSets: ParamSets,
  statementMs: number,
): Partial<SentCall> {
  const ms = Math.min(statementMs, timeoutMs ?? Infinity);
  return { paramSets, rowidOf: rowidOf ?? null, ...(ms === Infinity ? null : { setsMs: ms }) };
}

function writeParts(call: TenantCall, clock: Clock): Partial<SentCall> {
  return {
    ...(call.dryRun || call.log === null ? null : { log: logColumns(call.log, noFigures) }),
    ...(call.snapshot === null ? null : { snapshot: snapshotName(clock.now(), call.snapshot) }),
    ...(call.replay === null ? null : { replay: call.replay }),
    ...(call.auditTables === null ? null : {
      auditId: newId("evt", clock.now()),
      auditTables: JSON.stringify(call.auditTables),
      changeKinds: call.changeKinds ?? 0,
      ...(call.changeSteps === undefined ? null : { changeSteps: call.changeSteps }),
    }),
  };
}

/** The record of a restore; null where it leaves none. */
export function wireRecord(log: LogIdentity | undefined, clock: Clock, rowsWritten = 0): WireRecord | null {
  if (log === undefined) return null;
  return { log: logColumns(log, noFigures), rowsWritten, auditId: newId("evt", clock.now()) };
}

/** Cuts one outcome's texts out of those of a frame, from `start`; `end` is where the next one's begin. */
export function readOutcome(
  outcome: WireOutcome,
  texts: RowTexts,
  start: number,
): { outcome: TenantOutcome; end: number } {
  if (outcome.k === "stale") {
    const { v: schemaVersion, schema } = outcome;
    return { outcome: { ok: "stale", schemaVersion, schema }, end: start };
  }
  if (outcome.k === "replayed" || outcome.k === "mismatch") {
    const end = start + textLength(outcome);
    return { outcome: replayFound(outcome, textOf(texts, start, end)), end };
  }
  let end = start;
  const effects = outcome.e;
  const results: StatementResult[] = [];
  for (const [length, rowsRead, rowsWritten, statements = 1] of outcome.r) {
    const effect = effects?.[results.length];
    const result = statementResult(texts, [end, end += length], { rowsRead, rowsWritten, effect });
    for (let times = 0; times < statements; times++) results.push(result);
  }
  const told = outcome.p ? { footprint: outcome.p } : {};
  const figures = { ...told, results, durationMs: outcome.ms, rowsReadBasis: "plan" } as const;
  const before = outcome.k === "failed" && effects ? { effects } : {};
  if (outcome.k === "ok") {
    const { rowsRemoved, v: schemaVersion } = outcome;
    const more = {
      ...(rowsRemoved ? { rowsRemoved } : {}),
      ...(schemaVersion === undefined ? {} : { schemaVersion }),
    };
    return { outcome: { ok: true, ...figures, ...more }, end };
  }
  return {
    outcome: {
      ok: false,
      ...figures,
      ...before,
      failedIndex: outcome.at,
      // The system does not let this process write the file, which is not the statement's fault.
      failure: outcome.f.kind === "readonly" ? { ...outcome.f, kind: "full" } : outcome.f,
      work: { rowsRead: outcome.w[0], rowsWritten: outcome.w[1] },
    },
    end,
  };
}

/** Counts the characters of the frame's text that belong to an outcome. */
export function textLength(outcome: WireOutcome): number {
  if (outcome.k === "replayed") return outcome.length;
  if (outcome.k === "stale" || outcome.k === "mismatch") return 0;
  return outcome.r.reduce((sum, [length]) => sum + length, 0);
}

/** Converts a replay that a child has found to the store's form. */
export function replayFound(found: WireReplayed, text: string): ReplayFound {
  return found.k === "mismatch"
    ? { ok: "replay_mismatch" }
    : { ok: "replayed", answer: text, matched: found.matched };
}

/** The outcome of a call that the engine did not finish: the statement `at` ran until its process ended. */
export function unfinished(
  kind: "timeout" | "result_too_large" | "too_big",
  at: number,
  durationMs: number,
): FailedOutcome {
  const message = kind === "timeout"
    ? "ran longer than the time limit"
    : "used more memory or temporary files than it may";
  return {
    ok: false,
    results: [],
    failedIndex: at,
    failure: { kind, message, table: null, columns: [] },
    work: { rowsRead: 0, rowsWritten: 0 },
    durationMs,
    rowsReadBasis: "plan",
  };
}

/** Packs rows by column, one table for each kind of row, so that a value that all rows share travels once. */
export function packLogRows(rows: readonly LogValues[]): WireLogTable[] {
  const byWidth = new Map<number, LogValues[]>();
  for (const row of rows) {
    const alike = byWidth.get(row.length);
    if (alike) alike.push(row);
    else byWidth.set(row.length, [row]);
  }
  return Array.from(byWidth.values(), packTable);
}

function packTable(rows: readonly LogValues[]): WireLogTable {
  const [first = []] = rows;
  const columns = first.map((value, at) =>
    rows.every((row) => row[at] === value) ? value : rows.map((row) => row[at] ?? null)
  );
  return { rows: rows.length, columns };
}
