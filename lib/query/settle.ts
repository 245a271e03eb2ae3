// Stage 7: what it cost, taken from the balance.
import type { Admission } from "../control/balance/spending_account.ts";
import type { Totals } from "./answer.ts";
import { costNanoUsd } from "./prices.ts";
import type { QueryCall, QueryContext } from "./query_call.ts";

/** Takes the price of a call that ran, also of one that failed: the request, and what the engine did. */
export function settle(
  ctx: QueryContext,
  call: QueryCall,
  admission: Admission | null,
  { rowsRead, rowsWritten }: Totals,
): void {
  if (admission === null) return;
  ctx.meter.settle(admission, {
    databaseId: call.target.databaseId,
    requests: 1,
    rowsRead,
    rowsWritten,
    costNanoUsd: costNanoUsd(rowsRead, rowsWritten),
  });
}
