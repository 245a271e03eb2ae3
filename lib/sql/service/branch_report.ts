// What a comparison of a branch with its ancestor says, and what a merge adds. Rows have values in the form of answers:
// numbers, texts, digits beyond 2^53, `{ $blob }`, null.

/** A changed object of the schema. */
export interface SchemaChange {
  readonly type: "table" | "index" | "view" | "trigger";
  readonly name: string;
  readonly change: "added" | "removed" | "changed";
}

/** A changed row. */
export interface ChangedRow {
  readonly before: readonly unknown[];
  readonly after: readonly unknown[];
}

/** The changed rows of one table. */
export interface TableDiff {
  readonly table: string;
  readonly columns: readonly string[];
  /** Empty where the table has no primary key. */
  readonly primaryKey: readonly string[];
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  /** SHA-256 of all changes, hex: two equal digests mean the same changes. */
  readonly digest: string;
  /** The first few. */
  readonly rows: {
    readonly added: readonly (readonly unknown[])[];
    readonly removed: readonly (readonly unknown[])[];
    readonly changed: readonly ChangedRow[];
  };
  /** Why its rows cannot be merged; null where they can. */
  readonly obstacle: string | null;
}

/** What a branch has changed. */
export interface BranchDiff {
  /** Run in one batch, these turn the ancestor's schema into the branch's. */
  readonly schema: { readonly statements: readonly string[]; readonly changes: readonly SchemaChange[] };
  /** Tables with changed rows, by name. */
  readonly tables: readonly TableDiff[];
}

/** Something that both sides have changed in different ways. */
export interface MergeConflict {
  readonly kind: "schema" | "row" | "constraint" | "foreign_key";
  readonly table: string;
  /** The values of the primary key; for a schema conflict the name of the object. */
  readonly key: readonly unknown[];
  readonly ancestor: readonly unknown[] | null;
  /** The trunk's row; null where it has none. */
  readonly ours: readonly unknown[] | null;
  /** The branch's row; null where it has none. */
  readonly theirs: readonly unknown[] | null;
}

/** What happens to one table of the trunk, in the words of rules. */
export interface TrunkWrite {
  readonly action: "insert" | "update" | "delete" | "schema";
  readonly table: string;
  /** Null for a change of the schema. */
  readonly rows: number | null;
}

/** What a merge does or would do. */
export interface MergeReport extends BranchDiff {
  readonly conflicts: {
    readonly count: number;
    /** SHA-256 of all conflicts, hex: two equal digests mean the same conflicts. */
    readonly digest: string;
    /** The first few. */
    readonly items: readonly MergeConflict[];
  };
  /** What the merge does to the trunk, by table and action. */
  readonly writes: readonly TrunkWrite[];
  /** Rows of the trunk that the merge writes, and schema statements that it runs. */
  readonly rowsWritten: number;
  readonly statementsRun: number;
  /** Of a preview: when rows of the branch were merged before, ISO 8601. Nobody knows which of them the trunk has deleted since. */
  readonly mergedBefore?: string;
}

/** What a merge has done that was committed. */
export interface MergeDone {
  readonly report: MergeReport;
  readonly snapshotTaken: boolean;
}

/** What a restore in place would do, from the present state to the snapshot's. */
export interface RestoreEffect {
  /** Two equal digests mean the same states before and after, row by row and definition by definition. */
  readonly digest: string;
  /** By table and action, in the words of rules. A renamed table counts under both names. */
  readonly writes: readonly Omit<TrunkWrite, "rows">[];
  readonly rows: number;
  readonly schema: readonly SchemaChange[];
  /** Tables with different rows, by name. */
  readonly tables: readonly TableDiff[];
}

/** The digest for a present state that cannot be read: nothing can be compared then. */
export const UNREADABLE_DIGEST = "unreadable";

/** Rows and conflicts of each kind that a report shows. */
export const MAX_SHOWN_ROWS = 100;

type MergeEffect = BranchDiff & Pick<MergeReport, "conflicts" | "writes">;

/**
 * Equal for two merges of the same changes, row by row, that settle the same conflicts and write the same tables in
 * the same ways, to any number of rows.
 */
export function effectOf({ schema, tables, conflicts, writes }: MergeEffect): string {
  const rows = tables.map(({ table, digest }) => [table, digest]);
  return JSON.stringify([
    schema.statements,
    rows,
    conflicts.digest,
    writes.map(({ action, table }) => [action, table]),
  ]);
}

/** Equal for two merges that do exactly the same to the trunk: what was shown is what is merged. */
export function mergeEffectOf(report: MergeEffect): string {
  return JSON.stringify([effectOf(report), report.writes.map(({ rows }) => rows)]);
}
