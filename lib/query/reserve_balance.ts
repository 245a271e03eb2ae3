// Stage 4: the prepaid balance. The call goes on only while there is money; what it costs is taken when it has run.
import type { Admission } from "../control/balance/spending_account.ts";
import type { QueryCall, QueryContext } from "./query_call.ts";

/**
 * Leave to run, at once in the usual case; null for reads that the service makes for itself, which are free. `reads`:
 * the call changes nothing, and goes on where KV is full. Errors: `balance_exhausted`, `monthly_cap_reached`,
 * `meter_unreachable`, `storage_full`.
 */
export function reserveBalance(
  ctx: QueryContext,
  call: QueryCall,
  reads: boolean,
): Admission | null | Promise<Admission> {
  return call.operation === "service" ? null : ctx.meter.admit(call.target.namespaceId, reads);
}
