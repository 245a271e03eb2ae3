// Which calls of a transaction whose end is not known were committed, and that none of them is from then on.
import { repeat } from "../hrana/repeat.ts";
import { RemoteFailure, type RemoteReason } from "../hrana/remote_failure.ts";
import { rowsAt } from "../server/remote_context.ts";
import type { RemoteConnection } from "../connection/remote_connection.ts";
import { stringOf } from "../hrana/remote_values.ts";
import { chain, ownTransaction } from "../hrana/step_list.ts";
import { logRow, noFigures } from "../../log_columns.ts";
import { addLogRows } from "./record_steps.ts";
import type { LogIdentity } from "../../tenant_store.ts";

/** These may be said of a database that is elsewhere by now; its log rows move with it. */
const ELSEWHERE: readonly RemoteReason[] = ["gone", "blocked"];
/** Times that the database is asked, and milliseconds before the second time. */
const MAX_ATTEMPTS = 6;
const FIRST_PAUSE_MS = 200;

/** Tells a row that bars a request from one that a call has left. */
const BARRED = "store_unavailable";

/**
 * Ids of those log rows that are there. The question holds the write lock, so a transaction in doubt that had begun is over
 * when it is answered. `late`: calls whose transaction may not even have begun. Where one's row is not there, another takes
 * its id, so that a request which comes still later fails at its own. Null: there was no answer.
 */
export async function findCommitted(
  connection: RemoteConnection,
  ids: readonly string[],
  late: readonly LogIdentity[] = [],
): Promise<Set<string> | null> {
  const places = ids.map(() => "?").join(",");
  const { steps, commit } = ownTransaction((list) => {
    for (const log of late) {
      const bar = logRow({ ...log, ...noFigures, status: "error", errorKind: BARRED });
      addLogRows(list, [bar]);
    }
    const sql = `SELECT id FROM _service_meta_query_log WHERE id IN (${places}) AND error_kind IS NOT ?`;
    chain(list, sql, [...ids, BARRED]);
  });
  const ask = async () => {
    const answers = await connection.runOwn("write", steps);
    rowsAt(answers, commit);
    return new Set(rowsAt(answers, commit - 1).map((row) => stringOf(row[0])));
  };
  return await repeat(ask, async (error, attempt) => {
    if (!(error instanceof RemoteFailure) || attempt + 1 >= MAX_ATTEMPTS) return null;
    if (ELSEWHERE.includes(error.reason)) await connection.moved().catch(() => {});
    return FIRST_PAUSE_MS * 2 ** attempt;
  }).catch(() => null);
}
