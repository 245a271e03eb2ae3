// The specification of one scaffolded endpoint (specification, Endpoint management).
import type { EndpointSpec, FieldSpec } from "../../../core/endpoint_spec.ts";
import { singular } from "../../singular.ts";
import { columnDefault } from "./column_default.ts";
import { inputNames } from "./input_names.ts";
import { inputType } from "./input_type.ts";
import { plainName } from "./plain_name.ts";
import type { ScaffoldColumn, ScaffoldTable } from "./scaffold_table.ts";
import { type CrudOperation, scaffoldSlug } from "./scaffold_slug.ts";
import { sqlName } from "./sql_name.ts";

export type CrudSpec =
  | { readonly ok: true; readonly spec: EndpointSpec }
  | { readonly ok: false; readonly slug: string; readonly reason: string };

/** A column of the key with its input and its condition. */
interface KeyPart {
  readonly sql: string;
  readonly field: FieldSpec;
}

type Body = Pick<EndpointSpec, "kind" | "method" | "sql" | "input" | "output">;

const MAX_LIMIT = 500;
const DEFAULT_LIMIT = 50;
const MAX_NAME = 200;
const MAX_INPUT = 100;

export function crudSpec(table: ScaffoldTable, operation: CrudOperation): CrudSpec {
  const slug = scaffoldSlug(operation, table.name);
  const body = bodies[operation](table);
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

/** A text says why the table has no such endpoint. */
const bodies: Readonly<Record<CrudOperation, (table: ScaffoldTable) => Body | string>> = {
  list: ({ name }) => ({
    kind: "query",
    method: "GET",
    sql: `SELECT * FROM ${sqlName(name)} LIMIT ? OFFSET ?`,
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
      const columns = table.columns.filter(({ keyPlace, generated }) => keyPlace === 0 && !generated);
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

/** All columns of the key, in its order. */
function withKey(
  table: ScaffoldTable,
  build: (key: readonly KeyPart[], names: ReadonlySet<string>) => Body | string,
): Body | string {
  const columns = table.columns.filter(({ keyPlace }) => keyPlace > 0)
    .toSorted((a, b) => a.keyPlace - b.keyPlace);
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

/** Keys are left out where a row gets one by itself; a key that only the caller can know is asked for. */
function isCreated(
  { keyIsRowid }: ScaffoldTable,
  { keyPlace, generated, defaultSql }: ScaffoldColumn,
): boolean {
  if (generated) return false;
  return keyPlace === 0 || !keyIsRowid && defaultSql === null;
}

/** What is left out binds NULL: a column that takes none is asked for (specification, Endpoint management). */
function writtenField({ declaredType, notNull, keyPlace }: ScaffoldColumn, name: string): FieldSpec {
  const type = inputType(declaredType);
  return notNull || keyPlace > 0 ? { name, type, required: true } : { name, type };
}

/** A new row gets the column's default for what is left out, where the endpoint can carry it. */
function createdField(column: ScaffoldColumn, name: string): FieldSpec {
  const field = writtenField(column, name);
  const preset = field.required ? null : columnDefault(column.defaultSql, field.type);
  return preset === null ? field : { ...field, default: preset };
}
