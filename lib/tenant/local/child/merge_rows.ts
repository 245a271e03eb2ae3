// Brings a branch's row changes into the trunk: removed rows first, then changed ones, then added ones, so that values
// which must be unique are free when they are needed.
import type { TableDiff } from "../../../sql/branch_report.ts";
import { quoteIdentifier as quoted } from "../../../sql/quote.ts";
import { objectKey, type SchemaShape } from "../../../sql/schema_shape.ts";
import { isReservedName } from "../../../sql/service_tables.ts";
import { brokenReferences, referringTables } from "./broken_references.ts";
import type { Connection } from "./connection.ts";
import type { Compared } from "./diff.ts";
import type { MergeRun } from "./merge_run.ts";
import { rowChanges } from "./row_changes.ts";
import { readSchema } from "./schema_reader.ts";
import { derivedIndexes, type SchemaSide, type TablePair, tablePairs } from "./table_pair.ts";
import { TrunkTable } from "./trunk_table.ts";

/** Works in the open transaction. Throws what the engine throws; what cannot be merged becomes `run.refusal`. */
export function mergeRows(
  run: MergeRun,
  { diff, known }: Compared,
  ancestor: SchemaSide,
  branch: SchemaSide,
): void {
  const writer = run.trunk.writer();
  const trunk = readSchema(writer);
  const diffs = new Map(diff.tables.map((one) => [one.table, one]));
  // A table that the branch has dropped goes by a merge of the schema.
  const changed = tablePairs(ancestor, branch, known).filter((pair) =>
    pair.branch !== null && diffs.has(pair.table)
  );
  for (const pair of changed) run.refusal ??= obstacleOf(pair, trunk) ?? unreadable(pair);
  if (run.refusal !== null) return;
  const names = new Set(changed.map(({ table }) => table));
  const referring = referringTables(writer, names);
  const brokenBefore = brokenReferences(writer, referring);
  const triggers = dropTriggers(writer, names);
  for (const pair of changed) mergeTable(run, pair, diffs.get(pair.table));
  for (const { name, content } of derivedIndexes(trunk)) {
    if (!names.has(content)) continue;
    writer.internalRun(`INSERT INTO ${quoted(name)}(${quoted(name)}) VALUES ('rebuild')`);
  }
  for (const sql of triggers) writer.database.exec(sql);
  for (const [key, broken] of brokenReferences(writer, referring)) {
    if (brokenBefore.has(key)) continue;
    run.conflict({
      ...{ kind: "foreign_key", table: broken.table, key: [broken.rowid] },
      ...{ ancestor: null, ours: null, theirs: null },
    }, false);
  }
}

function mergeTable(run: MergeRun, pair: TablePair, diff: TableDiff | undefined): void {
  const table = new TrunkTable(run, pair);
  for (const kind of ["removed", "changed", "added"] as const) {
    if (!diff?.[kind]) continue;
    // Found anew for each kind rather than held: a branch may have changed any number of rows.
    for (const change of rowChanges(pair, { rowsRead: 0 })) {
      if (change.kind !== kind) continue;
      table.apply(change);
      if (run.refusal !== null) return;
    }
    table.settlePostponed();
  }
}

function obstacleOf(pair: TablePair, trunk: SchemaShape): string | null {
  if (pair.obstacle !== null) return `${pair.obstacle}: ${pair.table}`;
  const columns = [...trunk.columns].find(([name]) => objectKey(name) === objectKey(pair.table))?.[1];
  const known = new Set(columns?.map(({ name }) => objectKey(name)) ?? []);
  const missing = pair.columns.find((name) => !known.has(objectKey(name)) && name !== "rowid");
  if (columns !== undefined && missing === undefined) return null;
  const what = columns === undefined ? pair.table : `${pair.table}.${missing}`;
  return `Merge the schema first; the trunk has no ${what}`;
}

/** The engine's reader stops at U+0000: a text that holds one, which only SQL functions can make, would be cut. */
function unreadable({ table, branch }: TablePair): string | null {
  if (branch === null) return null;
  const holds = branch.columns.map((column) => `(typeof(${column}) = 'text' AND instr(${column}, char(0)))`);
  const row = branch.connection.internalRow(
    `SELECT 1 FROM ${quoted(branch.table)} WHERE ${holds.join(" OR ")} LIMIT 1`,
  );
  return row === undefined ? null : `Take U+0000 out of the texts of ${table} first; they would be cut`;
}

/** What triggers did is among the branch's changes: they must not do it again. Returns what makes them anew. */
function dropTriggers(writer: Connection, tables: ReadonlySet<string>): string[] {
  const keys = new Set([...tables].map(objectKey));
  const rows = writer.internalRows(
    "SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid",
  ).filter(([name, table]) => !isReservedName(String(name)) && keys.has(objectKey(String(table))));
  for (const [name] of rows) writer.database.exec(`DROP TRIGGER ${quoted(String(name))}`);
  return rows.map(([, , sql]) => String(sql));
}
