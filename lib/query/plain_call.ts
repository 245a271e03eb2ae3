// Makes a call of statements without further wishes.
import { PLAIN_ROWS } from "../sql/words/row_form.ts";
import type { QueryCall } from "./query_call.ts";

type Essentials = Pick<QueryCall, "target" | "tokenId" | "operation" | "statements">;

/** Makes an atomic call without replay, snapshot and bound on rows. `more` overrides these defaults. */
export function plainCall(call: Essentials, more: Partial<QueryCall> = {}): QueryCall {
  return {
    userId: null,
    atomic: true,
    batch: call.operation === "batch",
    approved: [],
    paramSets: null,
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
