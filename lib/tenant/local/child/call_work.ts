// Answers what the work on a call (a dry run, the careful way) asks of its database: each step runs at once, on the
// connection that writes.
import { bindable, type EngineValue } from "../../../sql/words/sql_value.ts";
import { arrayRows, arrayStatement } from "../../../engine/array_rows.ts";
import type { Connection, RunResult } from "../../../engine/connection.ts";
import { compileStatement } from "../../../engine/compile_statement.ts";
import { type EngineFailure, plainFailure, runFailure } from "../../../engine/engine_failure.ts";
import { exactStatement, markedExact } from "../../../engine/exact_rows.ts";
import { type ResultBounds, ResultTooLarge } from "../../../engine/result_json.ts";
import { TYPED_ROWS } from "../../../sql/words/row_form.ts";
import { VIRTUAL_TABLE } from "../../calls/sets_result.ts";
import { unlessUsedUp } from "../../calls/used_up.ts";
import {
  type Answer,
  type Ask,
  type CallerStep,
  noStepFigures,
  type OwnStep,
  type SetsAsk,
} from "../../calls/work.ts";
import { runSets } from "./run_sets.ts";
import { behindSavepoint, unguarded } from "./savepoints.ts";
import { BREAKABLE, DeferredReferences, DEFERS } from "../../calls/deferred_references.ts";
import type { WireCall } from "./wire_call.ts";
import type { TenantCall } from "../../tenant_store.ts";
import type { TenantStatement } from "../../tenant_statement.ts";
import { runWork } from "../../../core/run_work.ts";

/**
 * Runs the steps of one ask in order. `begins` is called before each run of a statement of the
 * caller. `setsMs`: how long its parameter sets may run.
 */
export function answerAsk(
  connection: Connection,
  { before = [], savepoint, steps }: Ask,
  begins: () => void,
  setsMs = Infinity,
): readonly Answer[] {
  for (const sql of before) connection.internalRun(sql);
  if (savepoint !== undefined) connection.internalRun(`SAVEPOINT ${savepoint}`);
  return steps.map((step) => {
    if (!("statement" in step)) return answerOwn(connection, step);
    if (step.sets) return answerSets(connection, step, step.sets, { begins, setsMs });
    begins();
    return answerCaller(connection, step);
  });
}

function answerOwn(connection: Connection, step: OwnStep): Answer {
  try {
    return { ok: true, rows: rowsOf(connection, step), json: "", figures: noStepFigures };
  } catch (error) {
    const failure = runFailure(error, connection.guard.denial, step.sql);
    return { ok: false, failure, figures: noStepFigures };
  }
}

function rowsOf(connection: Connection, { sql, params = [], level, most }: OwnStep): EngineValue[][] {
  if (level !== undefined) return connection.firstRows(level, sql, params, most ?? Infinity);
  const statement = arrayStatement(connection.database, sql, { big: true });
  return arrayRows(statement.all(...bindable(params)));
}

function answerCaller(connection: Connection, step: CallerStep): Answer {
  const { statement, bounds, rowForm } = step;
  const { sql, params, level } = statement;
  try {
    connection.plan(level, sql);
    const before = totalChanges(connection);
    const within = { maxRows: bounds.rows, maxBytes: bounds.bytes };
    const { json, rowCount } = statement.returns
      ? runExactly(connection, { ...statement, returns: statement.returns }, within)
      : connection.run(level, sql, params, within, rowForm);
    const changes = totalChanges(connection) - before;
    const ownRows = Number(connection.internalRow("SELECT changes()")?.[0] ?? 0);
    const rowsRead = connection.rowsRead(sql, rowCount, changes);
    return { ok: true, rows: [], json, figures: { rowsRead, ms: null, changes, ownRows } };
  } catch (error) {
    return { ok: false, failure: failureOf(error, connection, sql), figures: noStepFigures };
  }
}

