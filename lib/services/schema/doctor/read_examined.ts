// Reads everything that the doctor's checks use in one call to the engine. Where the schema is not the one of last
// time, a second call reads the rows.
import { AppError } from "../../../core/errors.ts";
import { foldName } from "../../../sql/words/names.ts";
import { isReservedName } from "../../../sql/words/service_tables.ts";
import { rowsOf } from "../../query/read_result.ts";
import type { StatementsContext } from "../../query/run_statements.ts";
import { INDEXES, toIndexes } from "../read_indexes.ts";
import { readEach, readRows, unreadable } from "../read_rows.ts";
import { readParts, type SchemaParts, toSchema } from "../read_schema.ts";
import type { Examined, RowFacts, TableSource } from "./examined.ts";
import { findBroken, type SchemaObject } from "./find_broken.ts";
import { digestOf, type ProbeMemory, type RowProbes, rowProbes } from "./row_probes.ts";

const sourceStatement = "SELECT type, name, tbl_name, sql FROM sqlite_schema " +
  "ORDER BY type = 'trigger', type = 'index', rowid";

type SourceRow = [type: string, name: string, table: string, sql: string | null];

/** How often the reading starts over because the schema changed between its two calls. */
const MAX_ATTEMPTS = 3;

const statements: readonly string[] = [INDEXES, sourceStatement];

/** Everything but endpoints and rules, which come from elsewhere. Errors: those of the pipeline. */
export async function readExamined(
  ctx: StatementsContext,
  memory: ProbeMemory,
): Promise<Omit<Examined, "endpoints" | "rules" | "address">> {
  const { databaseId } = ctx.target;
  for (let attempt = 1;; attempt++) {
    const known = memory.get(databaseId);
    const parts = await readKnown(ctx, known?.probes);
    if (parts === null) {
      memory.forget(databaseId);
      continue;
    }
    const read = await toExamined(parts);
    const digest = digestOf([...parts.results, ...parts.more.slice(0, statements.length)]);
    if (known?.digest === digest) {
      return { ...await withBroken(ctx, read), rows: known.probes.read(parts.more.slice(statements.length)) };
    }
    memory.forget(databaseId);
    const probes = await rowProbes(read);
    const rows = await askRows(ctx, probes, attempt < MAX_ATTEMPTS);
    if (rows === "changed") continue;
    if (rows.all) memory.keep(databaseId, { digest, probes });
    return { ...await withBroken(ctx, read), rows: rows.facts };
  }
}

/** The schema, and the answers to last time's questions; null where the schema no longer allows these questions. */
async function readKnown(ctx: StatementsContext, probes: RowProbes | undefined): Promise<SchemaParts | null> {
  try {
    return await readParts(ctx, [...statements, ...probes?.statements ?? []]);
  } catch (error) {
    if (probes && unreadable(error) !== null) return null;
    throw error;
  }
}

type Read = Omit<Examined, "endpoints" | "rules" | "address" | "rows" | "broken"> & {
  readonly objects: readonly SchemaObject[];
};

async function withBroken(
  ctx: StatementsContext,
  { objects, ...read }: Read,
): Promise<Omit<Read, "objects"> & Pick<Examined, "broken">> {
  return { ...read, broken: await findBroken(ctx, read, objects) };
}

async function toExamined(parts: SchemaParts): Promise<Read> {
  const sources = rowsOf<SourceRow>(parts.more[1]);
  const schema = await toSchema(parts);
  return {
    schema,
    byName: new Map(schema.tables.map((table) => [foldName(table.name), table])),
    indexes: toIndexes(parts.more[0]),
    objects: sources.map(([type, name, table, sql]) => ({ type, name, table, sql: sql ?? "" })),
    sources: toSources(sources),
    takenNames: new Set(sources.map(([, name]) => foldName(name))),
  };
}

interface AskedRows {
  readonly facts: RowFacts;
  /** Whether all rows were read. */
  readonly all: boolean;
}

/**
 * Answers `changed` when the schema is not the one that was read. Rows that cannot be read, or not in time, are no
 * findings: what the schema alone shows is still useful.
 */
async function askRows(
  ctx: StatementsContext,
  { statements, read }: RowProbes,
  again: boolean,
): Promise<AskedRows | "changed"> {
  try {
    return { facts: read(statements.length === 0 ? [] : await readRows(ctx, statements)), all: true };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const kind = error.facts.detail?.kind;
    if (again && (kind === "unknown_table" || kind === "unknown_column")) return "changed";
    if (unreadable(error) === null) {
      if (error.status === 400) return { facts: read([]), all: false };
      throw error;
    }
    const each = await readEach(ctx, statements);
    return { facts: read(each.flatMap((one) => one.ok ? [one.json] : [])), all: false };
  }
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
