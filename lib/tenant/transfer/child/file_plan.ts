// What a database file holds, in the order in which it is written again: tables, then indexes, virtual tables, views and
// triggers. The service's own tables, the engine's and the storage of virtual tables are left out without a word.
import { allowedModules } from "../../../sql/words/functions.ts";
import { foldName } from "../../../sql/words/names.ts";
import {
  isEngineTable,
  isReservedName,
  isServiceTable,
  ownServiceTables,
} from "../../../sql/words/service_tables.ts";
import { moduleOf } from "../../../sql/tokens/module_of.ts";
import { splitStatements } from "../../../sql/tokens/split_statements.ts";
import { sqlTokens } from "../../../sql/tokens/sql_tokens.ts";
import { ask, type Asking, type Rows } from "./asking.ts";
import { NotTaken, Unreadable } from "./not_taken.ts";
import type { Encoding } from "./exact_value.ts";
import { type ListedTables, type TableSource, tableSource, virtualSource } from "./table_source.ts";

/** An index, a view or a trigger. */
export interface PlannedObject {
  readonly type: "index" | "view" | "trigger";
  readonly name: string;
  readonly sql: string;
}

/** A whole file, or one table of it. */
export interface FilePlan {
  readonly encoding: Encoding;
  readonly tables: readonly TableSource[];
  readonly virtual: readonly TableSource[];
  readonly indexes: readonly PlannedObject[];
  readonly views: readonly PlannedObject[];
  readonly triggers: readonly PlannedObject[];
  /** The highest ids that AUTOINCREMENT has given, by table. */
  readonly sequence: readonly (readonly [table: string, value: bigint])[];
  readonly userVersion: bigint;
  /** What is there and cannot be taken along, each with its reason. */
  readonly notKept: readonly string[];
}

/** Reads the schema. `table`: that table only. Throws `Unreadable` for a schema that no engine has written. */
export function* planFile(table: string | null, encoding: Encoding): Asking<FilePlan> {
  const rows = yield* ask("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid");
  checkNames(rows);
  // Once: the engine lists all tables to say something of one.
  const listed = yield* ask("SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main'");
  const namesWhere = (holds: (row: Rows[number]) => boolean) =>
    new Set(listed.filter(holds).map(([name]) => foldName(String(name))));
  const shadows = namesWhere(([, type]) => type === "shadow");
  const tables = { all: namesWhere(() => true), withoutRowid: namesWhere(([, , wr]) => Number(wr) === 1) };
  const wanted = table === null ? null : foldName(table);
  const plan = {
    ...{ tables: [], virtual: [], indexes: [], views: [], triggers: [], notKept: [] } as Growing,
    encoding,
    sequence: yield* sequenceOf(wanted),
    userVersion: integerOf(yield* ask("SELECT user_version FROM pragma_user_version")),
  };
  for (const [type, name, of, sql] of rows) {
    if (typeof sql !== "string" || typeof name !== "string" || typeof of !== "string") continue;
    if (type === "table" && isServiceTable(name) && !ownServiceTables.has(foldName(name))) {
      plan.notKept.push(`table ${name}: names that begin with _service_meta_ belong to the service`);
    }
    if (isReservedName(name) || isReservedName(of) || shadows.has(foldName(of))) continue;
    if (wanted !== null && foldName(of) !== wanted) continue;
    checkText(String(type), name, sql);
    yield* addObject(plan, { type: String(type), name, sql, tables });
  }
  return plan;
}

type Growing = {
  -readonly [Part in "tables" | "virtual" | "indexes" | "views" | "triggers" | "notKept"]:
    FilePlan[Part][number][];
};

interface PlannedText {
  readonly type: string;
  readonly name: string;
  readonly sql: string;
}

function* addObject(
  plan: Growing,
  { type, name, sql, tables }: PlannedText & { readonly tables: ListedTables },
): Asking<void> {
  if (type === "index" || type === "view" || type === "trigger") {
    const lists = { index: plan.indexes, view: plan.views, trigger: plan.triggers };
    lists[type].push({ type, name, sql });
    return;
  }
  const module = moduleOf(sql);
  if (module === null) plan.tables.push(yield* tableSource({ name, sql, tables }));
  else if (allowedModules.has(module)) plan.virtual.push(yield* virtualSource({ name, sql, module, tables }));
  else plan.notKept.push(`table ${name}: the module ${module} is not available`);
}

/** Behind this the engine is asked, under names of its own. */
function checkNames(rows: Rows): void {
  for (const [type, name] of rows) {
    if ((type !== "table" && type !== "view") || typeof name !== "string" || !isEngineTable(name)) continue;
    throw new NotTaken(
      `the engine itself answers under the name ${name}: rename the ${type} in the file`,
      `${type} ${name}`,
    );
  }
}

/** A schema can be edited to hold any text, which then would run. */
function checkText(type: string, name: string, sql: string): void {
  const words = sqlTokens(sql.slice(0, 200)).slice(0, 3).map(({ key }) => key);
  const says = words[0] === "CREATE" && words.slice(1).includes(type.toUpperCase());
  if (says && splitStatements(sql).length === 1) return;
  throw new Unreadable(`the schema's text of ${type} ${name} is not one CREATE statement`);
}

function integerOf([row]: Rows): bigint {
  const value = row?.[0];
  return typeof value === "bigint" ? value : 0n;
}

function* sequenceOf(wanted: string | null): Asking<[string, bigint][]> {
  const [has] = yield* ask("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'");
  if (has === undefined) return [];
  return (yield* ask("SELECT name, seq FROM sqlite_sequence ORDER BY name")).flatMap(([name, value]) =>
    typeof name === "string" && typeof value === "bigint" && !isReservedName(name) &&
      (wanted === null || foldName(name) === wanted)
      ? [[name, value] satisfies [string, bigint]]
      : []
  );
}
