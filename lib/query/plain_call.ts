// A call with nothing asked for but its statements.
import { PLAIN_ROWS } from "../sql/row_form.ts";
import type { QueryCall } from "./query_call.ts";

type Essentials = Pick<QueryCall, "target" | "tokenId" | "operation" | "statements">;

/** `more` overrides what is usual: all or nothing, no replay, no snapshot, no bound on the rows it changes. */
export function plainCall(call: Essentials, more: Partial<QueryCall> = {}): QueryCall {
  return {
    userId: null,
    atomic: true,
    batch: call.operation === "batch",
    approved: [],
    rowForm: PLAIN_ROWS,
    replay: null,
    dryRun: false,
    affected: null,
    maxAffected: null,
    footprint: null,
    snapshots: false,
    signal: () => null,
    ...call,
    ...more,
  };
}
