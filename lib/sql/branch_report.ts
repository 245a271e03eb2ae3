// What a comparison of a branch with its ancestor says, and what a merge adds to it. Rows hold values in the form of
// answers: numbers, texts, digits beyond 2^53, `{ $blob }`, null.

/** How rows are shown. */
export interface RowForm {
  /** Every INTEGER is a string of digits. */
  readonly integersAsStrings: boolean;
}

export interface SchemaChange {
  readonly type: "table" | "index" | "view" | "trigger";
  readonly name: string;
  readonly change: "added" | "removed" | "changed";
}

export interface ChangedRow {
  readonly before: readonly unknown[];
  readonly after: readonly unknown[];
}

/** Rows of one table that are not the same. */
export interface TableDiff {
  readonly table: string;
  readonly columns: readonly string[];
  /** Empty: the table has no primary key. */
  readonly primaryKey: readonly string[];
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  /** SHA-256 of all changes, hex: another one means other changes. */
  readonly digest: string;
  /** The first of them. */
  readonly rows: {
    readonly added: readonly (readonly unknown[])[];
    readonly removed: readonly (readonly unknown[])[];
    readonly changed: readonly ChangedRow[];
  };
  /** Why its rows cannot be merged, or null. */
  readonly obstacle: string | null;
}

export interface BranchDiff {
  /** Run in one batch, they make the ancestor's schema the branch's. */
  readonly schema: { readonly statements: readonly string[]; readonly changes: readonly SchemaChange[] };
  /** Those with changed rows, by name. */
  readonly tables: readonly TableDiff[];
}

/** Something that both sides have changed, and not to the same. */
export interface MergeConflict {
  readonly kind: "schema" | "row" | "constraint" | "foreign_key";
  readonly table: string;
  /** Values of the primary key; of a schema conflict the name of the object. */
  readonly key: readonly unknown[];
  readonly ancestor: readonly unknown[] | null;
  /** The trunk's. Null where it has none. */
  readonly ours: readonly unknown[] | null;
  /** The branch's. Null where it has none. */
  readonly theirs: readonly unknown[] | null;
}

/** What happens to one table of the trunk, as rules name it. */
export interface TrunkWrite {
  readonly action: "insert" | "update" | "delete" | "schema";
  readonly table: string;
  /** Null where the schema changes. */
  readonly rows: number | null;
}

export interface MergeReport extends BranchDiff {
  readonly conflicts: {
    readonly count: number;
    /** SHA-256 of all of them, hex: another one means other conflicts. */
    readonly digest: string;
    /** The first of them. */
    readonly items: readonly MergeConflict[];
  };
  /** What the merge does to the trunk, whatever the branch has changed: by table and action. */
  readonly writes: readonly TrunkWrite[];
  /** Rows of the trunk that the merge writes, and statements of its schema that it runs. */
  readonly rowsWritten: number;
  readonly statementsRun: number;
}

/** What a restore in place would do, from the present state (`before`) to that of the snapshot. */
export interface RestoreEffect {
  /** Another one means another state before or behind it, row by row and definition by definition. */
  readonly digest: string;
  /** By table and action, as rules name them; a renamed table under both of its names. */
  readonly writes: readonly Omit<TrunkWrite, "rows">[];
  readonly rows: number;
  readonly schema: readonly SchemaChange[];
  /** Those with other rows, by name. */
  readonly tables: readonly TableDiff[];
}

/** Of a restore over a state that cannot be read: nothing of it can be compared. */
export const UNREADABLE_DIGEST = "unreadable";

/** Rows and conflicts of a kind that a report shows. */
export const MAX_SHOWN_ROWS = 100;

type MergeEffect = BranchDiff & Pick<MergeReport, "conflicts" | "writes">;

/**
 * The same for two merges of the same changes of a branch, row by row, that settle the same conflicts and write to the
 * same tables in the same ways, to however many rows.
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

/** The same for two merges that do exactly the same to the trunk: what was looked at is what is merged. */
export function mergeEffectOf(report: MergeEffect): string {
  return JSON.stringify([effectOf(report), report.writes.map(({ rows }) => rows)]);
}
