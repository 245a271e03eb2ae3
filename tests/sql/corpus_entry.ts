// The form of one line of the statement corpus: a text and, in one string, what must be known about it.

/**
 * `[sql, expected]`, with names in the engine's sorted order and everything left out meaning "none":
 * - `"write delete where; reads a, b; writes a; calls count; columns a.id; sets a.x; params 2"`: the least role, the
 *   verb, the flags `where` and `destructive`, then parts. `columns` and `sets` are compared only where given.
 * - `"nobody pragma: PRAGMA journal_mode"`: refused, with a part of the reason.
 * - `"error unknown_table"`: the caller's mistake, by code or kind of `errorDetail`.
 */
export type CorpusEntry = readonly [sql: string, expected: string];
