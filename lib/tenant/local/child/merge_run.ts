// What one merge has done so far: conflicts found, tables written, statements run, rows counted.
import { MAX_SHOWN_ROWS, type MergeConflict } from "../../../sql/branch_report.ts";
import type { MergeRequest } from "./protocol.ts";
import type { TenantFile } from "./tenant_file.ts";

export class MergeRun {
  readonly items: MergeConflict[] = [];
  readonly written = new Set<string>();
  readonly statements: string[] = [];
  conflicts = 0;
  /** Conflicts that `onConflict` does not settle. */
  unsettled = 0;
  rowsRead = 0;
  rowsWritten = 0;
  refusal: string | null = null;

  constructor(readonly request: MergeRequest, readonly trunk: TenantFile) {}

  conflict(conflict: MergeConflict, settled: boolean): void {
    if (this.conflicts++ < MAX_SHOWN_ROWS) this.items.push(conflict);
    if (!settled) this.unsettled++;
  }
}
