// Reads all that the doctor's checks look at: the schema in one call to the engine, the rows in a second.
import { AppError } from "../../../core/errors.ts";
import { isReservedName } from "../../../sql/service_tables.ts";
import type { StatementsContext } from "../../query/run_statements.ts";
import { foldName } from "../fold_name.ts";
import { readRows, rowsOf } from "../read_rows.ts";
import { schemaStatements, toSchema } from "../read_schema.ts";
import type { Examined, IndexFacts, RowFacts, TableSource } from "./examined.ts";
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

/** Errors: those of the pipeline. */
export async function readExamined(
  ctx: StatementsContext,
): Promise<Omit<Examined, "endpoints" | "address">> {
  for (let attempt = 1;; attempt++) {
    const results = await readRows(ctx, [...schemaStatements, indexStatement, sourceStatement]);
    const indexes = toIndexes(rowsOf<IndexRow>(results[schemaStatements.length]));
    const sources = rowsOf<SourceRow>(results[schemaStatements.length + 1]);
    const schema = toSchema(results);
    const rows = await askRows(ctx, rowProbes({ schema, indexes }), attempt < MAX_ATTEMPTS);
    if (rows === null) continue;
    return {
      ...{ schema, indexes, rows, sources: toSources(sources) },
      takenNames: new Set(sources.map(([, name]) => foldName(name))),
    };
  }
}

/**
 * Null where the schema has changed since it was read. Rows that cannot be read, or not in time, are no findings: what
 * the schema alone shows is worth having.
 */
async function askRows(
  ctx: StatementsContext,
  { statements, read }: RowProbes,
  again: boolean,
): Promise<RowFacts | null> {
  try {
    return read(statements.length === 0 ? [] : await readRows(ctx, statements));
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 400) throw error;
    const kind = error.facts.detail?.kind;
    if (again && (kind === "unknown_table" || kind === "unknown_column")) return null;
    return read([]);
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
