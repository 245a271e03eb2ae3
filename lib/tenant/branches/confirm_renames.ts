// Checks against the rows which suggested renames are real: a dropped column and an added one look like a rename in the
// schema, but their values differ.
import { quoteIdentifier as quoted } from "../../sql/words/quote.ts";
import type { ColumnShape, SchemaObject, SchemaShape } from "../../sql/schema/schema_shape.ts";
import {
  columnsOf,
  definitionOf,
  type KnownRenames,
  renameKey,
  tableLineage,
  tablesOf,
  unmatched,
} from "../../sql/schema/table_lineage.ts";
import { tagged } from "../../sql/words/stored_text.ts";
import { storedValue } from "./stored_values.ts";
import { sameValue } from "./row_change.ts";
import type { SchemaSide } from "./table_pair.ts";
import { type Row, rowsWithin, type Work } from "./work.ts";

/** Rows to compare from each side. */
const SAMPLE_ROWS = 500;
/** Bytes of each value to compare: all of them would be more than a server sends at once. */
const SAMPLE_BYTES = 200;

/** Finds the renames that the rows confirm. */
export function* confirmRenames(ancestor: SchemaSide, branch: SchemaSide): Work<KnownRenames> {
  const known = new Set<string>();
  for (const [before, after] of renamedTables(ancestor.shape, branch.shape)) {
    const old = columnsOf(ancestor.shape, before);
    const present = columnsOf(branch.shape, after);
    const gone = new Set(unmatched(old, present));
    const shared = old.filter((column) => column.hidden === 0 && !gone.has(column)).map(({ name }) => name);
    const evidence = yield* compareValues(ancestor, branch, [before.name, shared], [after.name, shared]);
    if (evidence ?? continues(old, present)) known.add(renameKey(before, null, after.name));
  }
  for (const { before, after } of [...tableLineage(ancestor.shape, branch.shape, known).values()]) {
    const old = columnsOf(ancestor.shape, before);
    const present = columnsOf(branch.shape, after);
    for (const older of unmatched(old, present)) {
      for (const newer of unmatched(present, old)) {
        if (definitionOf(older) !== definitionOf(newer)) continue;
        const sides = [[before.name, [older.name]], [after.name, [newer.name]]] as const;
        const atSameIndex = old.indexOf(older) === present.indexOf(newer) && continues(old, present);
        if ((yield* compareValues(ancestor, branch, ...sides)) ?? atSameIndex) {
          known.add(renameKey(before, older.name, newer.name));
        }
      }
    }
  }
  return known;
}

/** Tables with a name that the other side does not have but with the same storage. */
function renamedTables(from: SchemaShape, to: SchemaShape): (readonly [SchemaObject, SchemaObject])[] {
  const before = tablesOf(from);
  const after = tablesOf(to);
  const made = [...after].filter(([name]) => !before.has(name)).map(([, one]) =>
    [one.rootPage, one] as const
  );
  const byPage = new Map(made);
  return [...before].flatMap(([key, older]) => {
    const newer = after.has(key) || older.rootPage === 0 ? undefined : byPage.get(older.rootPage);
    return newer ? [[older, newer] as const] : [];
  });
}

/** Whether every older column is at the same index, whatever its name. */
function continues(old: readonly ColumnShape[], present: readonly ColumnShape[]): boolean {
  return old.every((column, at) => {
    const now = present[at];
    return now !== undefined && definitionOf(column) === definitionOf(now);
  });
}

type Columns = readonly [table: string, columns: readonly string[]];

/** Whether most values other than NULL are equal; null where there are only NULLs to compare. */
function* compareValues(
  ancestor: SchemaSide,
  branch: SchemaSide,
  older: Columns,
  newer: Columns,
): Work<boolean | null> {
  const before = yield* sample(ancestor, ...older);
  if (before.every((row) => row.every((value) => value === null))) return null;
  const after = yield* sample(branch, ...newer);
  const count = Math.min(before.length, after.length);
  let same = 0;
  for (let at = 0; at < count; at++) {
    if (before[at]?.some((value, column) => value !== null && sameValue(value, after[at]?.[column]))) same++;
  }
  return same > 0 && same * 2 >= count;
}

/** The first rows, in the engine's own order. */
function* sample({ of }: SchemaSide, table: string, columns: readonly string[]): Work<readonly Row[]> {
  if (columns.length === 0) return [];
  const read = columns.map((column) => beginning(quoted(column))).join(", ");
  const sql = `SELECT ${read} FROM ${quoted(table)} NOT INDEXED LIMIT ?`;
  const { rows } = yield* rowsWithin(of, { sql, params: [] }, SAMPLE_ROWS);
  return rows.map((row) => row.map(storedValue));
}

/** SQL for the beginning of a value, in the form that `storedValue` reads. */
function beginning(expression: string): string {
  return `CASE WHEN typeof(${expression}) IN ('text', 'blob') ` +
    `THEN substr(${tagged(expression)}, 1, ${SAMPLE_BYTES}) ELSE ${expression} END`;
}
