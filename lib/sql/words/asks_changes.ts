// Statements that ask how many rows the one before them has changed.

/**
 * Whether the text may name `changes()`. The engine's EXPLAIN of a write sets what that says to 0, and so does a write that
 * is undone: such a statement may have neither between itself and the write before it.
 */
export function asksChanges(sql: string): boolean {
  return /\bchanges\b/i.test(sql);
}
