// A call as the store has it, from what travels.
import type { TenantCall } from "../../tenant_store.ts";
import type { WireCall } from "./protocol.ts";

/** What all stores decide alike is decided of these parts of a call. */
export type StoreCall = Pick<
  TenantCall,
  "statements" | "atomic" | "bounds" | "rowForm" | "affected"
>;

/** Reads those parts from a frame's call. */
export function storeCall(call: WireCall): StoreCall {
  const { atomic, maxRows, maxBytes, rowForm, affected = null } = call;
  return {
    statements: call.statements.map(([sql, params, level, more]) => ({ sql, params, level, ...more })),
    atomic,
    bounds: { rows: maxRows, bytes: maxBytes },
    rowForm,
    affected,
  };
}
