// Decides for all stores which records a call leaves beside its changes: a stored answer, a log row, an audit row.
import type { CallChange, ChangeStep } from "../sql/service/change_rows.ts";
import type { MigrationRecord } from "../sql/service/migration_records.ts";

/** Bounds of the rows that a call may change, triggers and cascades included. Another number undoes it (`affected`). */
export interface AffectedBound {
  readonly min: number;
  readonly max: number;
  /** A call that changed more rows than this is undone and made once more by its caller, so it leaves no log row. */
  readonly startsOverAbove?: number;
  /** Up to this many rows, an approved call that changes another number is shown to a person again, not refused. */
  readonly looksAgainUpTo?: number;
}

/** A migration file that a call applies. Its record is written in the call's transaction, which fails where it may not be. */
export interface MigrationAsk {
  readonly record: MigrationRecord;
  /** `newestOf` the records behind which it belongs: with another newest one the call fails as `moved`. */
  readonly after: string | null;
  /** Null: it can lose no rows. */
  readonly keeps: KeptRows | null;
}

/**
 * What of a migration's rows has to stay: tables whose rows it does not delete by name must not end with fewer. Names are
 * folded.
 */
export interface KeptRows {
  /** Tables whose rows may become fewer. */
  readonly mayLose: readonly string[];
  /** Tables whose values may change. */
  readonly mayChange: readonly string[];
  /** The names that tables have in the end, by the names that they had, where they have others. */
  readonly renamed: Readonly<Record<string, string>>;
}

/** The parts of a call that the decision needs. `failsWith`: the error that ends the call after its statements have run. */
export interface RecordedCall {
  /** Its effect is shown; where the time for that was up, its caller is told that it is not known. */
  readonly dryRun?: boolean | undefined;
  readonly affected?: AffectedBound | null | undefined;
  readonly failsWith?: string | null | undefined;
}

/** The failure of the call; null where it succeeded. */
type Failure = { readonly kind: string; readonly affected?: number } | undefined;

/** The records that a call leaves. */
export interface CallRecords {
  /** The answer is stored under the call's keys. */
  readonly answer: boolean;
  /** Null: the call has no log row. */
  readonly log: { readonly errorKind: string | null } | null;
  /** The call has an audit row, because a change of it stays. */
  readonly audit: boolean;
}

/** Decides the records of a call that has run. `results`: how many of its results stay. */
export function recordsOf(call: RecordedCall, failure: Failure, results: number): CallRecords {
  return {
    answer: failure === undefined && (call.failsWith ?? null) === null,
    log: startsOver(call, failure) ? null : { errorKind: loggedKind(call, failure) },
    audit: !startsOver(call, failure) && (failure === undefined || results > 0),
  };
}

/**
 * What a call that leaves an audit row has changed: `all`, or of one that has stopped in the middle what its statements have whose
 * `results` stay. Null: these change nothing, and it leaves no such row.
 */
export function changeThatStays(
  { changeSteps }: { readonly changeSteps?: readonly ChangeStep[] | undefined },
  all: WhatChanged,
  { failure, results }: { readonly failure: Failure; readonly results: number },
): WhatChanged | null {
  if (failure === undefined || changeSteps === undefined) return all;
  const stay = changeSteps.filter(({ from }) => from < results);
  if (stay.length === 0) return null;
  const tables = stay.flatMap((step) => step.tables).sort();
  return { tables: JSON.stringify(tables), kinds: stay.reduce((kinds, step) => kinds | step.kinds, 0) };
}

type WhatChanged = Pick<CallChange, "tables" | "kinds">;

/** The error kind in the log row: a kind of `errorDetail`, or the answer's error code where a bound on rows failed. */
export function loggedKind(
  { affected: bound, failsWith, dryRun = false }: RecordedCall,
  failure: Failure,
): string | null {
  if (failure === undefined) return failsWith ?? null;
  if (dryRun && failure.kind === "timeout") return null;
  if (failure.kind !== "affected") return failure.kind;
  const rows = failure.affected ?? 0;
  return rows <= (bound?.looksAgainUpTo ?? -1) ? "effect_changed" : "too_many_affected";
}

function startsOver({ affected }: RecordedCall, failure: Failure): boolean {
  if (failure?.kind === "moved") return true;
  return (failure?.affected ?? 0) > (affected?.startsOverAbove ?? Infinity);
}
