// The `meta` of an answer as JSON. Put together by hand it takes a seventh of the time of `JSON.stringify`, which would be a
// noticeable part of a point read.
import type { QueryMeta } from "../../lib/query/query_call.ts";

/**
 * The text that `JSON.stringify` gives for the `meta` of a call that has just run: its numbers are finite, and its ids need no
 * escapes. Nobody knows that of one that was stored.
 */
export function metaText(meta: QueryMeta): string {
  const { rowsRead, rowsWritten, durationMs, statementCount, costUsd, snapshot, queryLogId } = meta;
  const { rowsReadBasis, warnings } = meta;
  return `{"rowsRead":${rowsRead},"rowsWritten":${rowsWritten},"durationMs":${durationMs},` +
    `"statementCount":${statementCount},"costUsd":${costUsd},` +
    `"snapshot":${snapshot === null ? "null" : JSON.stringify(snapshot)},"queryLogId":"${queryLogId}",` +
    `"rowsReadBasis":"${rowsReadBasis}"${
      warnings === undefined ? "" : `,"warnings":${JSON.stringify(warnings)}`
    }}`;
}