/** Runs a statement whose rows are for later ones, so that texts come as they are stored. */
function runExactly(
  connection: Connection,
  { sql, params, level, returns }: TenantStatement & Required<Pick<TenantStatement, "returns">>,
  bounds: ResultBounds,
): RunResult {
  const names = connection.database.prepare(sql).columns().map(({ name }) => name);
  const exact = exactStatement(sql, returns, names);
  const { json, rowCount } = connection.run(level, exact, params, bounds, TYPED_ROWS);
  return { json: markedExact(json), rowCount };
}

function answerSets(
  connection: Connection,
  { statement: { sql, level }, bounds, rowForm }: CallerStep,
  { paramSets, rowidOf, atomic }: SetsAsk,
  { begins, setsMs }: { readonly begins: () => void; readonly setsMs: number },
): Answer {
  const plain = level === "read" || (atomic && !hasVirtualTables(connection));
  const { part, rowsRead, changes, ownRows, failure } = runSets({
    connection,
    guard: plain ? unguarded : (work) => behindSavepoint(connection, work),
    begins,
    failureOf: (error) => failureOf(error, connection, sql),
  }, {
    sql,
    level,
    paramSets,
    rowForm,
    rowidOf,
    setsMs,
    bounds: { maxRows: bounds.rows, maxBytes: bounds.bytes },
  });
  const figures = { rowsRead, ms: null, changes, ownRows };
  return { ok: true, rows: [], json: "", figures, sets: { part, failure } };
}

/** Rows that the connection has changed since it was opened. */
function totalChanges(connection: Connection): number {
  return Number(connection.internalRow("SELECT total_changes()")?.[0] ?? 0);
}

/** Sorts the failure of a caller's statement that has just failed on the connection. */
export function failureOf(error: unknown, connection: Connection, sql: string): EngineFailure {
  if (error instanceof ResultTooLarge) return plainFailure("result_too_large", error.message);
  const actions = () => {
    const compiled = compileStatement(connection, { sql, changesSchema: false }, null);
    return compiled.ok ? compiled.facts.actions : [];
  };
  const failure = runFailure(error, connection.guard.denial, sql);
  return runWork(unlessUsedUp(failure, actions), (ask) => answerAsk(connection, ask, () => {}));
}

/** Whether a table has a foreign key that the engine checks at a commit only. */
export function defersReferences(connection: Connection): boolean {
  return connection.internalRow(`SELECT 1 FROM sqlite_schema WHERE ${DEFERS} LIMIT 1`) !== undefined;
}

/** Whether the tenant has a virtual table. */
export function hasVirtualTables(connection: Connection): boolean {
  return connection.internalRow(VIRTUAL_TABLE) !== undefined;
}

/** Makes the count of references that the call breaks and the engine checks at the commit; null where it can break none. */
export function watchDeferred(
  connection: Connection,
  { level, foreignKeysOff, auditTables }: Pick<WireCall, "level" | "foreignKeysOff" | "auditTables">,
): DeferredReferences | null {
  if (foreignKeysOff) return null;
  const written = auditTables ?? "[]";
  // A schema change may make such a reference.
  const mayBreak = level === "schema" || connection.internalRow(BREAKABLE, written) !== undefined;
  return mayBreak ? new DeferredReferences({ level, written }) : null;
}

/** The parts of a call that the decisions common to all stores need. */
export type StoreCall = Pick<
  TenantCall,
  "level" | "statements" | "paramSets" | "rowidOf" | "atomic" | "bounds" | "rowForm" | "affected"
>;

/** Reads those parts from a call in a frame. */
export function storeCall(call: WireCall): StoreCall {
  const { level, atomic, maxRows, maxBytes, rowForm, affected = null, paramSets = null, rowidOf = null } =
    call;
  return {
    statements: call.statements.map(([sql, params, level, more]) => ({ sql, params, level, ...more })),
    level,
    paramSets,
    rowidOf,
    atomic,
    bounds: { rows: maxRows, bytes: maxBytes },
    rowForm,
    affected,
  };
}
