// The parts of a table that a page is read from, in order, each with a condition that an index can answer. Pure.
//
// NULL compares with nothing, so the rows without a value in the sorted column are a part of their own: they stand
// before the others, and behind them where the order is descending, as the engine sorts them.
import { quoteIdentifier } from "../../sql/words/quote.ts";
import type { SqlParameter } from "../../sql/words/sql_value.ts";
import type { Condition } from "./row_filters.ts";

/** By what rows are ordered: the sorted column, then the key. */
export interface PageOrder {
  readonly key: readonly string[];
  readonly sort: { readonly column: string; readonly descending: boolean } | null;
}

/** A row's place in the order. */
export interface RowPlace {
  readonly key: readonly SqlParameter[];
  /** The value of the sorted column; null too where nothing is sorted. */
  readonly sorted: SqlParameter;
}

/** One part. */
export interface PageSegment {
  readonly conditions: readonly Condition[];
  /** With a blank before it; empty where nothing orders the rows. */
  readonly orderBy: string;
}

/** The parts from `after` on; from the beginning without it. */
export function pageSegments({ key, sort }: PageOrder, after: RowPlace | null): PageSegment[] {
  const beyond = sort?.descending ? "<" : ">";
  const keyNames = key.map(quoteIdentifier);
  const behindKey = after === null || key.length === 0
    ? []
    : [{ sql: `${tuple(keyNames)} ${beyond} ${tuple(key.map(() => "?"))}`, params: after.key }];
  const direction = sort?.descending ? " DESC" : "";
  const byKey = keyNames.map((name) => `${name}${direction}`);
  if (sort === null) return [{ conditions: behindKey, orderBy: orderText(byKey) }];
  const column = quoteIdentifier(sort.column);
  const withValue = { sql: `${column} IS NOT NULL`, params: [] };
  const isNull = { sql: `${column} IS NULL`, params: [] };
  const values = (conditions: readonly Condition[]): PageSegment => ({
    conditions: [withValue, ...conditions],
    orderBy: orderText([`${column}${direction}`, ...byKey]),
  });
  const nulls = (conditions: readonly Condition[]): PageSegment => ({
    conditions: [isNull, ...conditions],
    orderBy: orderText(byKey),
  });
  const all = sort.descending ? [values([]), nulls([])] : [nulls([]), values([])];
  if (after === null) return all;
  const atNull = after.sorted === null;
  const first = atNull ? nulls(behindKey) : values(behindValue(column, beyond, { after, behindKey }));
  // What stands before the place has been read.
  return atNull === (sort.descending === true) ? [first] : [first, ...all.slice(1)];
}

function behindValue(
  column: string,
  beyond: string,
  { after, behindKey }: { readonly after: RowPlace; readonly behindKey: readonly Condition[] },
): Condition[] {
  const { sorted } = after;
  // The first condition bounds the part by an index, the second one leaves out what the page before has shown.
  const bound = { sql: `${column} ${beyond}= ?`, params: [sorted] };
  const rest = behindKey.map(({ sql, params }) => ({
    sql: `${column} ${beyond} ? OR ${sql}`,
    params: [sorted, ...params],
  }));
  return [bound, ...rest];
}

function tuple(parts: readonly string[]): string {
  return parts.length === 1 ? parts.join("") : `(${parts.join(", ")})`;
}

function orderText(parts: readonly string[]): string {
  return parts.length === 0 ? "" : ` ORDER BY ${parts.join(", ")}`;
}
