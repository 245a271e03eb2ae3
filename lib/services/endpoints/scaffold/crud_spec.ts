// The specification of one scaffolded endpoint.
import type { EndpointSpec, FieldSpec } from "../../../core/endpoint_spec.ts";
import { quoteIdentifier } from "../../../sql/words/quote.ts";
import { reservedWords } from "../../../sql/words/names.ts";
import type { ColumnDefinition, TableDefinition } from "../../schema/read_table.ts";
import { singular } from "../../singular.ts";
import { columnDefault } from "./column_default.ts";
import {
  type CrudOperation,
  inputNames,
  plainName,
  type ScaffoldOperation,
  scaffoldSlug,
} from "./scaffold_names.ts";
import { keyDefinitions } from "../../schema/key_columns.ts";

/** A specification, or the reason why the table has no such endpoint. */
export type CrudSpec =
  | { readonly ok: true; readonly spec: EndpointSpec }
  | { readonly ok: false; readonly slug: string; readonly reason: string };

/** A column of the key with its input and its condition. */
interface KeyPart {
  readonly sql: string;
  readonly field: FieldSpec;
}

/** A specification without what its table and operation name. */
export type Body =
  & Pick<EndpointSpec, "kind" | "method" | "sql" | "input" | "output">
  & Partial<Pick<EndpointSpec, "auth" | "authConfig" | "cors" | "rateLimit" | "list" | "outputTypes">>;

/** Rows of one page. */
export const MAX_LIMIT = 500;
/** Rows of a page unless told otherwise. */
export const DEFAULT_LIMIT = 50;
const MAX_NAME = 200;
const MAX_INPUT = 100;

/** Plans the endpoint of one operation on a table. */
export function crudSpec(table: TableDefinition, operation: CrudOperation): CrudSpec {
  return namedSpec(table, operation, bodies[operation](table));
}

/** Names the endpoint by its table and operation. `body` is a reason where the table has no such endpoint. */
export function namedSpec(
  table: TableDefinition,
  operation: ScaffoldOperation,
  body: Body | string,
): CrudSpec {
  const slug = scaffoldSlug(operation, table.name);
  if (typeof body === "string") return { ok: false, slug, reason: body };
  if (body.input.length > MAX_INPUT) {
    return {
      ok: false,
      slug,
      reason: `The table has more columns than the ${MAX_INPUT} inputs of an endpoint`,
    };
  }
  const words = (operation === "list" ? plainName(table.name) : singular(plainName(table.name))).replaceAll(
    "_",
    " ",
  );
  const name = `${operation[0]?.toUpperCase()}${operation.slice(1)} ${words || table.name}`.slice(
    0,
    MAX_NAME,
  );
  return { ok: true, spec: { slug, name, ...body } };
}

/** A string is the reason why the table has no such endpoint. */
const bodies: Readonly<Record<CrudOperation, (table: TableDefinition) => Body | string>> = {
  list: ({ name, columns }) => ({
    kind: "query",
    method: "GET",
    sql: `SELECT ${selected(columns, columns.some(isListed) ? columns.filter(isListed) : columns)} FROM ${
      sqlName(name)
    } LIMIT ? OFFSET ?`,
    input: [
      { name: "limit", type: "integer", min: 1, max: MAX_LIMIT, default: DEFAULT_LIMIT },
      { name: "offset", type: "integer", min: 0, default: 0 },
    ],
    output: "rows",
  }),
  get: (table) =>
    withKey(table, (key) => ({
      kind: "query",
      method: "GET",
      sql: `SELECT * FROM ${sqlName(table.name)} WHERE ${conditions(key)}`,
      input: key.map(({ field }) => field),
      output: "first_row",
    })),
  create: (table) => {
    const columns = table.columns.filter((column) => isCreated(table, column));
    const names = inputNames(columns.map(({ name }) => name));
    const target = sqlName(table.name);
    return {
      kind: "mutation",
      method: "POST",
      sql: columns.length === 0
        ? `INSERT INTO ${target} DEFAULT VALUES`
        : `INSERT INTO ${target} (${columns.map(({ name }) => sqlName(name)).join(", ")}) VALUES (${
          columns.map(() => "?").join(", ")
        })`,
      input: columns.map((column, at) => createdField(column, names[at] ?? "")),
      output: "rows_written",
    };
  },
  update: (table) =>
    withKey(table, (key, keyNames) => {
      const columns = table.columns.filter(({ keyPosition, generated }) => keyPosition === 0 && !generated);
      if (columns.length === 0) return "The table has no columns beside its key to update";
      const names = inputNames(columns.map(({ name }) => name), keyNames);
      const fields = columns.map((column, at) => writtenField(column, names[at] ?? ""));
      return {
        kind: "mutation",
        method: "POST",
        sql: `UPDATE ${sqlName(table.name)} SET ${
          columns.map(({ name }) => `${sqlName(name)} = ?`).join(", ")
        } WHERE ${conditions(key)}`,
        input: [...fields, ...key.map(({ field }) => field)],
        output: "rows_written",
      };
    }),
  delete: (table) =>
    withKey(table, (key) => ({
      kind: "mutation",
      method: "POST",
      sql: `DELETE FROM ${sqlName(table.name)} WHERE ${conditions(key)}`,
      input: key.map(({ field }) => field),
      output: "rows_written",
    })),
};

