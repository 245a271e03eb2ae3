// Stage 7: what it cost.
import type { StatementResult } from "../tenant/tenant_store.ts";
import { costNanoUsd } from "./prices.ts";

export interface Settled {
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly costNanoUsd: number;
}

export function settle(results: readonly StatementResult[]): Settled {
  let rowsRead = 0;
  let rowsWritten = 0;
  for (const result of results) {
    rowsRead += result.rowsRead;
    rowsWritten += result.rowsWritten;
  }
  return { rowsRead, rowsWritten, costNanoUsd: costNanoUsd(rowsRead, rowsWritten) };
}
