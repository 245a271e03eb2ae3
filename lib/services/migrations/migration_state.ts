// What a database knows of its migrations.
import { isoTime } from "../../core/clock.ts";
import type { SchemaChange } from "../../sql/service/branch_report.ts";
import {
  changedObjects,
  type MigrationRecord,
  OBJECTS,
  objectsText,
  readRecords,
  RECORDED_OBJECTS,
  RECORDS,
} from "../../sql/service/migration_records.ts";
import { type Cell, rowsOf } from "../query/read_result.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import { readRows } from "../schema/read_rows.ts";
import type { SchemaObject } from "../../sql/hints/lost_objects.ts";

/** The records of one moment. */
export interface MigrationState {
  /** Oldest first. */
  readonly records: readonly MigrationRecord[];
  /** What has changed in the schema since the newest one was applied; null: there is none. */
  readonly drift: readonly SchemaChange[] | null;
  /** What the schema consists of. */
  readonly objects: readonly SchemaObject[];
}

/** A record as the API shows it. */
export interface MigrationView extends Omit<MigrationRecord, "appliedAt"> {
  readonly appliedAt: string;
}

/** Reads the state; free, and not in the query log. Errors: those of the pipeline. */
export async function readState(ctx: StatementsContext): Promise<MigrationState> {
  const [records, recorded, objects] = await readRows(ctx, [RECORDS, RECORDED_OBJECTS, OBJECTS]);
  const [row] = rowsOf<[text: string | null]>(recorded);
  const before = row?.[0] ?? null;
  const now = rowsOf<Cell[]>(objects);
  return {
    records: readRecords(rowsOf<Cell[]>(records)),
    drift: before === null ? null : changedObjects(before, objectsText(now)),
    objects: now.map(([type, name, table]) => ({
      type: String(type),
      name: String(name),
      table: String(table),
    })),
  };
}

/** The applied files, oldest first, and what has changed in the schema since. Errors: those of the pipeline. */
export async function listMigrations(
  ctx: StatementsContext,
): Promise<{ readonly data: readonly MigrationView[]; readonly drift: MigrationState["drift"] }> {
  const { records, drift } = await readState(ctx);
  return { data: records.map((one) => ({ ...one, appliedAt: isoTime(one.appliedAt) })), drift };
}

/**
 * What an import takes away, as its answer names it: a file has no records of migrations, and those of the present database
 * say nothing of it. Errors: those of the pipeline.
 */
export async function lostRecords(ctx: StatementsContext): Promise<string[]> {
  const { records } = await readState(ctx);
  return records.length === 0 ? [] : [
    `the ${records.length} records of migrations: record a baseline of the files that are in effect now`,
  ];
}
