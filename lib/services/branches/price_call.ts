// Work for which the namespace pays as for a call of its own.
import type { Meter } from "../../control/balance/meter.ts";
import { costNanoUsd } from "../../query/prices.ts";

/** What the work is to be billed by, beside the request; null while it has done nothing. The last figures count. */
export interface Bill {
  figures: { readonly rowsRead: number; readonly rowsWritten: number } | null;
}

/**
 * Starts only while there is money; what stops with an error pays for what it has done until then. Errors:
 * `balance_exhausted`, `monthly_cap_reached`, `meter_unreachable`, those of the work.
 */
export async function priceCall<Value>(
  meter: Meter,
  payer: { readonly namespaceId: string; readonly databaseId: string },
  work: (bill: Bill) => Promise<Value>,
): Promise<Value> {
  const admission = await meter.admit(payer.namespaceId);
  const bill: Bill = { figures: null };
  try {
    return await work(bill);
  } finally {
    if (bill.figures) {
      const { rowsRead, rowsWritten } = bill.figures;
      meter.settle(admission, {
        ...{ databaseId: payer.databaseId, requests: 1, rowsRead, rowsWritten },
        costNanoUsd: costNanoUsd(rowsRead, rowsWritten),
      });
    }
    meter.release(admission);
  }
}
