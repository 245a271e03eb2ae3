// Which calls of a transaction whose end is not known were committed.
import { repeat } from "./hrana/repeat.ts";
import { RemoteFailure, type RemoteReason } from "./hrana/remote_failure.ts";
import { rowsAt } from "./remote_context.ts";
import type { RemoteConnection } from "./remote_connection.ts";
import { hranaValue, stringOf } from "./hrana/remote_values.ts";

/** These may be said of a database that is elsewhere by now; its log rows move with it. */
const ELSEWHERE: readonly RemoteReason[] = ["gone", "blocked"];
/** Times that the database is asked, and milliseconds before the second time. */
const MAX_ATTEMPTS = 6;
const FIRST_PAUSE_MS = 200;

/**
 * Ids of those log rows that are there. The question holds the write lock, so the transaction in doubt is over when it
 * is answered. Null: there was no answer.
 */
export async function findCommitted(
  connection: RemoteConnection,
  ids: readonly string[],
): Promise<Set<string> | null> {
  const sql = `SELECT id FROM _service_meta_query_log WHERE id IN (${ids.map(() => "?").join(",")})`;
  const steps = [
    { stmt: { sql: "BEGIN IMMEDIATE" } },
    { stmt: { sql, args: ids.map(hranaValue) }, condition: { type: "ok", step: 0 } as const },
    { stmt: { sql: "ROLLBACK" }, condition: { type: "ok", step: 0 } as const },
  ];
  const ask = async () => {
    const answers = await connection.runOwn("write", steps);
    return new Set(rowsAt(answers, 1).map((row) => stringOf(row[0])));
  };
  return await repeat(ask, async (error, attempt) => {
    if (!(error instanceof RemoteFailure) || attempt + 1 >= MAX_ATTEMPTS) return null;
    if (ELSEWHERE.includes(error.reason)) await connection.moved().catch(() => {});
    return FIRST_PAUSE_MS * 2 ** attempt;
  }).catch(() => null);
}
