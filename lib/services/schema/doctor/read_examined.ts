// Reads all that the doctor's checks look at in one call to the engine; where the schema is not the one of last time, the
// rows in a second one.
import { AppError } from "../../../core/errors.ts";
import { isReservedName } from "../../../sql/service_tables.ts";
import type { StatementsContext } from "../../query/run_statements.ts";
import { foldName } from "../fold_name.ts";
import { readRows, rowsOf } from "../read_rows.ts";
import { schemaStatements, toSchema } from "../read_schema.ts";
import type { Examined, IndexFacts, RowFacts, TableSource } from "./examined.ts";
import { digestOf, type ProbeMemory } from "./probe_memory.ts";
import { type RowProbes, rowProbes } from "./row_probes.ts";

const indexStatement = `SELECT s.name, i.name, i."unique", i.origin, i.partial, x.name, x.coll ` +
  "FROM sqlite_schema AS s JOIN pragma_index_list(s.name) AS i JOIN pragma_index_xinfo(i.name) AS x " +
  "WHERE s.type = 'table' AND x.key = 1 ORDER BY s.name, i.name, x.seqno";
const sourceStatement = "SELECT type, name, tbl_name, sql FROM sqlite_schema " +
  "ORDER BY type = 'trigger', type = 'index', rowid";

type IndexRow = [
  ...[table: string, name: string, unique: number, origin: IndexFacts["origin"], partial: number],
  ...[column: string | null, collation: string],
];
type SourceRow = [type: string, name: string, table: string, sql: string | null];

/** Times that the reading starts over because the schema changed between its two calls. */
const MAX_ATTEMPTS = 3;

const statements: readonly string[] = [...schemaStatements, indexStatement, sourceStatement];

/** Errors: those of the pipeline. */
export async function readExamined(
  ctx: StatementsContext,
  memory: ProbeMemory,
): Promise<Omit<Examined, "endpoints" | "address">> {
  const { databaseId } = ctx.target;
  for (let attempt = 1;; attempt++) {
    const known = memory.get(databaseId);
    const results = await readKnown(ctx, known?.probes);
    if (results === null) {
      memory.forget(databaseId);
      continue;
    }
    const read = toExamined(results);
    const digest = digestOf(results.slice(0, statements.length));
    if (known?.digest === digest) {
      return { ...read, rows: known.probes.read(results.slice(statements.length)) };
    }
    memory.forget(databaseId);
    const probes = rowProbes(read);
    const rows = await askRows(ctx, probes, attempt < MAX_ATTEMPTS);
    if (rows === "changed") continue;
    if (rows !== "unknown") memory.keep(databaseId, { digest, probes });
    return { ...read, rows: rows === "unknown" ? probes.read([]) : rows };
  }
}

/** The schema, and the answers to what was asked before; null where that cannot be asked any more. */
async function readKnown(ctx: StatementsContext, probes: RowProbes | undefined): Promise<string[] | null> {
  try {
    return await readRows(ctx, [...statements, ...probes?.statements ?? []]);
  } catch (error) {
    if (probes && error instanceof AppError && error.status === 400) return null;
    throw error;
  }
}

function toExamined(results: readonly string[]): Omit<Examined, "endpoints" | "address" | "rows"> {
  const sources = rowsOf<SourceRow>(results[schemaStatements.length + 1]);
  return {
    schema: toSchema(results),
    indexes: toIndexes(rowsOf<IndexRow>(results[schemaStatements.length])),
    sources: toSources(sources),
    takenNames: new Set(sources.map(([, name]) => foldName(name))),
  };
}

/**
 * `changed` where the schema is another one than was read. Rows that cannot be read, or not in time (`unknown`), are no
 * findings: what the schema alone shows is worth having.
 */
async function askRows(
  ctx: StatementsContext,
  { statements, read }: RowProbes,
  again: boolean,
): Promise<RowFacts | "changed" | "unknown"> {
  try {
    return read(statements.length === 0 ? [] : await readRows(ctx, statements));
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 400) throw error;
    const kind = error.facts.detail?.kind;
    return again && (kind === "unknown_table" || kind === "unknown_column") ? "changed" : "unknown";
  }
}

function toIndexes(rows: readonly IndexRow[]): Map<string, IndexFacts[]> {
  const byTable = new Map<string, IndexFacts[]>();
  for (const group of Map.groupBy(rows, ([table, name]) => `${table}\u0000${name}`).values()) {
    const [first] = group;
    if (first === undefined) continue;
    const [table, name, unique, origin, partial] = first;
    const columns = group.map(([, , , , , column, collation]) => ({ name: column, collation }));
    const list = byTable.get(table) ?? [];
    list.push({ name, unique: unique === 1, origin, partial: partial === 1, columns });
    byTable.set(table, list);
  }
  return byTable;
}

function toSources(rows: readonly SourceRow[]): Map<string, TableSource> {
  const own = rows.filter(([, name]) => !isReservedName(name));
  const standing = Map.groupBy(
    own.filter(([type, , , sql]) => (type === "index" || type === "trigger") && sql !== null),
    ([, , table]) => foldName(table),
  );
  return new Map(
    own.filter(([type]) => type === "table").map(([, name, , sql]) => [name, {
      sql: sql ?? "",
      indexesAndTriggers: (standing.get(foldName(name)) ?? []).map(([, , , text]) => text ?? ""),
    }]),
  );
}
