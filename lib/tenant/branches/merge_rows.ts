// Merges a branch's row changes into the trunk: removed rows first, then changed ones, then added ones, so that unique
// values are free when they are needed.
import { foldName, sameName } from "../../sql/words/names.ts";
import { quoteIdentifier as quoted } from "../../sql/words/quote.ts";
import type { SchemaShape } from "../../sql/schema/schema_shape.ts";
import { isReservedName } from "../../sql/words/service_tables.ts";
import { brokenReferences, referringTables } from "./broken_references.ts";
import type { Compared, ComparedPair } from "./compare_sides.ts";
import type { MergeRun } from "./merge_run.ts";
import { readSchema } from "./read_schema.ts";
import type { RowChange } from "./row_change.ts";
import { rowChanges } from "./row_changes.ts";
import { derivedIndexes } from "./table_pair.ts";
import { TrunkTable } from "./trunk_table.ts";
import { mustAll, rowsOf, type Work } from "./work.ts";

/** Merges in the open transaction. Throws what the engine throws; changes that cannot be merged set `run.refusal`. */
export function* mergeRows(run: MergeRun, { pairs }: Compared): Work<void> {
  const trunk = yield* readSchema("trunk");
  // The merge of the schema drops a table that the branch has dropped.
  const changed = pairs.filter(({ pair, diff }) => pair.branch !== null && diff !== null);
  for (const one of changed) run.refusal ??= obstacleOf(one, trunk);
  if (run.refusal !== null || changed.length === 0) return;
  const names = new Set(changed.map(({ pair }) => pair.table));
  const referring = yield* referringTables(names);
  const brokenBefore = yield* brokenReferences(referring);
  const triggers = yield* dropTriggers(names);
  for (const one of changed) yield* mergeTable(run, one);
  if (run.refusal !== null) return;
  const rebuilt = derivedIndexes(trunk).filter(({ content }) => names.has(content));
  const rebuild = rebuilt.map(({ name }) =>
    `INSERT INTO ${quoted(name)}(${quoted(name)}) VALUES ('rebuild')`
  );
  yield* mustAll("trunk", [...rebuild, ...triggers].map((sql) => ({ sql, params: [] })));
  for (const [key, broken] of yield* brokenReferences(referring)) {
    if (brokenBefore.has(key)) continue;
    run.conflict({
      kind: "foreign_key",
      table: broken.table,
      key: [broken.rowid],
      ancestor: null,
      ours: null,
      theirs: null,
    });
  }
}

function* mergeTable(run: MergeRun, { pair, diff, changes }: ComparedPair): Work<void> {
  const table = new TrunkTable(run, pair);
  for (const kind of ["removed", "changed", "added"] as const) {
    if (!diff?.[kind]) continue;
    const apply = (some: readonly RowChange[]) => table.apply(some.filter((one) => one.kind === kind));
    // Changes that were too many to hold are found again for each kind.
    if (changes === null) yield* rowChanges(pair, { rowsRead: 0 }, apply);
    else yield* apply(changes);
    if (run.refusal !== null) return;
    yield* table.settlePostponed();
  }
  yield* table.countReplaced();
}

function obstacleOf({ pair, diff }: ComparedPair, trunk: SchemaShape): string | null {
  const obstacle = diff?.obstacle ?? null;
  if (obstacle !== null) return `${obstacle} (${pair.table})`;
  const columns = [...trunk.columns].find(([name]) => sameName(name, pair.table))?.[1];
  const known = new Set(columns?.map(({ name }) => foldName(name)) ?? []);
  const told = pair.columns.slice(pair.hasOwnRowid ? 1 : 0);
  const missing = told.find((name) => !known.has(foldName(name)));
  if (columns !== undefined && missing === undefined) return null;
  const what = columns === undefined ? pair.table : `${pair.table}.${missing}`;
  return `Merge the schema first; the trunk has no ${what}`;
}

/** Drops triggers, whose effects are already among the branch's changes. Returns the statements that create them again. */
function* dropTriggers(tables: ReadonlySet<string>): Work<string[]> {
  const keys = new Set([...tables].map(foldName));
  const sql = "SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid";
  const rows = (yield* rowsOf("trunk", sql)).filter(([name, table]) =>
    !isReservedName(String(name)) && keys.has(foldName(String(table)))
  );
  const drops = rows.map(([name]) => ({ sql: `DROP TRIGGER ${quoted(String(name))}`, params: [] }));
  yield* mustAll("trunk", drops);
  return rows.map(([, , sql]) => String(sql));
}
