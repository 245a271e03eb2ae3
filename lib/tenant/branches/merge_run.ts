// What one merge has done so far: conflicts found, tables written, statements run, rows counted.
import { LOG_SQL_BYTES } from "../../core/limits.ts";
import { MAX_SHOWN_ROWS, type MergeConflict } from "../../sql/branch_report.ts";
import type { BranchMerge, MergeOutcome } from "../branch_store.ts";

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

  constructor(
    readonly mode: BranchMerge<unknown>["mode"],
    readonly onConflict: BranchMerge<unknown>["onConflict"],
  ) {}

  /** To be kept, unless one of its statements has failed. */
  get complete(): boolean {
    return this.unsettled === 0 && this.refusal === null;
  }

  get wrote(): boolean {
    return this.written.size > 0 || this.statements.length > 0;
  }

  conflict(conflict: MergeConflict, settled: boolean): void {
    if (this.conflicts++ < MAX_SHOWN_ROWS) {
      const { length } = JSON.stringify(conflict);
      if (length <= this.#shown) this.items.push(conflict);
      this.#shown -= length;
    }
    if (!settled) this.unsettled++;
  }

  outcome(failed: boolean): MergeOutcome<unknown>["outcome"] {
    if (failed) return "failed";
    if (this.refusal !== null) return "refused";
    return this.unsettled > 0 ? "conflict" : "merged";
  }

  /** The log row's text says what ran: the statements of a schema merge, otherwise that it was a merge. */
  logText(otherwise: string): string {
    if (this.statements.length === 0) return otherwise;
    const text = this.statements.join(";\n");
    return text.length * 3 <= LOG_SQL_BYTES ? text : text.slice(0, Math.floor(LOG_SQL_BYTES / 3));
  }

  /** The audit row's table names. */
  get auditTables(): string[] {
    return [...this.written].sort();
  }
}