/** Whether lists show the column: a page of files would be megabytes, which nobody who lists has asked for. */
export function isListed({ declaredType, keyPosition }: ColumnDefinition): boolean {
  return keyPosition > 0 || inputType(declaredType) !== "blob";
}

/** What a SELECT or RETURNING shows. */
export function selected(all: readonly ColumnDefinition[], some: readonly ColumnDefinition[]): string {
  if (some.length === all.length) return "*";
  return some.map(({ name }) => sqlName(name)).join(", ");
}

/** Calls `build` with all columns of the key, in the key's order. */
function withKey(
  table: TableDefinition,
  build: (key: readonly KeyPart[], names: ReadonlySet<string>) => Body | string,
): Body | string {
  const columns = keyDefinitions(table.columns);
  if (columns.length === 0) return `The ${table.kind === "view" ? "view" : "table"} has no primary key`;
  const names = inputNames(columns.map(({ name }) => name));
  const key = columns.map(({ name, declaredType }, at): KeyPart => ({
    sql: `${sqlName(name)} = ?`,
    field: { name: names[at] ?? "", type: inputType(declaredType), required: true },
  }));
  return build(key, new Set(names));
}

function conditions(key: readonly KeyPart[]): string {
  return key.map(({ sql }) => sql).join(" AND ");
}

/** A key is no input where the row gets one by itself. A key that only the caller can know is an input. */
export function isCreated(
  { keyIsRowid }: TableDefinition,
  { keyPosition, generated, defaultSql }: ColumnDefinition,
): boolean {
  if (generated) return false;
  return keyPosition === 0 || !keyIsRowid && defaultSql === null;
}

/** An absent input binds NULL, so the input of a NOT NULL column is required. */
function writtenField({ declaredType, notNull, keyPosition }: ColumnDefinition, name: string): FieldSpec {
  const type = inputType(declaredType);
  return notNull || keyPosition > 0 ? { name, type, required: true } : { name, type };
}

/** For an absent input a new row gets the column's default, where a specification can carry that default. */
function createdField(column: ColumnDefinition, name: string): FieldSpec {
  const field = writtenField(column, name);
  const preset = field.required ? null : columnDefault(column.defaultSql, field.type);
  return preset === null ? field : { ...field, default: preset };
}

/** The first that matches decides; everything else is text. */
const rules: readonly (readonly [pattern: RegExp, type: FieldSpec["type"]])[] = [
  [/^BOOL(EAN)?\b/i, "boolean"],
  [/^JSONB?\b/i, "json"],
  [/^BLOB\b/i, "blob"],
  [/^UUID\b/i, "uuid"],
  [/^DATE$/i, "date"],
  [/CHAR|CLOB|TEXT/i, "text"],
  [/INT/i, "integer"],
  [/^(REAL|NUMERIC)\b/i, "number"],
];

/** The type of the input for a column, by its declared type. */
export function inputType(declaredType: string): FieldSpec["type"] {
  return rules.find(([pattern]) => pattern.test(declaredType.trim()))?.[1] ?? "text";
}

/** They parse as names in some places only, or mean a value or the row's number. */
const doubtful: ReadonlySet<string> = new Set(
  "cross full inner left natural outer right indexed true false rowid oid _rowid_ over filter window".split(
    " ",
  ),
);

/** Names in the text of scaffolded statements: bare where that means the same, for people read them. */
export function sqlName(name: string): string {
  const lower = name.toLowerCase();
  const plain = /^[a-z_][a-z0-9_]*$/.test(lower) && !reservedWords.has(lower) && !doubtful.has(lower);
  return plain ? name : quoteIdentifier(name);
}
