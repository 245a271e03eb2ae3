// Reading a table in pages, in the order of its rowid or of its key, with every value as it is stored.
import { quoteIdentifier as quoted } from "../../../sql/quote.ts";
import type { Connection, EngineValue } from "./connection.ts";

export interface PageSource {
  readonly connection: Connection;
  readonly table: string;
  /** SQL expressions. */
  readonly select: readonly string[];
  /** The expressions that order the rows and tell them apart, and their places in `select`. Empty: one page. */
  readonly order: readonly string[];
  readonly places: readonly number[];
}

const PAGE_ROWS = 1000;

/** Pages of the rows above one place in the order, up to another; null: from the first, to the last. */
export function* rowPages(
  source: PageSource,
  above: readonly EngineValue[] | null,
  upTo: readonly EngineValue[] | null,
): Generator<EngineValue[][]> {
  const { connection, order, places } = source;
  for (let after = above;;) {
    const statement = connection.database.prepare(pageSql(source, after !== null, upTo !== null));
    statement.setReturnArrays(true);
    statement.setReadBigInts(true);
    const page = arrays(statement.all(...after ?? [], ...upTo ?? []));
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_ROWS || order.length === 0) return;
    after = places.map((place) => last[place] ?? null);
  }
}

function pageSql({ table, select, order }: PageSource, bounded: boolean, ended: boolean): string {
  const rows = `SELECT ${select.join(", ")} FROM ${quoted(table)}`;
  if (order.length === 0) return rows;
  const list = order.join(", ");
  const marks = order.map(() => "?").join(", ");
  const conditions = [
    ...(bounded ? [`(${list}) > (${marks})`] : []),
    ...(ended ? [`(${list}) <= (${marks})`] : []),
  ];
  const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
  return `${rows}${where} ORDER BY ${list} LIMIT ${PAGE_ROWS}`;
}

/** With `setReturnArrays(true)` rows are arrays of engine values; the type of `node:sqlite` does not say so. */
function arrays(rows: unknown): EngineValue[][] {
  return Array.isArray(rows) ? rows : [];
}
