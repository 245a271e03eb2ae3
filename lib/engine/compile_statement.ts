// Compiles one statement under the recording guard and reports what it would touch. Nothing runs.
import type { BuiltIndex } from "../sql/grammar/schema_row_texts.ts";
import type { EngineFacts } from "../sql/grammar/statement_facts.ts";
import { allowedTableFunctions } from "../sql/words/functions.ts";
import { foldName, SHADOW_TABLES } from "../sql/words/names.ts";
import { pragmaTable } from "../sql/grammar/pragmas.ts";
import type { TableAs } from "../sql/grammar/table_text.ts";
import { isReservedName } from "../sql/words/service_tables.ts";
import type { CompileConnection } from "./compile_connection.ts";
import { type EngineFailure, engineFailure } from "./engine_failure.ts";
import { Recorder } from "./guard.ts";

/** A statement to compile. */
export interface InspectedStatement {
  readonly sql: string;
  /** The statement changes the schema, so that later statements must be compiled against the result. */
  readonly changesSchema: boolean;
  /** The parts of a CREATE TABLE AS, which must not run where only the schema matters. */
  readonly tableAs?: TableAs | null;
}

/** The result of compiling a statement. */
export type Compiled =
  | { readonly ok: true; readonly facts: EngineFacts }
  | { readonly ok: false; readonly failure: EngineFailure };

/** Compiles against the connection's schema; `apply` then makes the changes that later statements build on. Never throws. */
export function compileStatement(
  connection: CompileConnection,
  statement: InspectedStatement,
  apply: (() => void) | null,
): Compiled {
  try {
    const facts = compile(connection, statement);
    if (typeof facts === "string") return { ok: false, failure: denied(facts) };
    apply?.();
    return { ok: true, facts };
  } catch (error) {
    const failure = engineFailure(error, connection.guard.denial);
    const refusal = engineRefusal(failure.message);
    return { ok: false, failure: refusal === null ? failure : denied(refusal) };
  }
}

/** Characters from which compiling once more takes longer than a look at the schema. */
const LONG_TEXT = 10_000;

function hasVirtualTables(connection: CompileConnection): boolean {
  return connection.internalRow(
    "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL%' LIMIT 1",
  ) !== undefined;
}

/** The statement's facts, or the name of something it reads that no tenant may read. */
function compile(
  connection: CompileConnection,
  { sql, changesSchema }: InspectedStatement,
): EngineFacts | string {
  // A virtual table compiles statements of its own when it is first touched, which are none of the tenant's.
  if (sql.length < LONG_TEXT || hasVirtualTables(connection)) connection.compile("schema", sql);
  const recorder = new Recorder();
  connection.guard.recorder = recorder;
  try {
    connection.compile("schema", sql);
  } finally {
    connection.guard.recorder = null;
  }
  const read = tablesRead(connection, recorder);
  if (typeof read === "string") return read;
  const shadowTables = shadowAmong(connection, [...recorder.tablesWritten]);
  const builtIndexes = builtAmong(connection, recorder);
  const maintainedTables = own(connection, [...recorder.analyzed, ...builtIndexes.map(({ table }) => table)]);
  const written = new Set([...recorder.tablesWritten, ...maintainedTables]);
  const replacedTables = replaced(connection, recorder);
  const rows = rowTables(connection, recorder);
  const commandTables = commandTablesOf(connection, recorder, rows);
  return {
    // A schema change reads and writes the engine's own catalogue by itself.
    tablesRead: sorted(read).filter((name) => !changesSchema || !isReservedName(name)),
    columnsRead: sorted(recorder.columnsRead).filter((name) => !changesSchema || !isReservedName(name)),
    tablesWritten: sorted(written),
    columnsWritten: sorted(recorder.columnsWritten),
    actions: [
      ...sorted(new Set([...recorder.actions, ...replacedTables.map((table) => `delete ${table}`)])),
      ...maintainedTables.map((table) => `schema ${table}`),
    ],
    rowTables: rows,
    replacedTables,
    functions: sorted(recorder.functions),
    shadowTables,
    commandTables,
    builtIndexes: builtIndexes.filter(({ table }) => maintainedTables.includes(table)),
    triggers: commandTables.length === 0 ? [] : triggerTexts(connection, recorder),
  };
}

/** Views and virtual tables have no rows of their own. */
function rowTables(connection: CompileConnection, { actions }: Recorder): string[] {
  const names = [...actions].flatMap((action) => /^(?:insert|update|delete) (.*)$/s.exec(action)?.[1] ?? []);
  return sorted(new Set(names)).filter((name) =>
    connection.internalRow(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ? AND sql NOT LIKE 'CREATE VIRTUAL%'",
      name,
    ) !== undefined
  );
}

