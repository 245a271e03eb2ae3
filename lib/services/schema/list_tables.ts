// The tables of a database with their exact row counts.
import { quoteIdentifier } from "../../sql/words/quote.ts";
import { rowsOf } from "../query/read_result.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import { readEach } from "./read_rows.ts";

/** A table or view in the list. */
export interface TableSummary {
  readonly name: string;
  /** Null where they cannot be counted; `error` says why. */
  readonly rowCount: number | null;
  readonly error?: string;
}

/** Tables counted by one statement: the engine bounds the terms of a compound SELECT. */
const TABLES_PER_STATEMENT = 100;

/**
 * User-defined tables, virtual ones included; no views, no shadow tables, none of the service's. With `upTo`, rows are
 * counted to one more than that: a look must not cost a walk through a large table.
 */
export async function listTables(
  ctx: StatementsContext,
  upTo: number | null = null,
): Promise<TableSummary[]> {
  const countText = (name: string, index: number) => textOfCount(name, { index, upTo });
  const database = ctx.tenants.open(ctx.target);
  const { tables } = await database.schema();
  const names = tables.filter((table) => table.kind === "table" || table.kind === "virtual").map((table) =>
    table.name
  );
  const groups = Array.from(
    { length: Math.ceil(names.length / TABLES_PER_STATEMENT) },
    (_, at) => names.slice(at * TABLES_PER_STATEMENT, (at + 1) * TABLES_PER_STATEMENT),
  );
  const counted = await readEach(ctx, groups.map((group) => group.map(countText).join(" UNION ALL ")));
  const summaries = await Promise.all(groups.map((group, at) => {
    const one = counted[at];
    if (!one?.ok) return countApart(ctx, group, (name) => countText(name, 0));
    const counts = new Map(rowsOf<[number, number]>(one.json));
    return group.map((name, index): TableSummary => ({ name, rowCount: counts.get(index) ?? 0 }));
  }));
  return summaries.flat();
}

/** One of them cannot be counted. */
async function countApart(
  ctx: StatementsContext,
  names: readonly string[],
  countText: (name: string) => string,
): Promise<TableSummary[]> {
  const counted = await readEach(ctx, names.map(countText));
  return names.map((name, at) => {
    const one = counted[at];
    if (!one?.ok) return { name, rowCount: null, error: one?.error ?? "not read" };
    return { name, rowCount: rowsOf<[number, number]>(one.json)[0]?.[1] ?? 0 };
  });
}

function textOfCount(
  name: string,
  { index, upTo }: { readonly index: number; readonly upTo: number | null },
): string {
  const table = quoteIdentifier(name);
  return upTo === null
    ? `SELECT ${index}, count(*) FROM ${table}`
    : `SELECT ${index}, count(*) FROM (SELECT 1 FROM ${table} LIMIT ${upTo + 1})`;
}
