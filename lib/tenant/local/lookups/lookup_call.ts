// A call as look-ups see it.
import { type BoundRead, withLimit } from "../../../engine/rows_read/lookup_reads.ts";
import type { TenantCall } from "../../tenant_store.ts";

/** A read that may be a look-up, as it is compiled here (`withLimit`). */
export interface LookupCall extends BoundRead {
  readonly schemaVersion: number;
}

/** The read of a call that is one statement, and nothing beside it; null: it is another call. */
export function lookupOf(call: TenantCall): LookupCall | null {
  const [one, ...others] = call.statements;
  const isOneRead = call.level === "read" && others.length === 0 && !call.readsLog && !call.paramSets &&
    !call.dryRun && !call.footprint && !call.foreignKeysOff && call.replay === null &&
    call.failsWith === null && !one?.takes;
  if (one === undefined || !isOneRead) return null;
  const { sql, params } = withLimit(one);
  return { schemaVersion: call.schemaVersion, sql, params };
}
