// What a restore in place would do: the present state as the ancestor, the snapshot as the branch that replaces it.
import { sameName } from "../../sql/words/names.ts";
import { sha256 } from "../../core/sha256.ts";
import type { RestoreEffect, TrunkWrite } from "../../sql/service/branch_report.ts";
import { type ComparedPair, type CompareOptions, compareSides } from "./compare_sides.ts";
import { rowChanges } from "./row_changes.ts";
import { RowsDigest } from "./rows_digest.ts";
import { indexPairs, type SchemaSide } from "./table_pair.ts";
import type { Work } from "./work.ts";

/** Finds the effect of a restore. */
export function* restoreEffect(options: Omit<CompareOptions, "holdBytes">): Work<RestoreEffect> {
  const { ancestor, branch, diff, pairs } = yield* compareSides({ ...options, holdBytes: 0 });
  const texts = [ancestor, branch].map(({ shape }) =>
    shape.objects.map(({ type, name, sql }) => [type, name, sql])
  );
  const indexes = yield* changedIndexes(ancestor, branch);
  const rows = [...diff.tables, ...indexes].map(({ table, digest }) => [table, digest]);
  const schema = diff.schema.changes;
  const changed = schema.flatMap((one) => [ancestor, branch].flatMap((side) => tableOf(side, one)));
  const written = [
    ...pairs.flatMap(rowWrites),
    ...indexes.flatMap(({ table }) =>
      (["insert", "update", "delete"] as const).map((action) => ({ action, table }))
    ),
    ...changed.map((table) => ({ action: "schema", table }) as const),
  ];
  return {
    digest: sha256().update(JSON.stringify([texts, rows])).digest("hex"),
    writes: [...new Map(written.map((one) => [`${one.action} ${one.table}`, one])).values()],
    rows: diff.tables.reduce((sum, { added, removed, changed }) => sum + added + removed + changed, 0) +
      indexes.reduce((sum, { rows }) => sum + rows, 0),
    schema,
    tables: diff.tables,
  };
}

interface ChangedIndex {
  readonly table: string;
  readonly digest: string;
  readonly rows: number;
}

/** Full-text indexes whose content differs; their row changes are not listed. */
function* changedIndexes(ancestor: SchemaSide, branch: SchemaSide): Work<ChangedIndex[]> {
  const found: ChangedIndex[] = [];
  for (const pair of indexPairs(ancestor, branch)) {
    const digest = new RowsDigest();
    let rows = 0;
    yield* rowChanges(pair, { rowsRead: 0 }, function* (changes) {
      for (const { kind, before, after } of changes) digest.add(kind, [before, after]);
      rows += changes.length;
    });
    if (rows > 0) found.push({ table: pair.table, digest: digest.hex, rows });
  }
  return found;
}

type Write = Omit<TrunkWrite, "rows">;

function rowWrites({ pair: { table, ancestor }, diff }: ComparedPair): Write[] {
  if (diff === null) return [];
  const names = [...new Set([table, ancestor?.table ?? table])];
  const actions = [
    ...(diff.added > 0 ? ["insert"] as const : []),
    ...(diff.changed > 0 ? ["update"] as const : []),
    ...(diff.removed > 0 ? ["delete"] as const : []),
  ];
  return names.flatMap((name) => actions.map((action) => ({ action, table: name })));
}

/** The table of a changed object, as the side names it. */
function tableOf(
  { shape }: SchemaSide,
  { type, name }: { readonly type: string; readonly name: string },
): string[] {
  const found = shape.objects.find((one) => one.type === type && sameName(one.name, name));
  return found === undefined ? [] : [found.table];
}
