// A database's schema as plain data.
import { foldName, SHADOW_TABLES } from "../../sql/words/names.ts";
import { isReservedName } from "../../sql/words/service_tables.ts";
import {
  type ColumnShape,
  objectType,
  type SchemaObject,
  type SchemaShape,
} from "../../sql/schema/schema_shape.ts";
import { type Answer, mayAll, mustAll, type Side, type Work } from "./work.ts";

const SCHEMA = [
  SHADOW_TABLES,
  "SELECT type, name, tbl_name, sql, rootpage FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid",
  "SELECT user_version FROM pragma_user_version",
].map((sql) => ({ sql, params: [] }));
const COLUMNS =
  'SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?) ORDER BY cid';

/** Reads the schema of one side. */
export function* readSchema(of: Side): Work<SchemaShape> {
  const [shadowed = [], listed = [], version = []] = yield* mustAll(of, SCHEMA);
  const shadows = new Set(shadowed.map(([name]) => foldName(String(name))));
  const objects = listed.map(([type, name, table, sql, rootPage]): SchemaObject => ({
    type: objectType(type),
    name: String(name),
    table: String(table),
    sql: String(sql),
    rootPage: Number(rootPage ?? 0),
  })).filter(({ name, table }) =>
    !isReservedName(name) && !isReservedName(table) && !shadows.has(foldName(table))
  );
  const tables = objects.filter(({ type }) => type === "table");
  const answers = yield* mayAll(of, tables.map(({ name }) => ({ sql: COLUMNS, params: [name] })));
  const columns = new Map(tables.map(({ name }, at) => [name, columnShapes(answers[at])]));
  return { objects, columns, userVersion: Number(version[0]?.[0] ?? 0) };
}

/** Leaves out the columns of a broken table. */
function columnShapes(answer: Answer | undefined): ColumnShape[] {
  if (!answer?.ok) return [];
  return answer.rows.map(([name, type, notNull, defaultSql, keyIndex, hidden]) => ({
    name: String(name),
    type: String(type ?? ""),
    notNull: Number(notNull) === 1,
    defaultSql: typeof defaultSql === "string" ? defaultSql : null,
    keyIndex: Number(keyIndex),
    hidden: Number(hidden),
  }));
}
