// The list of an app: pages in any order that an index has, with filters on indexed columns.
import type { FieldSpec } from "../../../core/endpoint_spec.ts";
import { foldName } from "../../../sql/words/names.ts";
import type { IndexFacts } from "../../schema/read_indexes.ts";
import type { ColumnDefinition, TableDefinition } from "../../schema/read_table.ts";
import { isSecretColumn } from "../../schema/secret_column.ts";
import { LIST_INPUTS, type ListConfig } from "../spec/list_statements.ts";
import { DEFAULT_LIMIT, inputType, MAX_LIMIT } from "./crud_spec.ts";
import { inputNames } from "./scaffold_names.ts";
import { keyDefinitions } from "../../schema/key_columns.ts";

/** The list around a SELECT of the table's rows, and the inputs that are for it. */
export interface ListBody {
  readonly list: ListConfig;
  readonly input: readonly FieldSpec[];
}

type Filter = NonNullable<ListConfig["filters"]>[number];

/** Columns with filters, of which each has four at most: a list with more of them is one that somebody writes. */
const MAX_FILTERED = 8;
/** Column names that say that their texts are days or times. */
const NAMES_TIME = /(?:^|_)(?:at|on|date|day|time)$/i;
const DECLARES_TIME = /^(?:date|time)/i;

/** Null where the table has no key. `owner`: each page has the rows of one user. */
export function listBody(
  table: TableDefinition,
  { owner, indexes }: { readonly owner: ColumnDefinition | null; readonly indexes: readonly IndexFacts[] },
): ListBody | null {
  const key = keyDefinitions(table.columns).map(({ name }) => name);
  if (key.length === 0) return null;
  const indexed = indexedColumns(table, { owner, indexes });
  const sorts = [...new Set([...key.slice(0, 1), ...indexed.map(({ name }) => name)])];
  const [first = ""] = sorts;
  // A key of one column finds one row, which is what `get` is for; each column of a longer one finds several.
  const filtered = indexed.filter(({ name }) => key.length > 1 || !key.includes(name)).slice(0, MAX_FILTERED);
  const names = filterNames(filtered);
  const made = filtered.map((column, at) => filtersOf(column, names[at] ?? "", names));
  return {
    list: { key, ...(made.length === 0 ? {} : { filters: made.flatMap(({ filters }) => filters) }) },
    input: [
      ...made.flatMap(({ input }) => input),
      { name: "sort", type: "text", enum: sorts.flatMap((name) => [name, `-${name}`]), default: first },
      { name: "limit", type: "integer", min: 1, max: MAX_LIMIT, default: DEFAULT_LIMIT },
      { name: "cursor", label: "nextCursor of the page before", type: "text" },
      { name: "total", label: "Whether to count all rows", type: "boolean", default: false },
    ],
  };
}

/** First columns of an index, and those that follow the owner's in one. An index of some rows only serves no list of all. */
function indexedColumns(
  { columns }: TableDefinition,
  { owner, indexes }: { readonly owner: ColumnDefinition | null; readonly indexes: readonly IndexFacts[] },
): ColumnDefinition[] {
  const whole = indexes.filter(({ partial }) => !partial);
  const leading = whole.map((index) => {
    const [first, second] = index.columns.map(({ name }) => name);
    return owner !== null && first === owner.name ? second : first;
  });
  return columns.filter((one) =>
    one !== owner && !isSecretColumn(one) && inputType(one.declaredType) !== "blob" &&
    inputType(one.declaredType) !== "json" &&
    leading.includes(one.name)
  );
}

/** One name for each column, none of which is taken by the list itself. */
function filterNames(columns: readonly ColumnDefinition[]): string[] {
  const isTaken = (name: string) => LIST_INPUTS.some((one) => one === foldName(name));
  return inputNames(columns.map(({ name }) => isTaken(name) ? `${name}_is` : name));
}

/**
 * By its value; numbers, days and times by a range too, and what may be NULL by whether it is. Days and times are compared as
 * the text that they are. A name that another column has, of `taken`, stays its own.
 */
function filtersOf(
  { name: column, declaredType, notNull }: ColumnDefinition,
  name: string,
  taken: readonly string[],
): { readonly filters: Filter[]; readonly input: FieldSpec[] } {
  const type = inputType(declaredType);
  const filters: Filter[] = [{ input: name, column }];
  const isTime = type === "date" ||
    type === "text" && (DECLARES_TIME.test(declaredType.trim()) || NAMES_TIME.test(column));
  const isNumber = (type === "integer" || type === "number") && !/_?id$/i.test(column);
  const isFree = (suffix: string) => name.length <= 36 && !taken.includes(name + suffix);
  const ranged = (isTime || isNumber) && isFree("_from") && isFree("_to");
  if (ranged) {
    filters.push({ input: `${name}_from`, column, is: ">=" }, { input: `${name}_to`, column, is: "<=" });
  }
  const input: FieldSpec[] = filters.map(({ input }) => ({ name: input, type }));
  if (!notNull && isFree("_null")) {
    filters.push({ input: `${name}_null`, column, is: "null" });
    input.push({ name: `${name}_null`, label: `Whether ${column} is empty`.slice(0, 200), type: "boolean" });
  }
  return { filters, input };
}
