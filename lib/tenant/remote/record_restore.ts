// The log and audit rows of a restore, in the location that will be the database.
import { newId } from "../../core/ids.ts";
import { isReservedName, ownTablesQuery } from "../../sql/service_tables.ts";
import type { LogIdentity } from "../tenant_store.ts";
import { BEGIN, commitSteps } from "./record_steps.ts";
import { type RemoteContext, rowsAt, runOwn } from "./remote_context.ts";
import { stringOf } from "./hrana/remote_values.ts";

export interface RestoreToRecord {
  readonly log: LogIdentity;
  readonly location: string;
  /** Locations whose tables it has replaced, dropped or brought back. */
  readonly tablesOf: readonly string[];
  /** By the monotonic clock. */
  readonly startedMs: number;
}

/** All data of the tables changes at once; no rows are counted. Throws `RemoteFailure`. */
export async function recordRestore(
  context: RemoteContext,
  { log, location, tablesOf, startedMs }: RestoreToRecord,
): Promise<void> {
  const names = new Set<string>();
  for (const one of tablesOf) {
    const read = await runOwn(context, { location: one, mode: "read" }, [{ stmt: { sql: ownTablesQuery } }]);
    for (const row of rowsAt(read, 0)) names.add(stringOf(row[0]));
  }
  const auditTables = [...names].filter((name) => !isReservedName(name)).sort();
  const ms = Math.round((context.clock.monotonicMs() - startedMs) * 1000) / 1000;
  const { steps, commit } = commitSteps(
    [BEGIN],
    [{
      call: { log, replay: null, failsWith: null, auditTables },
      run: { results: [], rowsRead: 0, rowsWritten: 0, ms, failure: null },
      auditId: newId("evt", context.clock.now()),
    }],
    [],
    [],
  );
  rowsAt(await runOwn(context, { location, mode: "write" }, steps), commit);
}
