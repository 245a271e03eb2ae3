// What the doctor knows about the published endpoints of a database: who may call them and which columns they show.
import { splitAddress } from "../../access/resolve_target.ts";
import type { ControlPlane } from "../../control/control_plane.ts";
import type { EndpointSpec } from "../../core/endpoint_spec.ts";
import { classify } from "../../query/classify.ts";
import type { QueryContext, QueryTarget } from "../../query/query_call.ts";
import { allShown, shownColumns } from "../../sql/grammar/result_columns.ts";
import type { SchemaNames } from "../../tenant/inspection.ts";
import { outputs } from "./spec/outputs.ts";
import { boundStatement } from "./spec/bind_inputs.ts";
import { prepareSpec } from "./spec/prepare_spec.ts";
import type { EndpointFacts } from "../schema/doctor/examined.ts";
import { foldName } from "../../sql/words/names.ts";

/** What this examination needs of the process. */
export interface EndpointFactsContext {
  readonly control: ControlPlane;
  readonly query: QueryContext;
  /** The database or branch that is examined. */
  readonly target: QueryTarget;
}

/** How many statements one examination compiles because their text alone does not tell what they show. */
const MAX_COMPILED = 200;

type Shown = Pick<EndpointFacts, "columns" | "tables">;

/** What the names of the schema tell. */
interface Names {
  /** Of a table or a view; null for another name. */
  readonly columnsOf: (table: string) => readonly string[] | null;
  /** Whether a view has made the column: no table has one of that name. */
  readonly isMade: (source: { readonly table: string; readonly column: string }) => boolean;
}

/**
 * For a branch: the endpoints of its trunk, against the branch's schema. Errors: the store's, `meter_unreachable`.
 */
export async function endpointFacts(ctx: EndpointFactsContext): Promise<EndpointFacts[]> {
  const { control, query, target } = ctx;
  const { slug } = splitAddress(target.databaseSlug);
  const trunk = await control.databases.bySlug(target.namespaceId, slug);
  const records = trunk === null ? [] : await control.endpoints.published(trunk.id);
  if (records.length === 0) return [];
  const names = namesIn(await query.tenants.open(target).schema());
  let compiled = 0;
  const found: EndpointFacts[] = [];
  for (const { spec } of records) {
    const shown = shownByText(spec, names) ??
      (compiled++ < MAX_COMPILED ? await shownByEngine(ctx, spec) : { columns: [], tables: [] });
    const { kind, auth = "public", captcha = false, rateLimit } = spec;
    const limited = rateLimit?.perMin !== undefined || rateLimit?.perDay !== undefined;
    const written = writtenFirst(query, spec, shown.tables);
    found.push({ slug: spec.slug, kind, auth, captcha, rateLimit: limited, ...shown, ...written });
  }
  return found;
}

/** Puts the tables that the statements name in front of those that triggers and cascades write. */
function writtenFirst(
  query: QueryContext,
  spec: EndpointSpec,
  tables: readonly string[],
): Pick<EndpointFacts, "tables" | "writes"> {
  const writes = prepareSpec(spec).statements.flatMap(({ sql }) => {
    const read = query.facts.syntax(sql);
    if (!read.ok || read.syntax.target === null) return [];
    const { target, kind, replaces } = read.syntax;
    return [{
      table: target,
      changesRows: kind === "UpdateStmt" || kind === "DeleteStmt" || replaces,
    }];
  });
  const all = [...writes.map(({ table }) => table), ...tables];
  return { writes, tables: [...new Map(all.map((table) => [foldName(table), table])).values()] };
}

/** Null where the text alone does not tell. */
function shownByText(
  spec: EndpointSpec,
  { columnsOf, isMade }: Names,
): Shown | null {
  const { kind, output, askConfig, authConfig } = spec;
  // A question may ask for everything that it may read.
  if (kind === "ask") {
    const tables = askConfig?.allowedTables ?? [];
    return { columns: tables.flatMap((table) => columnsOf(table) ?? []), tables };
  }
  if (!outputs[output].holdsRows) {
    return authConfig === undefined ? null : { columns: [], tables: [authConfig.usersTable] };
  }
  const { statements: { length }, last: { sql } } = prepareSpec(spec);
  const columns = length > 1 ? null : shownColumns(sql, columnsOf);
  const shown = allShown(columns);
  if (columns === null || shown === null || shown.some(isMade)) return null;
  // What an expression is called may say what it makes.
  const aliases = columns.flatMap(({ name, source, onlyTells }) => source || onlyTells ? [] : name ?? []);
  return {
    columns: [...new Set([...shown.map(({ column }) => column), ...aliases])],
    tables: [...new Set(shown.map(({ table }) => table))],
  };
}

/**
 * Every column that it reads counts as shown, through views too. A statement that no longer compiles shows nothing.
 */
async function shownByEngine(
  { query, target }: EndpointFactsContext,
  spec: EndpointSpec,
): Promise<Shown> {
  const statements = prepareSpec(spec).statements.map((one) => boundStatement(one, []));
  const { facts } = await classify(query, target.databaseId, query.tenants.open(target), statements);
  // Values of earlier statements may be shown by the last one.
  const read = facts.flatMap(({ columnsRead }) => columnsRead);
  return {
    columns: outputs[spec.output].holdsRows
      ? [...new Set(read.map((column) => column.slice(column.indexOf(".") + 1)))]
      : [],
    tables: [
      ...facts.flatMap(({ tablesWritten }) => tablesWritten),
      ...facts.flatMap(({ tablesRead }) => tablesRead),
    ],
  };
}

function namesIn({ tables }: SchemaNames): Names {
  const byName = new Map(tables.map((table) => [foldName(table.name), table]));
  const stored = new Set(
    tables.flatMap(({ kind, columns }) => kind === "view" ? [] : columns.map(foldName)),
  );
  return {
    columnsOf: (table) => byName.get(foldName(table))?.columns ?? null,
    isMade: ({ table, column }) =>
      byName.get(foldName(table))?.kind === "view" && !stored.has(foldName(column)),
  };
}
