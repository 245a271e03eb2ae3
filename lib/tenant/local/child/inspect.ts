// Compiles statements under the recording guard and tells what each would touch. Nothing runs on the tenant's file.
import { SHADOW_TABLES } from "../../../sql/words/names.ts";
import type { EngineFacts } from "../../../sql/grammar/statement_facts.ts";
import { applySchemaChange } from "../../../engine/apply_schema_change.ts";
import {
  type Compiled,
  compileStatement,
  type InspectedStatement,
} from "../../../engine/compile_statement.ts";
import type { Connection } from "../../../engine/connection.ts";
import { makeSchema } from "../../../engine/make_schema.ts";
import { columnsOf } from "../../../engine/open_database.ts";
import { MemoryConnection } from "../../../engine/memory_connection.ts";
import type { Inspected } from "./wire_inspected.ts";
import type { TenantFile } from "./tenant_file.ts";

/** What is asked, in the form in which it travels. */
interface Asked {
  readonly statements: readonly InspectedStatement[];
  readonly foreignKeysOff: boolean;
  readonly columns?: true | undefined;
}

/** Facts up to the first statement that does not compile. Version and facts come from one read transaction. */
export function inspect(file: TenantFile, asked: Asked): Inspected {
  const reader = file.briefReader();
  if (!asked.foreignKeysOff) return inspectWith(reader, file, asked);
  reader.database.exec("PRAGMA foreign_keys=OFF");
  try {
    return inspectWith(reader, file, asked);
  } finally {
    reader.database.exec("PRAGMA foreign_keys=ON");
  }
}

/** Compiles for a transaction that is open on the connection, under its own schema. */
export function inspectInside(
  connection: Connection,
  v: number,
  { statements, columns }: Omit<Asked, "foreignKeysOff">,
): Inspected {
  const compiled = compileBoth(connection, statements, () => compileAll(connection, statements, null));
  return { v, ...withColumns(connection, compiled, { statements, columns }) };
}

/** Tells the columns of the last statement where they were asked for. */
function withColumns(
  { database }: Connection,
  compiled: Omit<Inspected, "v">,
  { statements, columns }: Omit<Asked, "foreignKeysOff">,
): Omit<Inspected, "v"> {
  const last = statements.at(-1);
  if (!columns || compiled.f !== null || last === undefined) return compiled;
  return { ...compiled, cols: columnsOf(database, last.sql) };
}

function inspectWith(
  reader: Connection,
  file: TenantFile,
  { statements, foreignKeysOff, columns }: Asked,
): Inspected {
  reader.internalRun("BEGIN");
  try {
    const v = file.readerVersion();
    const compileHere = () => compileAll(reader, statements, null);
    // What is shared was learned with foreign keys.
    const here = foreignKeysOff ? compileHere : () => file.withSharedFacts(compileHere);
    const compiled = compileBoth(reader, statements, here);
    return { v, schema: file.readerSchema, ...withColumns(reader, compiled, { statements, columns }) };
  } finally {
    // A failure of the disk has ended it, and is what is to be told.
    if (reader.database.isTransaction) reader.internalRun("COMMIT");
  }
}

/** Compiles what follows a change of the schema against a copy of the schema, without rows; else it compiles `here`. */
function compileBoth(
  connection: Connection,
  statements: readonly InspectedStatement[],
  here: () => Omit<Inspected, "v">,
): Omit<Inspected, "v"> {
  const changing = statements.findIndex((statement) => statement.changesSchema);
  if (changing < 0 || changing === statements.length - 1) return here();
  const copy = schemaCopy(connection);
  try {
    return compileAll(copy, statements, copy);
  } finally {
    copy.close();
  }
}

/** `changing`: where each change of the schema is made before what follows it is compiled. */
function compileAll(
  connection: Connection,
  statements: readonly InspectedStatement[],
  changing: MemoryConnection | null,
): Omit<Inspected, "v"> {
  const facts: EngineFacts[] = [];
  for (const statement of statements) {
    const apply = changing !== null && statement.changesSchema
      ? () => applySchemaChange(changing, statement)
      : null;
    const compiled = compileOne(connection, statement, apply);
    if (!compiled.ok) return { facts, f: compiled.failure };
    facts.push(compiled.facts);
  }
  return { facts, f: null };
}

/** Facts of statements that leave the schema as it is are the same in every database that has it. */
function compileOne(
  connection: Connection,
  statement: InspectedStatement,
  apply: (() => void) | null,
): Compiled {
  const shared = statement.changesSchema ? undefined : connection.facts?.inspected;
  const facts = shared?.get(statement.sql);
  if (facts) return { ok: true, facts };
  const compiled = compileStatement(connection, statement, apply);
  if (compiled.ok) shared?.set(statement.sql, compiled.facts);
  return compiled;
}

/** The tenant's tables, indexes, views and triggers in memory, in an order in which they can be made. */
function schemaCopy(reader: Connection): MemoryConnection {
  const copy = new MemoryConnection();
  const [enforced] = reader.internalRow("PRAGMA foreign_keys") ?? [];
  if (!enforced) copy.database.exec("PRAGMA foreign_keys=OFF");
  const rows = reader.internalRows(
    "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite!_%' ESCAPE '!' AND name NOT IN " +
      `(${SHADOW_TABLES}) ` +
      "ORDER BY type = 'trigger', type = 'view', type = 'index', rowid",
  );
  makeSchema(copy, rows.map(([sql]) => String(sql)), (error) => {
    throw error;
  });
  return copy;
}
