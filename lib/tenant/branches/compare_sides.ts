// Compares a branch with its ancestor: schema changes as statements, row changes table by table.
import {
  type BranchDiff,
  type ChangedRow,
  MAX_SHOWN_ROWS,
  type SchemaChange,
  type TableDiff,
} from "../../sql/service/branch_report.ts";
import type { RowForm } from "../../sql/words/row_form.ts";
import { objectKey, objectsByKey, type SchemaShape } from "../../sql/schema/schema_shape.ts";
import type { KnownRenames } from "../../sql/schema/table_lineage.ts";
import { jsonValue } from "../../engine/result_json.ts";
import { OddText } from "../../sql/words/stored_text.ts";
import { confirmRenames } from "./confirm_renames.ts";
import { provenStatements } from "./proven_statements.ts";
import type { OpenTrial } from "./trial_database.ts";
import { type Reading, rowLength } from "./row_pages.ts";
import type { RowChange } from "./row_change.ts";
import { rowChanges } from "./row_changes.ts";
import { RowsDigest } from "./rows_digest.ts";
import { readSide, type SchemaSide, type TablePair, tablePairs } from "./table_pair.ts";
import type { Row, Work } from "./work.ts";

/** Both sides and their differences. */
export interface Compared {
  readonly ancestor: SchemaSide;
  readonly branch: SchemaSide;
  readonly diff: BranchDiff;
  readonly rowsRead: number;
  readonly known: KnownRenames;
  readonly pairs: readonly ComparedPair[];
}

/** A table of both sides. */
export interface ComparedPair {
  readonly pair: TablePair;
  /** Null: the table has not changed. */
  readonly diff: TableDiff | null;
  /** Null: too many to hold in memory; they have to be found again. */
  readonly changes: readonly RowChange[] | null;
}

/** About how many bytes of rows one report shows. */
const MAX_SHOWN_LENGTH = 4_000_000;

/** How to compare. */
export interface CompareOptions {
  readonly rowForm: RowForm;
  readonly openTrial: OpenTrial;
  /** About how many bytes of changes are held in memory for a merge. */
  readonly holdBytes: number;
  readonly reading: Reading;
}

/** Compares a branch with its ancestor. */
export function* compareSides(
  { openTrial, holdBytes, reading, rowForm }: CompareOptions,
): Work<Compared> {
  const ancestor = yield* readSide("ancestor", reading);
  const branch = yield* readSide("branch", reading);
  const known = yield* confirmRenames(ancestor, branch);
  const report = { rowsRead: 0, shownLeft: MAX_SHOWN_LENGTH, heldLeft: holdBytes, rowForm };
  const pairs: ComparedPair[] = [];
  for (const pair of tablePairs(ancestor, branch, known)) pairs.push(yield* comparePair(pair, report));
  const { statements } = yield* provenStatements(openTrial, ancestor.shape, branch.shape, known);
  const diff = {
    schema: {
      statements,
      changes: changesOf(ancestor.shape, branch.shape),
    },
    tables: pairs.flatMap(({ diff }) => diff ?? []),
  };
  return { ancestor, branch, diff, rowsRead: report.rowsRead, known, pairs };
}

/** Objects whose definitions differ, by name; a renamed object appears under both names. */
function changesOf(from: SchemaShape, to: SchemaShape): SchemaChange[] {
  const before = objectsByKey(from);
  const after = objectsByKey(to);
  return [
    ...from.objects.filter((one) => !after.has(objectKey(one))).map((one) => change(one, "removed")),
    ...to.objects.flatMap((one) => {
      const old = before.get(objectKey(one));
      return old === undefined ? [change(one, "added")] : old.sql === one.sql ? [] : [change(one, "changed")];
    }),
  ];
}

function change({ type, name }: SchemaChange | SchemaShape["objects"][number], kind: SchemaChange["change"]) {
  return { type, name, change: kind };
}

interface Report {
  readonly rowForm: RowForm;
  rowsRead: number;
  shownLeft: number;
  heldLeft: number;
}

function* comparePair(pair: TablePair, report: Report): Work<ComparedPair> {
  const shown = new ShownRows(report);
  let held: RowChange[] | null = [];
  let hasNullKey = false;
  yield* rowChanges(pair, report, function* (changes) {
    for (const one of changes) {
      shown.add(one);
      const row = one.after ?? one.before;
      hasNullKey ||= pair.key.some((at) => row[at] === null);
      report.heldLeft -= lengthOf(one);
      if (report.heldLeft < 0) held = null;
      held?.push(one);
    }
  });
  const { added, removed, changed } = shown.counts;
  const diff = added + removed + changed === 0 ? null : {
    table: pair.table,
    columns: pair.columns,
    primaryKey: pair.key.map((at) => pair.columns[at] ?? ""),
    ...shown.counts,
    digest: shown.digest.hex,
    rows: shown.rows,
    obstacle: pair.obstacle ??
      (hasNullKey
        ? "A row has NULL in its primary key; give it a value where it was made, in the branch or in the trunk"
        : null),
  };
  return { pair, diff, changes: held };
}

/** Counts all rows and shows the first ones. */
class ShownRows {
  readonly counts = { added: 0, removed: 0, changed: 0 };
  readonly digest = new RowsDigest();
  readonly rows: { added: unknown[][]; removed: unknown[][]; changed: ChangedRow[] } = {
    added: [],
    removed: [],
    changed: [],
  };

  constructor(private readonly report: Report) {}

  add(one: RowChange): void {
    this.digest.add(one.kind, [one.before, one.after]);
    if (this.counts[one.kind]++ >= MAX_SHOWN_ROWS) return;
    const length = lengthOf(one);
    if (length > this.report.shownLeft) return;
    this.report.shownLeft -= length;
    const shown = (row: Row) => jsonRow(row, this.report.rowForm);
    if (one.kind === "added") this.rows.added.push(shown(one.after));
    else if (one.kind === "removed") this.rows.removed.push(shown(one.before));
    else this.rows.changed.push({ before: shown(one.before), after: shown(one.after) });
  }
}

/** About how many bytes the rows of a change take. */
export function lengthOf({ before, after }: RowChange): number {
  return rowLength(before ?? []) + rowLength(after ?? []);
}

/** A row in the form of an answer; its integers were read as bigint. */
export function jsonRow(row: Row, rowForm: RowForm): unknown[] {
  return row.map((value) => value instanceof OddText ? value.shown : jsonValue(value, rowForm));
}
