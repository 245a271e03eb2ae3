// What one merge has done so far: conflicts found, tables written, statements run, rows counted.
import { MAX_SHOWN_ROWS, type MergeConflict } from "../../../sql/branch_report.ts";
import type { MergeRequest } from "./protocol.ts";
import type { TenantFile } from "./tenant_file.ts";

/** Characters of conflicts that one report shows. */
const MAX_SHOWN_LENGTH = 4_000_000;

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
  #shown = MAX_SHOWN_LENGTH;

  constructor(readonly request: MergeRequest, readonly trunk: TenantFile) {}

  conflict(conflict: MergeConflict, settled: boolean): void {
    if (this.conflicts++ < MAX_SHOWN_ROWS) {
      const { length } = JSON.stringify(conflict);
      if (length <= this.#shown) this.items.push(conflict);
      this.#shown -= length;
    }
    if (!settled) this.unsettled++;
  }
}
