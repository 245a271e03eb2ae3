// The one table of output kinds: all that `output` decides about an endpoint. To add a kind, list it in the schema of
// specifications (lib/core/endpoint_spec.ts); the compiler then asks for its row here, and a test for its name in
// routes/docs/endpoints.md. Nothing else has to change.
import type { EndpointSpec } from "../../../core/endpoint_spec.ts";
import type { StatementResult } from "../../../tenant/tenant_store.ts";
import { readResult } from "../../query/read_result.ts";
import { type OutputTypes, writerOf } from "./output_types.ts";

/** The body of the output `done`. */
export const DONE = '{"done":true}';

type Json = Readonly<Record<string, unknown>>;

/** A column of the answer with its TypeScript type in a generated client. */
export interface TypedColumn {
  readonly name: string;
  readonly type: string;
}

/** What one kind of output means for every part of the service. */
export interface OutputKind {
  /** Kinds of endpoints that may have it. */
  readonly kinds: readonly EndpointSpec["kind"][];
  /** Whether the body holds values of rows: then `X-Integers` applies, and the doctor looks at the columns shown. */
  readonly holdsRows: boolean;
  /** The body as JSON text, from the statement's result. Null where it is no JSON or the kind of endpoint writes it. */
  readonly body: ((result: StatementResult, types?: OutputTypes) => string) | null;
  /** The body as JSON Schema (2020-12). */
  readonly schema: Json;
  /** The body as a TypeScript type. `columns` is null where the statement's text does not tell them. */
  readonly clientType: (columns: readonly TypedColumn[] | null) => string;
}

/** A value of a row: whole numbers beyond 2^53 are digits, a blob is an object with its base64. */
const value: Json = {
  anyOf: [
    { type: ["string", "number", "null"] },
    { type: "object", properties: { $blob: { type: "string" } }, required: ["$blob"] },
  ],
};
const columns: Json = { type: "array", items: { type: "string" } };
const rows: Json = { type: "array", items: { type: "array", items: value } };

/** One row for each kind of output. Error messages name the kinds in this order. */
export const outputs: Readonly<Record<EndpointSpec["output"], OutputKind>> = {
  rows_written: {
    kinds: ["mutation"],
    holdsRows: false,
    body: ({ rowsWritten }) => `{"rowsWritten":${rowsWritten}}`,
    schema: object({ rowsWritten: { type: "integer", minimum: 0 } }),
    clientType: () => "{ rowsWritten: number }",
  },
  rows: {
    kinds: ["query", "mutation"],
    holdsRows: true,
    body: (result, types) => types === undefined ? `${result.json}}` : typedRows(result, types),
    schema: object({ columns, rows }),
    clientType: (columns) => {
      if (columns === null) return "Rows<Value[]>";
      const names = columns.map(({ name }) => JSON.stringify(name)).join(", ");
      return `Rows<[${columns.map(({ type }) => type).join(", ")}], [${names}]>`;
    },
  },
  first_row: {
    kinds: ["query", "mutation"],
    holdsRows: true,
    body: (result, types) => `{"row":${firstRow(result, types)}}`,
    schema: object({ row: { anyOf: [{ type: "object", additionalProperties: value }, { type: "null" }] } }),
    clientType: (columns) => {
      if (columns === null) return "{ row: Record<string, Value> | null }";
      // When two columns have the same name the last one counts, as in the answer.
      const byName = new Map(columns.map(({ name, type }) => [name, type]));
      const members = [...byName].map(([name, type]) => `${JSON.stringify(name)}: ${type}`);
      return `{ row: { ${members.join("; ")} } | null }`;
    },
  },
  page: {
    kinds: ["query"],
    holdsRows: true,
    body: null,
    schema: object({
      columns,
      rows,
      nextCursor: { type: ["string", "null"] },
      total: { type: ["integer", "null"] },
    }),
    clientType: (columns) => `Page<${outputs.rows.clientType(columns)}>`,
  },
  bytes: {
    kinds: ["query"],
    holdsRows: true,
    body: null,
    schema: {},
    clientType: () => "Blob",
  },
  session: {
    kinds: ["auth_signup", "auth_login", "auth_password", "auth_refresh"],
    holdsRows: false,
    body: null,
    schema: object({ token: { type: "string" }, expiresAt: { type: "string", format: "date-time" } }),
    clientType: () => "{ token: string; expiresAt: string }",
  },
  done: {
    kinds: ["auth_logout", "auth_reset", "auth_verify"],
    holdsRows: false,
    body: null,
    schema: object({ done: { type: "boolean" } }),
    clientType: () => "{ done: true }",
  },
  answer: {
    kinds: ["ask"],
    holdsRows: true,
    body: null,
    schema: object({ sql: { type: "string" }, columns, rows, explanation: { type: "string" } }),
    clientType: () => "{ sql: string; columns: string[]; rows: Value[][]; explanation: string }",
  },
};

/** The outputs that a kind of endpoint may have, in the order of the table. */
export function outputsOf(kind: EndpointSpec["kind"]): EndpointSpec["output"][] {
  const names = Object.keys(outputs) as EndpointSpec["output"][];
  return names.filter((name) => outputs[name].kinds.includes(kind));
}

function typedRows(result: StatementResult, types: OutputTypes): string {
  const { columns, rows } = readResult(result.json);
  const writers = columns.map((name) => writerOf(types, name));
  const texts = rows.map((row) => `[${writers.map((write, index) => write(row[index])).join(",")}]`);
  return `{"columns":${JSON.stringify(columns)},"rows":[${texts.join(",")}]}`;
}

/** The body of an endpoint as JSON Schema: columns with types of their own may hold any value. */
export function outputSchema({ output, outputTypes }: Pick<EndpointSpec, "output" | "outputTypes">): Json {
  if (outputTypes === undefined) return outputs[output].schema;
  const anyRows = { columns, rows: { type: "array", items: { type: "array", items: {} } } };
  if (output === "rows") return object(anyRows);
  return output === "page"
    ? object({ ...anyRows, nextCursor: { type: ["string", "null"] }, total: { type: ["integer", "null"] } })
    : object({ row: { anyOf: [{ type: "object", additionalProperties: {} }, { type: "null" }] } });
}

/**
 * The text is built by hand, so that no column's name means anything to JavaScript. The last of two equal names
 * counts.
 */
function firstRow(result: StatementResult, types: OutputTypes | undefined): string {
  const { columns, rows } = readResult(result.json);
  const [row] = rows;
  if (row === undefined) return "null";
  const members = new Map(columns.map((name, index) => [name, writerOf(types, name)(row[index])]));
  return `{${[...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`;
}

function object(properties: Json): Json {
  return { type: "object", properties, required: Object.keys(properties) };
}
