// What a location has taken in so far, told by what every change of a tenant leaves behind. sqld forks a location that it has
// just closed, because too many are open, in a state that lacks the last transactions.
import type { HranaStep } from "../remote/hrana/hrana.ts";
import { type HranaEndpoint, sendBatch } from "../remote/hrana/hrana_client.ts";
import type { Poster } from "../remote/hrana/poster.ts";
import { retryGone } from "../remote/hrana/repeat.ts";
import { RemoteFailure } from "../remote/hrana/remote_failure.ts";
import { integerOf, stringOf } from "../remote/hrana/remote_values.ts";

/** Ids of the newest rows; empty: there is none. */
export interface CopyState {
  readonly schemaVersion: number;
  readonly logId: string;
  readonly auditId: string;
}

const STATE: HranaStep = {
  stmt: {
    sql: "SELECT schema_version, (SELECT max(id) FROM _service_meta_query_log), " +
      "(SELECT max(id) FROM _service_meta_audit) FROM pragma_schema_version",
  },
};
const TIMEOUT_MS = 15_000;

/** Null: it cannot be told of a location that is closed, to us or to all, or that is no tenant. Throws `RemoteFailure`. */
export async function copyState(poster: Poster, endpoint: HranaEndpoint): Promise<CopyState | null> {
  const request = { steps: [STATE], baton: null, close: true };
  try {
    const { steps: [step] } = await retryGone(() =>
      sendBatch(poster, endpoint, request, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    );
    const row = step?.ok ? step.rows[0] : undefined;
    return row
      ? { schemaVersion: integerOf(row[0]), logId: stringOf(row[1]), auditId: stringOf(row[2]) }
      : null;
  } catch (error) {
    const reason = error instanceof RemoteFailure ? error.reason : null;
    const tooOld = error instanceof RemoteFailure && error.more.expiredMs !== undefined;
    if (reason === "blocked" || reason === "denied" && !tooOld) return null;
    throw error;
  }
}

/** Whether a copy has all that was there before it was made; others may have written meanwhile. */
export function hasAllOf(copy: CopyState, before: CopyState): boolean {
  if (before.logId === "" && before.auditId === "" && copy.logId + copy.auditId !== "") return false;
  return copy.schemaVersion >= before.schemaVersion && copy.logId >= before.logId &&
    copy.auditId >= before.auditId;
}
