// A database as a list of items, in the order in which it is built: what a file or a text holds, without being a file.
import type { StoredValue } from "../../../sql/words/stored_text.ts";
import type { DatabaseSync } from "node:sqlite";
import { quoteIdentifier as quoted } from "../../../sql/words/quote.ts";
import { exactRows, type RowSource } from "./engine_rows.ts";
import type { FilePlan } from "./file_plan.ts";
import type { TableSource } from "./table_source.ts";

/** One step of building a database. `at`: where it stands in what was read, for messages. */
export type Item =
  | {
    readonly t: "object";
    readonly type: ObjectKind;
    readonly name: string;
    readonly sql: string;
    readonly at?: string;
  }
  | RowsItem
  | { readonly t: "sequence"; readonly table: string; readonly value: bigint }
  | ConfigItem
  /** Fills the index of a full-text table from the rows of another table. */
  | { readonly t: "rebuild"; readonly table: string }
  | { readonly t: "version"; readonly value: bigint }
  /** Something that cannot be taken along. */
  | { readonly t: "notKept"; readonly what: string }
  /** A statement of a dump that has to run as it is. */
  | { readonly t: "statement"; readonly sql: string; readonly at: string };

/** A setting of a full-text table. */
export interface ConfigItem {
  readonly t: "config";
  readonly table: string;
  readonly name: string;
  readonly value: StoredValue;
}

/** What a CREATE statement makes. */
export type ObjectKind = "table" | "virtual" | "index" | "view" | "trigger";

/** Rows of one table. */
export interface RowsItem {
  readonly t: "rows";
  readonly table: string;
  /** As INSERT has them; null: all columns in their order. */
  readonly columns: readonly string[] | null;
  readonly rows: readonly (readonly StoredValue[])[];
  /** The table is storage of a virtual table, whose own rows it replaces. */
  readonly storage?: true;
  readonly at?: string;
  /** The line of each row's statement, where the rows are those of several. */
  readonly lines?: readonly number[];
}

/** Rows and about how many bytes go into one item. */
const ROWS_AT_ONCE = 500;
const BYTES_AT_ONCE = 512 * 1024;

/** A step whose rows are still to be read: those of a table, or of the storage of a virtual table. */
export type Step = Exclude<Item, RowsItem> | { readonly t: "source"; readonly source: TableSource };

/** The steps that build the file again, in their order. */
export function* planSteps(plan: FilePlan): Generator<Step> {
  for (const what of plan.notKept) yield { t: "notKept", what };
  for (const source of plan.tables) {
    yield { t: "object", type: "table", name: source.name, sql: source.sql };
    yield { t: "source", source };
  }
  for (const [table, value] of plan.sequence) yield { t: "sequence", table, value };
  for (const { name, sql } of plan.indexes) yield { t: "object", type: "index", name, sql };
  for (const source of plan.virtual) {
    yield { t: "object", type: "virtual", name: source.name, sql: source.sql };
    if (source.fills !== "rebuild") yield { t: "source", source };
    if (source.fills === "storage") continue;
    for (const [name, value] of source.config) yield { t: "config", table: source.name, name, value };
  }
  for (const { name, sql } of plan.views) yield { t: "object", type: "view", name, sql };
  for (const { name, fills } of plan.virtual) if (fills === "rebuild") yield { t: "rebuild", table: name };
  for (const { name, sql } of plan.triggers) yield { t: "object", type: "trigger", name, sql };
  yield { t: "version", value: plan.userVersion };
}

/** The same table, without what its index stores where that is all it has. */
export function emptied(source: TableSource): TableSource {
  return source.fills === "storage" ? { ...source, storage: [] } : source;
}

/** Says that an index is empty which has no rows to be made of. */
export function emptyIndex(table: string): Item {
  return {
    t: "notKept",
    what: `the rows of the index ${table}: it has none to be built of, and is empty`,
  };
}

/** A file as items. */
export function* fileItems(db: DatabaseSync, plan: FilePlan): Generator<Item> {
  for (const step of planSteps(plan)) {
    if (step.t !== "source") yield step;
    else if (step.source.fills === "storage") yield* storageItems(db, step.source, plan);
    else yield* rowItems(db, step.source, plan);
  }
}

function* rowItems(
  db: DatabaseSync,
  source: TableSource,
  { encoding }: Pick<FilePlan, "encoding">,
): Generator<RowsItem> {
  const targets = [...source.rowid ? [source.rowid] : [], ...source.columns].map(({ target }) => target);
  yield* inParts(source.name, targets, exactRows(db, source, { withRowid: true, encoding }));
}

/** The storage of an index that has no rows to be made of. */
function* storageItems(
  db: DatabaseSync,
  { storage }: TableSource,
  { encoding }: Pick<FilePlan, "encoding">,
): Generator<RowsItem> {
  for (const { name, columns } of storage) {
    const source = storageSource(name, columns);
    // Where the table has no rows, its first ones still have to go.
    yield { t: "rows", table: name, columns, rows: [], storage: true };
    for (const item of inParts(name, columns, exactRows(db, source, { withRowid: false, encoding }))) {
      yield { ...item, storage: true };
    }
  }
}

/** A table of a virtual table's storage as rows. */
export function storageSource(name: string, columns: readonly string[]): RowSource {
  return {
    name,
    from: quoted(name),
    order: "1",
    rowid: null,
    columns: columns.map((target) => ({ name: target, target, select: target })),
  };
}

function* inParts(
  table: string,
  columns: readonly string[],
  rows: Iterable<readonly StoredValue[]>,
): Generator<RowsItem> {
  let part: (readonly StoredValue[])[] = [];
  let bytes = 0;
  for (const row of rows) {
    part.push(row);
    bytes += sizeOf(row);
    if (part.length < ROWS_AT_ONCE && bytes < BYTES_AT_ONCE) continue;
    yield { t: "rows", table, columns, rows: part };
    part = [];
    bytes = 0;
  }
  if (part.length > 0) yield { t: "rows", table, columns, rows: part };
}

function sizeOf(row: readonly StoredValue[]): number {
  let bytes = 0;
  for (const value of row) {
    if (typeof value === "string" || value instanceof Uint8Array) bytes += value.length;
    else bytes += 8;
  }
  return bytes;
}
