// The progress of one merge: conflicts found, changes by table, statements run, rows counted.
import { logText } from "../../core/plain_text.ts";
import {
  type BranchDiff,
  MAX_SHOWN_ROWS,
  type MergeConflict,
  mergeEffectOf,
  type MergeReport,
  type TrunkWrite,
} from "../../sql/service/branch_report.ts";
import { type CallChange, kindsOfActions } from "../../sql/service/change_rows.ts";
import type { RowForm } from "../../sql/words/row_form.ts";
import type { BranchMerge, MergeOutcome } from "../branch_store.ts";
import { jsonRow } from "./compare_sides.ts";
import { RowsDigest } from "./rows_digest.ts";
import type { Row } from "./work.ts";

/** The most characters of conflicts that one report shows. */
const MAX_SHOWN_LENGTH = 4_000_000;

/** A conflict with its rows as they were read, integers as bigint. */
export interface FoundConflict {
  readonly kind: MergeConflict["kind"];
  readonly table: string;
  readonly key: Row;
  readonly ancestor: Row | null;
  readonly ours: Row | null;
  readonly theirs: Row | null;
}

type MergeOptions = Pick<BranchMerge<unknown>, "mode" | "onConflict" | "expects" | "rowForm">;

/** The state of one merge. */
export class MergeRun {
  readonly written = new Set<string>();
  readonly statements: string[] = [];
  /** Conflicts that `onConflict` does not settle. */
  unsettled = 0;
  rowsRead = 0;
  rowsWritten = 0;
  refusal: string | null = null;
  readonly #conflicts = { count: 0, digest: new RowsDigest(), items: new Array<MergeConflict>() };
  #shown = MAX_SHOWN_LENGTH;
  readonly #writes = new Map<string, TrunkWrite>();
  readonly #expects: string | null;
  readonly #rowForm: RowForm;
  readonly mode: BranchMerge<unknown>["mode"];
  readonly onConflict: BranchMerge<unknown>["onConflict"];

  constructor(
    { mode, onConflict, expects, rowForm }: MergeOptions,
    private readonly diff: BranchDiff,
  ) {
    this.mode = mode;
    this.onConflict = onConflict;
    this.#expects = expects;
    this.#rowForm = rowForm;
  }

  /** Whether the merge, at its end, may be committed unless one of its statements has failed. */
  get complete(): boolean {
    return this.outcome === "merged";
  }

  /** Counts by table and action. */
  get writes(): TrunkWrite[] {
    return [...this.#writes].sort(([a], [b]) => a < b ? -1 : 1).map(([, write]) => write);
  }

  get wrote(): boolean {
    return this.written.size > 0 || this.statements.length > 0;
  }

  /** Complete only at the end of the merge, because the digest covers all conflicts. */
  get conflicts(): MergeReport["conflicts"] {
    const { count, digest, items } = this.#conflicts;
    return { count, digest: digest.hex, items };
  }

  conflict({ kind, table, key, ancestor, ours, theirs }: FoundConflict): void {
    this.#conflicts.digest.add(JSON.stringify([kind, table]), [key, ancestor, ours, theirs]);
    if (this.#conflicts.count++ < MAX_SHOWN_ROWS) {
      const shown = (row: Row | null) => row && jsonRow(row, this.#rowForm);
      const sides = { ancestor: shown(ancestor), ours: shown(ours), theirs: shown(theirs) };
      this.#show({ kind, table, key: jsonRow(key, this.#rowForm), ...sides });
    }
    // A broken reference has no side that could win.
    if (kind === "foreign_key" || this.onConflict === "abort") this.unsettled++;
  }

  #show(conflict: MergeConflict): void {
    const { length } = JSON.stringify(conflict);
    if (length <= this.#shown) this.#conflicts.items.push(conflict);
    this.#shown -= length;
  }

  wroteRows(action: "insert" | "update" | "delete", table: string, rows: number): void {
    const key = JSON.stringify([table, action]);
    this.#writes.set(key, { action, table, rows: (this.#writes.get(key)?.rows ?? 0) + rows });
    this.rowsWritten += rows;
    this.written.add(table);
  }

  /** Changes in the form of a statement's `actions`. */
  changedSchema(actions: readonly string[]): void {
    for (const text of actions) {
      const space = text.indexOf(" ");
      const action = text.slice(0, space) === "delete" ? "delete" : "schema";
      const table = text.slice(space + 1);
      this.#writes.set(JSON.stringify([table, action]), { action, table, rows: null });
    }
  }

  /** The outcome, once the merge has ended, unless one of its statements has failed. */
  get outcome(): Exclude<MergeOutcome<unknown>["outcome"], "failed"> {
    if (this.refusal !== null) return "refused";
    if (this.unsettled > 0) return "conflict";
    const unexpected = this.#expects !== null &&
      mergeEffectOf({ ...this.diff, writes: this.writes, conflicts: this.conflicts }) !== this.#expects;
    return unexpected ? "changed" : "merged";
  }

  /** The text of the log row: the statements of a schema merge, otherwise that it was a merge. */
  logText(otherwise: string): string {
    return this.statements.length === 0 ? otherwise : logText(this.statements.join(";\n"));
  }

  /** What followers of the trunk are told. */
  get changed(): Pick<CallChange, "tables" | "kinds"> {
    const actions = this.writes.map(({ action, table }) => `${action} ${table}`);
    const tables = [...new Set([...this.written, ...this.writes.map(({ table }) => table)])].sort();
    return { tables: JSON.stringify(tables), kinds: kindsOfActions(actions, this.statements.length > 0) };
  }

  /** The table names of the audit row. */
  get auditTables(): string[] {
    return [...this.written].sort();
  }
}
