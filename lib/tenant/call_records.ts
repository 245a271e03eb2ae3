// What stays of a call beside its changes, decided once for all stores: its stored answer, its log row, its audit row.

/** Rows that a call must change in all, triggers and cascades included: others undo it (`affected`). */
export interface AffectedBound {
  readonly min: number;
  readonly max: number;
  /** Whoever asked makes a call that changed more rows than that once more, when it is undone: it leaves no log row. */
  readonly startsOverAbove?: number;
  /** Rows up to which a person is asked again when the call, which was approved, changes another number. */
  readonly looksAgainUpTo?: number;
}

/** The parts of a call on which that depends. `failsWith`: what stops it behind what has run of it. */
export interface RecordedCall {
  readonly affected?: AffectedBound | null | undefined;
  readonly failsWith?: string | null | undefined;
}

/** How the call ended, if it failed. */
type Failure = { readonly kind: string; readonly affected?: number } | undefined;

export interface CallRecords {
  /** Its answer is stored under its keys. */
  readonly answer: boolean;
  /** Null: it has no log row. */
  readonly log: { readonly errorKind: string | null } | null;
  /** It has changed something that stays. */
  readonly audit: boolean;
}

/** Of a call that has run: `failure`, and how many results stay. */
export function recordsOf(call: RecordedCall, failure: Failure, results: number): CallRecords {
  return {
    answer: failure === undefined && (call.failsWith ?? null) === null,
    log: startsOver(call, failure) ? null : { errorKind: loggedKind(call, failure) },
    audit: !startsOver(call, failure) && (failure === undefined || results > 0),
  };
}

/** What the log row says of a failure: a kind of `errorDetail`, or the code of the answer where it is about rows. */
export function loggedKind({ affected: bound, failsWith }: RecordedCall, failure: Failure): string | null {
  if (failure === undefined) return failsWith ?? null;
  if (failure.kind !== "affected") return failure.kind;
  const rows = failure.affected ?? 0;
  return rows <= (bound?.looksAgainUpTo ?? -1) ? "effect_changed" : "too_many_affected";
}

function startsOver({ affected }: RecordedCall, failure: Failure): boolean {
  return (failure?.affected ?? 0) > (affected?.startsOverAbove ?? Infinity);
}
