// Calls that whoever asked makes once more after the engine has undone them: only the last of them is logged.

/** Rows that a call must change in all, triggers and cascades included: others undo it (`affected`). */
export interface AffectedBound {
  readonly min: number;
  readonly max: number;
  /** A call that changed more rows than that starts over: it leaves no log row. */
  readonly startsOverAbove?: number;
  /** Rows up to which a person is asked again when the call, which was approved, changes another number. */
  readonly looksAgainUpTo?: number;
}

/** `failure`: how the call ended, if it failed. */
export function startsOver(
  bound: AffectedBound | null | undefined,
  failure: { readonly affected?: number } | undefined,
): boolean {
  return (failure?.affected ?? 0) > (bound?.startsOverAbove ?? Infinity);
}