/** A module that takes commands declares a hidden column for them, which has the table's name. */
function commandTablesOf(
  connection: CompileConnection,
  { actions }: Recorder,
  rowTables: readonly string[],
): string[] {
  const names = [...actions].flatMap((action) => /^insert (.*)$/s.exec(action)?.[1] ?? []);
  return names.filter((name) =>
    !rowTables.includes(name) &&
    connection.internalRow(
        "SELECT 1 FROM pragma_table_xinfo(?) WHERE hidden = 1 AND name = ? COLLATE NOCASE",
        ...[name, name],
      ) !== undefined
  ).sort();
}

function triggerTexts(connection: CompileConnection, { sources }: Recorder): string[] {
  return connection.internalRows("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
    .flatMap(([name, sql]) => sources.has(String(name).toLowerCase()) ? [String(sql)] : []);
}

/**
 * Names as the schema spells them. Where a statement uses no column, the engine reports the name as the text spells it,
 * and that may be the name of a CTE. A name that is neither in the schema nor on a list is closed.
 */
function tablesRead(connection: CompileConnection, recorder: Recorder): Set<string> | string {
  const names = new Set<string>();
  for (const name of recorder.tablesRead) {
    const lower = name.toLowerCase();
    const own = connection.internalRow(
      "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name = ? COLLATE NOCASE",
      name,
    );
    const pragma = lower.startsWith("pragma_");
    if (own) names.add(String(own[0]));
    else if (isReservedName(name) || allowedTableFunctions.has(lower)) names.add(lower);
    else if (pragma && pragmaTable.has(lower.slice(7))) names.add(lower);
    // A table that is being created may read itself in a generated column.
    else if (recorder.tablesWritten.has(name)) continue;
    else if (pragma || hasColumns(recorder, name)) return `The table-valued function ${name}`;
  }
  return names;
}

function hasColumns(recorder: Recorder, table: string): boolean {
  return [...recorder.columnsRead].some((column) => column.startsWith(`${table}.`));
}

/**
 * The definition of a table or trigger may say that a conflict replaces rows, and the engine reports no such deletion. So
 * the definitions are searched for the word; a false match only lets a rule hold a write that it need not hold.
 */
function replaced(connection: CompileConnection, { actions, sources }: Recorder): string[] {
  const tables = new Set(
    [...actions].flatMap((action) => /^(?:insert|update) (.*)$/s.exec(action)?.[1] ?? []),
  );
  if (tables.size === 0) return [];
  const texts = connection.internalRows(
    "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('table', 'trigger') AND sql LIKE '%replace%'",
  ).filter(([, , sql]) => /\breplace\b(?!\s*\()/i.test(String(sql)));
  return sorted(tables).filter((table) =>
    texts.some(([type, name, sql]) =>
      type === "table" ? name === table : sources.has(String(name).toLowerCase()) &&
        String(sql).toLowerCase().includes(table.toLowerCase().replaceAll('"', '""'))
    )
  );
}

/** Sorts by name, because the engine visits its tables in the order of a hash. */
function builtAmong(connection: CompileConnection, { reindexed }: Recorder): BuiltIndex[] {
  return sorted(reindexed).flatMap((index) => {
    // The catalogue does not list the index that is the key of a WITHOUT ROWID table.
    const row = connection.internalRow(
      "SELECT tbl_name, sql FROM sqlite_schema WHERE type = 'index' AND name = ? COLLATE NOCASE",
      index,
    ) ?? connection.internalRow(
      "SELECT s.name, NULL FROM sqlite_schema AS s JOIN pragma_index_list(s.name) AS i " +
        "WHERE s.type = 'table' AND s.sql NOT LIKE 'CREATE VIRTUAL%' AND i.name = ? COLLATE NOCASE",
      index,
    );
    if (row === undefined) return [];
    const [table, sql] = row;
    return [{ table: String(table), sql: sql === null ? null : String(sql) }];
  });
}

/** The tables of an ANALYZE or REINDEX, without the service's own and those of virtual tables. */
function own(connection: CompileConnection, tables: readonly string[]): string[] {
  const shadow = shadowAmong(connection, tables);
  return sorted(new Set(tables.filter((name) => !isReservedName(name) && !shadow.includes(name))));
}

/** Refusals that the engine makes with its own message, without asking the guard. */
function engineRefusal(message: string): string | null {
  if (/may not be (?:dropped|altered|indexed)$|shadow table/.test(message)) {
    return "Changing a table that belongs to a virtual table";
  }
  if (message.startsWith("unsafe use of")) {
    return "A virtual table or function of this kind in a view or trigger";
  }
  return null;
}

function denied(message: string): EngineFailure {
  return { kind: "denied", message, table: null, columns: [] };
}

function shadowAmong(connection: CompileConnection, written: readonly string[]): string[] {
  if (written.length === 0) return [];
  const shadow = new Set(connection.internalRows(SHADOW_TABLES).map(([name]) => foldName(String(name))));
  return written.filter((table) => shadow.has(foldName(table)));
}

function sorted(names: ReadonlySet<string>): string[] {
  return [...names].sort();
}
