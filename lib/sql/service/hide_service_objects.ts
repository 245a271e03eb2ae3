// Lists of a database's objects without the service's own, for tools that take whatever is listed for the application's (and
// offer to drop it), and the list of databases without the path of the file. Pure; what is asked for by name stays as it is.
import { type Stmt, traverse } from "sqlite3-parser";
import { parseStmt } from "../grammar/grammar.ts";
import { quoteIdentifier } from "../words/quote.ts";

/** The table `sqlite_schema` under all its names, and the list of tables, with the column that names the table. */
const CATALOGUES: ReadonlyMap<string, string> = new Map([
  ["sqlite_schema", "tbl_name"],
  ["sqlite_master", "tbl_name"],
  ["pragma_table_list", "name"],
]);

const MAY_LIST = /sqlite_(?:schema|master)|(?:table|database)_list/i;
const OWN = "'!_service!_meta!_%' ESCAPE '!'";

/** What stands in the place of a PRAGMA that lists, by its lower-case name. */
const LISTS: ReadonlyMap<string, string> = new Map([
  ["table_list", `SELECT * FROM pragma_table_list WHERE name NOT LIKE ${OWN}`],
  // As the engine tells of a database without a file. MikroORM begins with it.
  ["database_list", "SELECT 0 AS seq, 'main' AS name, '' AS file"],
]);

/** A part of the text and what stands in its place. */
interface Replacement {
  readonly at: number;
  readonly end: number;
  readonly text: string;
}

/** The statement with every catalogue in FROM narrowed to the tenant's objects; any other text unchanged. */
export function hideServiceObjects(sql: string): string {
  if (!MAY_LIST.test(sql)) return sql;
  try {
    const parsed = parseStmt(sql);
    return parsed.status === "ok" ? narrowed(sql, parsed.root) : sql;
  } catch (error) {
    // Too deep for the parser; whoever understands the statement says so.
    if (error instanceof RangeError) return sql;
    throw error;
  }
}

function narrowed(sql: string, root: Stmt): string {
  if (root.type === "PragmaStmt") {
    const list = root.body === undefined ? LISTS.get(root.name.objName.text.toLowerCase()) : undefined;
    return list ?? sql;
  }
  // What is stored in the schema would see the service's objects by its own name only.
  if (root.type === "CreateViewStmt" || root.type === "CreateTriggerStmt") return sql;
  const replacements: Replacement[] = [];
  const shadowed = new Set<string>();
  traverse(root, {
    enter(node) {
      if (node.type === "CommonTableExpr") shadowed.add(node.tblName.text.toLowerCase());
    },
  });
  traverse(root, {
    enter(node) {
      const isTable = node.type === "TableSelectTable" ||
        (node.type === "TableCallSelectTable" && (node.args ?? []).length === 0);
      if (!isTable) return;
      const name = node.tblName.objName.text;
      const column = CATALOGUES.get(name.toLowerCase());
      const isCte = node.tblName.dbName === undefined && shadowed.has(name.toLowerCase());
      if (column === undefined || isCte) return;
      const { offset, length } = node.tblName.span;
      const table = sql.slice(offset, offset + length);
      const alias = node.alias === undefined ? ` AS ${quoteIdentifier(name)}` : "";
      const end = node.type === "TableCallSelectTable" ? endOfCall(sql, offset + length) : offset + length;
      replacements.push({
        at: offset,
        end,
        text: `(SELECT * FROM ${table} WHERE ${column} NOT LIKE ${OWN})${alias}`,
      });
    },
  });
  return replaced(sql, replacements);
}

/** `name()`: behind the parentheses. */
function endOfCall(sql: string, from: number): number {
  return sql.indexOf(")", from) + 1;
}

function replaced(sql: string, replacements: readonly Replacement[]): string {
  let text = "";
  let done = 0;
  for (const { at, end, text: own } of [...replacements].sort((one, other) => one.at - other.at)) {
    text += sql.slice(done, at) + own;
    done = end;
  }
  return text + sql.slice(done);
}
