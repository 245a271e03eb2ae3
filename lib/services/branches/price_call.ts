// Work for which the namespace pays as for a call of its own.
import type { Meter } from "../../control/balance/meter.ts";
import { costNanoUsd } from "../../query/prices.ts";

export interface PricedWork<Value> {
  readonly value: Value;
  readonly rowsRead: number;
  readonly rowsWritten: number;
}

/** Starts only while there is money. Errors: `balance_exhausted`, `monthly_cap_reached`, `meter_unreachable`. */
export async function priceCall<Value>(
  meter: Meter,
  payer: { readonly namespaceId: string; readonly databaseId: string },
  work: () => Promise<PricedWork<Value>>,
): Promise<Value> {
  const admission = await meter.admit(payer.namespaceId);
  try {
    const { value, rowsRead, rowsWritten } = await work();
    meter.settle(admission, {
      ...{ databaseId: payer.databaseId, requests: 1, rowsRead, rowsWritten },
      costNanoUsd: costNanoUsd(rowsRead, rowsWritten),
    });
    return value;
  } finally {
    meter.release(admission);
  }
}
