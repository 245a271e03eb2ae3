// The statements of a list: the owner's SELECT, and around it the filters, the order and the page that a caller asks for.
// Each combination is a text of its own, so that every one of them can use an index. Pure.
import type { EndpointSpec, FieldSpec } from "../../../core/endpoint_spec.ts";
import type { QueryStatement } from "../../../query/query_call.ts";
import { sameName } from "../../../sql/words/names.ts";
import { quoteIdentifier } from "../../../sql/words/quote.ts";
import type { SqlParameter } from "../../../sql/words/sql_value.ts";
import { cursorText, type CursorValue, TOO_LONG_BYTES } from "./list_cursor.ts";

/** What `list` of a specification says. */
export type ListConfig = NonNullable<EndpointSpec["list"]>;

/** Inputs that mean the same in every list. */
export const LIST_INPUTS = ["sort", "limit", "cursor", "total"] as const;
/** Rows of a page unless the caller or the specification says otherwise. */
const DEFAULT_ROWS = 50;

/** An order of a list, as an input `sort` names it: `-column` is descending. */
export interface ListOrder {
  readonly name: string;
  /** Null: by the key alone. */
  readonly column: string | null;
  /** The columns that tell the rows apart. */
  readonly key: readonly string[];
  readonly descending: boolean;
}

/** What one call asks of a list. */
export interface ListAsk {
  /** The owner's SELECT with the values that it binds. */
  readonly base: QueryStatement;
  readonly order: ListOrder;
  /** Only filters whose input is there. */
  readonly filters: readonly { readonly column: string; readonly is: string; readonly value: SqlParameter }[];
  readonly rows: number;
  /** The values of the order's column and of the key in the last row of the page before; null: the first page. */
  readonly after: readonly CursorValue[] | null;
  readonly total: boolean;
}

/**
 * `pages`: their rows one after the other are the page, with one row more where there is another page. Their last column is
 * none of the answer: `exactTexts` reads it.
 */
export interface ListStatements {
  readonly pages: readonly QueryStatement[];
  readonly total: QueryStatement | null;
  /** Answers 1 where the page would leave out rows because they have no key; null: it leaves out none. */
  readonly unkeyed: QueryStatement | null;
}

/** The columns whose values a cursor holds. */
export function cursorColumns({ column, key }: ListOrder): readonly string[] {
  return column === null ? key : [column, ...key];
}

/** Reads an order. One by a column of the key is the order by the key, which then begins with that column. */
export function listOrder({ key }: ListConfig, sort: string | null): ListOrder {
  if (sort === null) return { name: "", column: null, key, descending: false };
  const descending = sort.startsWith("-");
  const column = descending ? sort.slice(1) : sort;
  const others = key.filter((one) => !sameName(one, column));
  return others.length === key.length
    ? { name: sort, column, key, descending }
    : { name: sort, column: null, key: [column, ...others], descending };
}

/** Which of the inputs are none of the owner's statement, but of the list around it. */
export function isListInput(
  { list }: Partial<Pick<EndpointSpec, "list">>,
  name: string | undefined,
): boolean {
  if (list === undefined || name === undefined) return false;
  return LIST_INPUTS.some((one) => one === name) || (list.filters ?? []).some(({ input }) => input === name);
}

/** What a call asks, given the value of each input; `after` has been read from its cursor. */
export function listAsk(
  { list, input }: { readonly list: ListConfig; readonly input: readonly FieldSpec[] },
  base: QueryStatement,
  { bound, after }: Pick<ListAsk, "after"> & { readonly bound: readonly SqlParameter[] },
): ListAsk {
  const valueOf = (name: string) => bound[input.findIndex((field) => field.name === name)] ?? null;
  const [sort, limit] = [valueOf("sort"), valueOf("limit")];
  return {
    base,
    order: listOrder(list, typeof sort === "string" ? sort : null),
    filters: (list.filters ?? []).flatMap(({ input: name, column, is = "=" }) => {
      const value = valueOf(name);
      return value === null ? [] : [{ column, is, value }];
    }),
    rows: typeof limit === "number" ? limit : DEFAULT_ROWS,
    after,
    total: valueOf("total") === 1,
  };
}

/**
 * NULL is below every value. So after a row with a value a descending order goes on with the rows that have none, and
 * after a row without one an ascending order goes on with those that have: then there are two statements.
 */
export function listStatements(ask: ListAsk): ListStatements {
  const { order: { column, descending }, after } = ask;
  const others = {
    total: ask.total ? new ListText(ask).count() : null,
    // NULL comes first in the other direction.
    unkeyed: after !== null && descending ? new ListText(ask).unkeyed(after) : null,
  };
  if (after === null || column === null) return { pages: [new ListText(ask).page({ after })], ...others };
  const [value = null, ...key] = after;
  const rest = value === null
    ? [
      new ListText(ask).page({ isNull: true, after: key }),
      new ListText(ask).page({ isNull: false, after: null }),
    ]
    : [new ListText(ask).page({ after }), new ListText(ask).page({ isNull: true, after: null })];
  // The other direction has the rows without a value before, not behind.
  return { pages: (value === null) === descending ? rest.slice(0, 1) : rest, ...others };
}

