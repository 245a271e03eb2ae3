// A database's schema as plain data, and the proof that statements turn one schema into another: they are run on an
// empty database in memory.
import { isReservedName } from "../../../sql/service_tables.ts";
import { schemaChanges, schemaRenames } from "../../../sql/schema_diff.ts";
import {
  type ColumnShape,
  objectKey,
  type ObjectType,
  sameShape,
  type SchemaObject,
  type SchemaShape,
} from "../../../sql/schema_shape.ts";
import type { KnownRenames } from "../../../sql/table_lineage.ts";
import { Connection } from "./connection.ts";

export function readSchema(connection: Connection): SchemaShape {
  const shadows = new Set(
    connection.internalRows("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow'")
      .map(([name]) => objectKey(String(name))),
  );
  const objects = connection.internalRows(
    "SELECT type, name, tbl_name, sql, rootpage FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid",
  ).map(([type, name, table, sql, rootPage]): SchemaObject => ({
    type: objectType(type),
    name: String(name),
    table: String(table),
    sql: String(sql),
    rootPage: Number(rootPage ?? 0),
  })).filter(({ name, table }) =>
    !isReservedName(name) && !isReservedName(table) && !shadows.has(objectKey(table))
  );
  const columns = new Map(
    objects.filter(({ type }) => type === "table").map(({ name }) => [name, readColumns(connection, name)]),
  );
  return { objects, columns, userVersion: Number(connection.internalRow("PRAGMA user_version")?.[0] ?? 0) };
}

/** Statements that make one schema the other one: with renames where that comes out right, else without. */
export function provenStatements(
  from: SchemaShape,
  to: SchemaShape,
  known: KnownRenames,
): readonly string[] {
  const renames = schemaRenames(from, to, known);
  if (renames.length === 0) return schemaChanges(from, to);
  // The engine writes a new column name as the statement has it, so either way may give the very text that is wanted.
  const proven = [renames.map(bare), renames].map((some) => attempt(from, to, some)).filter((one) =>
    one !== null
  );
  return proven.sort((a, b) => a.length - b.length)[0] ?? schemaChanges(from, to);
}

/** The last name of a statement without its quotes, where it can do without. */
function bare(sql: string): string {
  return sql.replace(/"([A-Za-z_]\w*)"$/, "$1");
}

function attempt(from: SchemaShape, to: SchemaShape, renames: readonly string[]): string[] | null {
  const trial = new Connection(":memory:", false);
  try {
    for (const type of ["table", "index", "view", "trigger"]) {
      for (const one of from.objects) if (one.type === type) trial.database.exec(one.sql);
    }
    trial.database.exec(`PRAGMA user_version = ${from.userVersion}`);
    for (const sql of renames) trial.database.exec(sql);
    const rest = schemaChanges(readSchema(trial), to);
    for (const sql of rest) trial.database.exec(sql);
    return sameShape(readSchema(trial), to) ? [...renames, ...rest] : null;
  } catch {
    return null; // a schema that the engine cannot make anew, or a rename that does not fit it
  } finally {
    trial.close();
  }
}

/** A view's or a broken table's columns are of no use here. */
function readColumns(connection: Connection, table: string): ColumnShape[] {
  try {
    return connection.internalRows(
      'SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?) ORDER BY cid',
      table,
    ).map(([name, type, notNull, defaultSql, keyPlace, hidden]) => ({
      name: String(name),
      type: String(type ?? ""),
      notNull: notNull === 1,
      defaultSql: typeof defaultSql === "string" ? defaultSql : null,
      keyPlace: Number(keyPlace),
      hidden: Number(hidden),
    }));
  } catch {
    return [];
  }
}

function objectType(type: unknown): ObjectType {
  return type === "index" || type === "view" || type === "trigger" ? type : "table";
}
