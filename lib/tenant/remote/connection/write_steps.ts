// The first of a write group's two requests: opens the transaction, checks that the schema is the expected one,
// finds stored answers, and runs each call behind a savepoint of its own. Nothing of it stays unless the second one commits.
import {
  all,
  type HranaStep,
  type HranaValue,
  ifError,
  ifOk,
  inTransaction,
  not,
  outsideTransaction,
  type StepError,
  type StepResult,
} from "../hrana/hrana.ts";
import type { ReplayKeys } from "../../stored_answer.ts";
import type { TenantCall } from "../../tenant_store.ts";
import type { CallGate } from "../gate/gate_compiler.ts";
import type { SchemaGate } from "../gate/schema_gate.ts";
import { hranaValue } from "../hrana/remote_values.ts";
import { textBefore, textBehind } from "../../calls/counted_rows.ts";
import { findStep, freeStep } from "./replay_statements.ts";
import { StepList } from "../hrana/step_list.ts";

export interface GatedCall {
  readonly call: TenantCall;
  readonly gate: CallGate;
}

/** Where the answers to one call stand. */
export interface CallSteps {
  readonly replay: number | null;
  readonly statements: readonly {
    readonly run: number;
    readonly total: number;
    /** Counts of rows that are no changes to the engine; null where nothing is counted. */
    readonly counts: readonly [before: number | null, behind: number | null];
    /** The count of changes before it; null: the count after the statement before. */
    readonly base: number | null;
    /** The count of changes after the service's own statements behind it; null where there are none. */
    readonly then: number | null;
  }[];
}

export interface GroupSteps {
  readonly steps: readonly HranaStep[];
  readonly begin: number;
  readonly guard: number;
  /** Answers with the schema version where the guard failed. */
  readonly version: number;
  /** Ran only where one of the calls has ended the transaction. */
  readonly lost: number;
  readonly calls: readonly CallSteps[];
}

/** Fails (an integer overflow) unless the schema has that version; answers with the count of changes so far. */
export function versionGuard(engineVersion: number): readonly [sql: string, args: readonly HranaValue[]] {
  return [
    "SELECT total_changes(), CASE WHEN schema_version <> ? THEN abs(-9223372036854775808) END FROM pragma_schema_version",
    [hranaValue(engineVersion)],
  ];
}

export const VERSION = "PRAGMA schema_version";
export const TOTAL = "SELECT total_changes()";

/**
 * The savepoint of a call that is alone stays open, so that its result can be checked before it is committed. A savepoint makes
 * virtual tables, if there are any, write what earlier statements have left in their memory. These changes belong to no
 * statement, so each statement has a savepoint before its count.
 */
export function groupSteps(
  calls: readonly GatedCall[],
  { schema: { engineVersion }, hasVirtualTables }: Pick<SchemaGate, "schema" | "hasVirtualTables">,
): GroupSteps {
  const list = new StepList();
  const alone = calls.length === 1;
  if (alone && calls[0]?.call.foreignKeysOff) list.add("PRAGMA foreign_keys=OFF");
  const begin = list.add("BEGIN IMMEDIATE");
  // Before the schema is checked: a repeated call is answered as it was, whatever the schema is now.
  const replays = calls.map(({ call }) => call.replay && replaySteps(list, call.replay, begin));
  const guard = list.add(versionGuard(engineVersion)[0], ifOk(begin), versionGuard(engineVersion)[1]);
  const version = list.add(VERSION, all(ifOk(begin), ifError(guard)));
  const ranges = calls.map((gated, at) =>
    stepsOfCall(list, gated, { guard, replay: replays[at] ?? null, alone, hasVirtualTables })
  );
  const lost = list.add("SELECT 1", all(ifOk(guard), outsideTransaction));
  list.add("ROLLBACK", all(ifError(guard), inTransaction));
  return { steps: list.steps, begin, guard, version, lost, calls: ranges };
}

interface CallSurroundings {
  readonly guard: number;
  readonly replay: { readonly rows: number; readonly free: number } | null;
  readonly alone: boolean;
  readonly hasVirtualTables: boolean;
}

function stepsOfCall(
  list: StepList,
  { call, gate }: GatedCall,
  { guard, replay, alone, hasVirtualTables }: CallSurroundings,
): CallSteps {
  const start = replay ? all(ifOk(guard), ifOk(replay.free), inTransaction) : all(ifOk(guard), inTransaction);
  const savepoint = list.add("SAVEPOINT call", start);
  const mayFlush = hasVirtualTables || call.level === "schema";
  const each = !call.atomic && call.statements.length > 1;
  let before = savepoint;
  const statements = call.statements.slice(0, gate.sendable).map((statement) => {
    const { sql, params, after = [] } = statement;
    const ready = all(ifOk(before), inTransaction);
    const own = each ? list.add("SAVEPOINT statement", ready) : null;
    if (mayFlush && own === null && before !== savepoint) {
      for (const sql of ["SAVEPOINT flush", "RELEASE flush"]) list.add(sql, ready);
    }
    const base = mayFlush ? list.add(TOTAL, ready) : null;
    const count = (text: string | null) =>
      text === null ? null : list.add(text, all(ifOk(savepoint), inTransaction));
    const counted = count(textBefore(statement));
    const run = list.add(sql, own === null ? ready : ifOk(own), params.map(hranaValue));
    const total = list.add(TOTAL, all(ifOk(savepoint), inTransaction));
    const counts = [counted, count(textBehind(statement))] as const;
    if (own !== null) {
      list.add("ROLLBACK TO statement", all(ifOk(own), ifError(run), inTransaction));
      list.add("RELEASE statement", all(ifOk(own), inTransaction));
    }
    before = run;
    for (const one of after) list.add(one.sql, all(ifOk(run), inTransaction), one.params.map(hranaValue));
    const then = after.length === 0 ? null : list.add(TOTAL, all(ifOk(savepoint), inTransaction));
    return { run, total, counts, base, then };
  });
  const undone = each ? null : gate.failure ? ifOk(savepoint) : all(ifOk(savepoint), not(ifOk(before)));
  if (undone && !alone) list.add("ROLLBACK TO call", all(undone, inTransaction));
  if (!alone) list.add("RELEASE call", all(ifOk(savepoint), inTransaction));
  return { replay: replay?.rows ?? null, statements };
}

/** `rows` answers with what is stored under the keys, `free` fails where there is something. */
function replaySteps(list: StepList, replay: ReplayKeys, begin: number) {
  const find = findStep(replay);
  const rows = list.add(find.sql, ifOk(begin), find.args);
  const free = freeStep(replay);
  return { rows, free: list.add(free.sql, ifOk(rows), free.args) };
}

/** The error of a step; null where it was skipped, was not answered or has run. */
export function errorAt(steps: readonly StepResult[], at: number): StepError | null {
  const step = steps[at];
  return step?.ok === false ? step : null;
}
