// A write in a transaction that only reads.
import type { TenantOutcome } from "./tenant_store.ts";

/** Its outcome, in the engine's words. */
export function readOnlyOutcome(): TenantOutcome {
  const message = "attempt to write a readonly database";
  return {
    ok: false,
    results: [],
    failedIndex: 0,
    failure: { kind: "readonly", message, table: null, columns: [] },
    work: { rowsRead: 0, rowsWritten: 0 },
    durationMs: 0,
    rowsReadBasis: "plan",
  };
}
