// What a branch has changed since it was made: its schema as statements, its rows table by table.
import {
  type BranchDiff,
  type ChangedRow,
  MAX_SHOWN_ROWS,
  type SchemaChange,
  type TableDiff,
} from "../../../sql/branch_report.ts";
import { objectKey, objectsByKey, type SchemaShape } from "../../../sql/schema_shape.ts";
import type { KnownRenames } from "../../../sql/table_lineage.ts";
import { confirmRenames } from "./confirm_renames.ts";
import { Connection } from "./connection.ts";
import { ancestorPath } from "./ancestor.ts";
import { jsonValue } from "./result_json.ts";
import { rowLength } from "./row_pages.ts";
import { type Row, rowChanges } from "./row_changes.ts";
import { provenStatements, readSchema } from "./schema_reader.ts";
import { type SchemaSide, type TablePair, tablePairs } from "./table_pair.ts";
import type { TenantFile } from "./tenant_file.ts";

export interface Compared {
  readonly diff: BranchDiff;
  readonly rowsRead: number;
  readonly known: KnownRenames;
}

/** Bytes of rows that one report shows, about. */
const MAX_SHOWN_LENGTH = 4_000_000;

/** Null when the branch has no ancestor: it is no branch. */
export function diffBranch(file: TenantFile): Compared | null {
  return withBranch(file, (ancestor, branch) => compareSides(ancestor, branch));
}

/** Runs `work` on the ancestor and on one state of the branch. Null when the file is no branch's. */
export function withBranch<T>(
  file: TenantFile,
  work: (ancestor: SchemaSide, branch: SchemaSide) => T,
): T | null {
  const path = ancestorPath(file.path);
  if (path === null) return null;
  const ancestor = new Connection(path, true);
  const branch = file.reader();
  try {
    branch.internalRun("BEGIN");
    return work(
      { connection: ancestor, shape: readSchema(ancestor) },
      { connection: branch, shape: readSchema(branch) },
    );
  } finally {
    if (branch.database.isTransaction) branch.internalRun("ROLLBACK");
    ancestor.close();
  }
}

export function compareSides(ancestor: SchemaSide, branch: SchemaSide): Compared {
  const figures = { rowsRead: 0 };
  const shown = { left: MAX_SHOWN_LENGTH };
  const known = confirmRenames(ancestor, branch);
  const tables = tablePairs(ancestor, branch, known).map((pair) => diffTable(pair, figures, shown));
  return {
    diff: {
      schema: {
        statements: provenStatements(ancestor.shape, branch.shape, known),
        changes: changesOf(ancestor.shape, branch.shape),
      },
      tables: tables.filter(({ added, removed, changed }) => added + removed + changed > 0),
    },
    rowsRead: figures.rowsRead,
    known,
  };
}

/** Objects whose text is not the same, by name; a renamed one is there under both names. */
export function changesOf(from: SchemaShape, to: SchemaShape): SchemaChange[] {
  const before = objectsByKey(from);
  const after = objectsByKey(to);
  return [
    ...from.objects.filter((one) => !after.has(keyOf(one))).map((one) => change(one, "removed")),
    ...to.objects.flatMap((one) => {
      const old = before.get(keyOf(one));
      return old === undefined ? [change(one, "added")] : old.sql === one.sql ? [] : [change(one, "changed")];
    }),
  ];
}

function change({ type, name }: SchemaChange | SchemaShape["objects"][number], kind: SchemaChange["change"]) {
  return { type, name, change: kind };
}

function keyOf({ type, name }: SchemaShape["objects"][number]): string {
  return `${type} ${objectKey(name)}`;
}

function diffTable(pair: TablePair, figures: { rowsRead: number }, shown: { left: number }): TableDiff {
  const counts = { added: 0, removed: 0, changed: 0 };
  const added: unknown[][] = [];
  const removed: unknown[][] = [];
  const changed: ChangedRow[] = [];
  const show = (row: Row): unknown[] => {
    shown.left -= rowLength(row);
    return jsonRow(row);
  };
  for (const one of rowChanges(pair, figures)) {
    if (counts[one.kind]++ >= MAX_SHOWN_ROWS) continue;
    if (rowLength(one.before ?? []) + rowLength(one.after ?? []) > shown.left) continue;
    if (one.kind === "added") added.push(show(one.after));
    else if (one.kind === "removed") removed.push(show(one.before));
    else changed.push({ before: show(one.before), after: show(one.after) });
  }
  return {
    ...{ table: pair.table, columns: pair.columns, primaryKey: pair.key.map((at) => pair.columns[at] ?? "") },
    ...counts,
    rows: { added, removed, changed },
    obstacle: pair.obstacle,
  };
}

/** Read with integers as bigint. */
export function jsonRow(row: Row): unknown[] {
  return row.map((value) => jsonValue(value, false));
}