/** The rows that a page takes: those behind a row, and those whose value in the order's column is or is not NULL. */
interface Range {
  readonly after: readonly CursorValue[] | null;
  readonly isNull?: boolean;
}

/** One statement while it is written. */
class ListText {
  readonly #params: SqlParameter[];

  constructor(private readonly ask: ListAsk) {
    this.#params = [...ask.base.params];
  }

  page({ after, isNull }: Range): QueryStatement {
    const { order: { column, key, descending }, rows } = this.ask;
    // Where the order's column has no value, the rows are told apart by the key.
    const columns = column === null || isNull === true ? key : [column, ...key];
    const conditions = [
      ...this.#filters(),
      ...(isNull === undefined || column === null ? [] : [`${name(column)} IS ${isNull ? "" : "NOT "}NULL`]),
      ...(after === null ? [] : [this.#behind(columns, after, descending)]),
    ];
    const order = columns.map((one) => `${name(one)}${descending ? " DESC" : ""}`).join(", ");
    const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
    const texts = textsOf(cursorColumns(this.ask.order).map(name));
    return this.#made(
      `SELECT l.*, ${texts} FROM ${this.#base()}${where} ORDER BY ${order} LIMIT ${this.#bind(rows + 1)}`,
    );
  }

  count(): QueryStatement {
    const conditions = this.#filters();
    const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
    return this.#made(`SELECT count(*) FROM ${this.#base()}${where}`);
  }

  /** Whether rows without a key are behind a row of a descending order: no comparison finds them. */
  unkeyed(after: readonly CursorValue[]): QueryStatement {
    const { order: { column, key } } = this.ask;
    const columns = column === null ? key : [column, ...key];
    // What is bound has to stand in the text.
    const same = columns.slice(0, -1).map((one, at) => `${name(one)} IS ${this.#bind(after[at] ?? null)}`);
    const gaps = columns.flatMap((one, at) =>
      one === column ? [] : `(${[...same.slice(0, at), `${name(one)} IS NULL`].join(" AND ")})`
    );
    const where = [...this.#filters(), `(${gaps.join(" OR ")})`].join(" AND ");
    return this.#made(`SELECT EXISTS (SELECT 1 FROM ${this.#base()} WHERE ${where})`);
  }

  /** A comment at the end of the owner's text ends with the line. */
  #base(): string {
    return `(${this.ask.base.sql}\n) AS l`;
  }

  #filters(): string[] {
    return this.ask.filters.map(({ column, is, value }) =>
      is === "null"
        ? `${name(column)} IS ${value === 1 ? "" : "NOT "}NULL`
        : `${name(column)} ${is} ${this.#bind(value)}`
    );
  }

  #behind(columns: readonly string[], values: readonly CursorValue[], descending: boolean): string {
    const is = descending ? "<" : ">";
    const [left, right] = [columns.map(name).join(", "), values.map((value) => this.#bind(value)).join(", ")];
    return columns.length === 1 ? `${left} ${is} ${right}` : `(${left}) ${is} (${right})`;
  }

  /** JSON has no infinity, so one stands in the text. */
  #bind(value: CursorValue): string {
    if (typeof value === "object" && value !== null && "$text" in value) {
      // A parameter has no affinity, which CAST would give it.
      return `+CAST(?${this.#params.push({ $blob: value.$text })} AS TEXT)`;
    }
    if (value === Infinity || value === -Infinity) return value > 0 ? "9e999" : "-9e999";
    return `?${this.#params.push(value)}`;
  }

  #made(sql: string): QueryStatement {
    return { sql, params: this.#params };
  }
}

/**
 * The bytes of the texts in these columns, as digits with commas between, in a row where one may be another text than the
 * engine's reader makes of it: that cuts at U+0000 and replaces what is no UTF-8. NULL in most rows: bytes of all
 * make a page of texts a quarter slower.
 */
function textsOf(columns: readonly string[]): string {
  const mayDiffer = columns.map((one) =>
    `typeof(${one}) = 'text' AND (${one} GLOB '*[^ -~]*' OR octet_length(${one}) <> length(${one}))`
  );
  const digits = columns.map((one) =>
    `hex(substr(CAST(iif(typeof(${one}) = 'text', ${one}, '') AS BLOB), 1, ${TOO_LONG_BYTES}))`
  );
  return `CASE WHEN ${mayDiffer.join(" OR ")} THEN ${digits.join(" || ',' || ")} END`;
}

/** The texts that the last column of a row holds, one for each column of a cursor; null where the row's own value is right. */
export function exactTexts(last: SqlParameter | undefined): readonly (CursorValue | null)[] {
  if (typeof last !== "string") return [];
  return last.split(",").map((digits) => digits === "" ? null : cursorText(Uint8Array.fromHex(digits)));
}

/** With its table, because a quoted name that is no column would be a text to the engine. */
function name(column: string): string {
  return `l.${quoteIdentifier(column)}`;
}
