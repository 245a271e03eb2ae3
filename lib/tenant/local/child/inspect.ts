// Compiles statements under the recording guard and tells what each would touch. Nothing runs on the tenant's file.
import type { EngineFacts } from "../../../sql/statement_facts.ts";
import { isReservedName } from "../../../sql/service_tables.ts";
import { Connection } from "./connection.ts";
import { engineFailure } from "./engine_failure.ts";
import { Recorder } from "./guard.ts";
import type { WireFailure } from "./protocol.ts";
import type { TenantFile } from "./tenant_file.ts";

interface Statement {
  readonly sql: string;
  readonly changesSchema: boolean;
}

interface Inspected {
  readonly v: number;
  readonly facts: EngineFacts[];
  readonly f: WireFailure | null;
}

/** Facts up to the first statement that does not compile. Version and facts come from one read transaction. */
export function inspect(file: TenantFile, statements: readonly Statement[]): Inspected {
  const reader = file.reader();
  reader.internalRun("BEGIN");
  try {
    const v = file.readerVersion();
    const changing = statements.findIndex((statement) => statement.changesSchema);
    // Statements after a change of the schema are compiled against a copy of the schema, without rows.
    if (changing < 0 || changing === statements.length - 1) {
      return { v, ...compileAll(reader, statements, false) };
    }
    const copy = schemaCopy(reader);
    try {
      return { v, ...compileAll(copy, statements, true) };
    } finally {
      copy.close();
    }
  } finally {
    reader.internalRun("COMMIT");
  }
}

function compileAll(
  connection: Connection,
  statements: readonly Statement[],
  applyChanges: boolean,
): Omit<Inspected, "v"> {
  const facts: EngineFacts[] = [];
  for (const statement of statements) {
    try {
      facts.push(compile(connection, statement));
      if (applyChanges && statement.changesSchema) {
        connection.run("schema", statement.sql, [], { maxRows: 1, maxBytes: 1 }, false);
      }
    } catch (error) {
      return { facts, f: engineFailure(error, connection.guard.denial) };
    }
  }
  return { facts, f: null };
}

function compile(connection: Connection, { sql, changesSchema }: Statement): EngineFacts {
  // Twice, because a virtual table compiles statements of its own when it is first touched.
  connection.compile("schema", sql);
  const recorder = new Recorder();
  connection.guard.recorder = recorder;
  try {
    connection.compile("schema", sql);
  } finally {
    connection.guard.recorder = null;
  }
  const tablesWritten = sorted(recorder.tablesWritten);
  return {
    // A change of the schema reads and writes the engine's own catalogue by itself.
    tablesRead: sorted(recorder.tablesRead).filter((name) => !changesSchema || !isReservedName(name)),
    columnsRead: sorted(recorder.columnsRead).filter((name) => !changesSchema || !isReservedName(name)),
    tablesWritten,
    columnsWritten: sorted(recorder.columnsWritten),
    functions: sorted(recorder.functions),
    shadowTables: shadowAmong(connection, tablesWritten),
  };
}

/** The tenant's tables, indexes, views and triggers in memory, in an order in which they can be made. */
function schemaCopy(reader: Connection): Connection {
  const copy = new Connection(":memory:", false);
  const rows = reader.internalRows(
    "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite!_%' ESCAPE '!' AND name NOT IN " +
      "(SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow') " +
      "ORDER BY type = 'trigger', type = 'view', type = 'index', rowid",
  );
  for (const [sql] of rows) copy.database.exec(String(sql));
  return copy;
}

function shadowAmong(connection: Connection, written: readonly string[]): string[] {
  if (written.length === 0) return [];
  const rows = connection.internalRows(
    "SELECT lower(name) FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow'",
  );
  const shadow = new Set(rows.map((row) => String(row[0])));
  return written.filter((table) => shadow.has(table.toLowerCase()));
}

function sorted(names: ReadonlySet<string>): string[] {
  return [...names].sort();
}
