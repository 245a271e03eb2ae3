// A typed TypeScript client of a database's published endpoints: one file, nothing but fetch behind it.
import type { EndpointSpec, FieldSpec } from "../../../core/endpoint_spec.ts";
import type { QueryContext } from "../../../query/query_call.ts";
import { foldName } from "../../../sql/words/names.ts";
import { type ResultColumn, resultColumns } from "../../../sql/grammar/result_columns.ts";
import { affinityOf } from "../../../sql/words/sql_value.ts";
import type { EndpointRecord } from "../../../store/records.ts";
import { trunkTarget } from "../../databases/database_record.ts";
import { outputs } from "../../endpoints/spec/outputs.ts";
import { prepareSpec } from "../../endpoints/spec/prepare_spec.ts";
import { isSafeRange } from "../../endpoints/spec/read_value.ts";
import { readSchema } from "../../schema/read_schema.ts";
import type { SchemaFacts, TableFacts } from "../../schema/schema_facts.ts";
import type { DiscoveryContext } from "../discovery/discover_endpoints.ts";
import { inputForms } from "../discovery/input_schema.ts";
import type { TargetPath } from "../../../access/resolve_target.ts";
import { findPublicDatabase } from "../public_address.ts";
import { captchaSource } from "./captcha_source.ts";
import { clientRuntime } from "./client_runtime.ts";

/** What a client is made from. */
export interface ClientInput {
  /** `<namespace>/<database>`. */
  readonly title: string;
  /** Where the endpoints are served, without a slash at the end. */
  readonly url: string;
  readonly specs: readonly EndpointSpec[];
  readonly schema: SchemaFacts;
}

/** Makes the source of a client. */
function clientSource({ title, url, specs, schema }: ClientInput): string {
  const names = new ClientNames();
  const parts = specs.map((spec) => endpointSource(spec, names.method(spec.slug), schema));
  return `// Client of ${title}, made from its published endpoints. It needs nothing but fetch.

${clientRuntime(url)}${specs.some(({ captcha }) => captcha === true) ? captchaSource : ""}
${parts.map(({ types }) => types).join("\n")}
/** The endpoints of ${title}, one method each. */
export function createClient(options: ClientOptions = {}) {
  const send = sender(options);
  return {
${parts.map(({ method }) => method).join("\n")}
  };
}
`;
}

function endpointSource(
  spec: EndpointSpec,
  name: string,
  schema: SchemaFacts,
): { readonly types: string; readonly method: string } {
  const members = inputMembers(spec);
  const input = `${typeName(name)}Input`;
  const output = `${typeName(name)}Output`;
  const forms = inputForms[spec.kind]?.map((names) => names.map((name) => `${name}: string`).join("; "));
  const optional = forms === undefined && members.every((member) => /^ {2}\w+\?:/m.test(member));
  const about = commentText([spec.name, spec.description ?? ""].filter((text) => text !== "").join(": "));
  const call = spec.captcha === true ? "call: Call & { captcha: string }" : "call?: Call";
  // An argument that may be left out cannot stand before one that may not.
  const given = optional && spec.captcha !== true ? `input?: ${input}` : `input: ${input}`;
  return {
    types: [
      forms !== undefined
        ? `export type ${input} =${forms.map((form) => `\n  | { ${form} }`).join("")};\n`
        : members.length === 0
        ? `export type ${input} = Record<string, never>;\n`
        : `export interface ${input} {\n${members.join("\n")}\n}\n`,
      `export type ${output} = ${outputType(spec, schema)};\n`,
    ].join(""),
    method: `    /** ${about} */
    ${name}: (${given}, ${call}): Promise<${output}> =>
      send(${JSON.stringify(spec.method)}, ${JSON.stringify(spec.slug)}, input ?? {}, call${
      spec.output === "bytes" ? ", true" : ""
    }),`,
  };
}

const types: Readonly<Record<FieldSpec["type"], string>> = {
  text: "string",
  email: "string",
  url: "string",
  integer: "number",
  number: "number",
  boolean: "boolean",
  json: "unknown",
  match: "string",
  date: "string",
  datetime: "string",
  uuid: "string",
  blob: "Bytes",
};

function typeOf(field: FieldSpec, method: EndpointSpec["method"]): string {
  // A body takes the form that answers have, a query the bytes alone.
  if (field.type === "blob" && method === "POST") return `${types.blob} | { $blob: string }`;
  return field.type === "integer" && !isSafeRange(field) ? "number | bigint" : types[field.type];
}

/** Members of an interface, one a line; empty where the caller sends nothing. */
function inputMembers({ input, method }: Pick<EndpointSpec, "input" | "method">): string[] {
  return input.filter(({ name }) => !name.startsWith("$")).map((field) => {
    const type = field.enum?.map((value) => JSON.stringify(value)).join(" | ") ?? typeOf(field, method);
    const required = field.required === true;
    return `${propertyDoc(field.label)}  ${field.name}${required ? "" : "?"}: ${type}${
      required ? "" : " | null"
    };`;
  });
}

/** One line of a comment. */
function commentText(text: string): string {
  return text.replace(/[\s\u0085\u2028\u2029]+/g, " ").replaceAll("*/", "* /").trim();
}

/** The line above a member, with its end; empty where there is nothing to say. */
function propertyDoc(text: string | undefined): string {
  return text === undefined || commentText(text) === "" ? "" : `  /** ${commentText(text)} */\n`;
}

/** What has a method `then` is taken for a promise: whoever awaits the client would wait for ever. */
const TAKEN = ["then"];

/** `get-order` → `getOrder`. Slugs that would meet get a number, and so does one that JavaScript would call. */
class ClientNames {
  readonly #used = new Set<string>(TAKEN);

  method(slug: string): string {
    const base = slug.replace(
      /-+([a-z0-9])?/g,
      (_, letter: string | undefined) => (letter ?? "").toUpperCase(),
    );
    let name = base;
    for (let number = 2; this.#used.has(name.toLowerCase()); number++) name = `${base}_${number}`;
    this.#used.add(name.toLowerCase());
    return name;
  }
}

/** `getOrder` → `GetOrder`. */
function typeName(method: string): string {
  return method.charAt(0).toUpperCase() + method.slice(1);
}

/** Of columns. Their declared types are the owner's intent: the engine would store something else without complaint. */
const affinityTypes = {
  INTEGER: "number",
  REAL: "number",
  NUMERIC: "Value",
  TEXT: "string",
  BLOB: "Value",
} as const;

/** The type of the body of an endpoint's answer, as TypeScript source, from the columns that its statement shows. */
function outputType(
  spec: EndpointSpec,
  schema: SchemaFacts,
): string {
  const { holdsRows, clientType } = outputs[spec.output];
  if (!holdsRows) return clientType(null);
  const tables = new Map(schema.tables.map((table) => [foldName(table.name), table]));
  const tableOf = (name: string) => tables.get(foldName(name));
  const { sql } = prepareSpec(spec).last;
  const columns = resultColumns(sql, (name) => tableOf(name)?.columns.map((column) => column.name) ?? null);
  if (columns === null && spec.outputTypes !== undefined) {
    return clientType(null).replace("Value", "unknown");
  }
  return clientType(
    columns && columns.map((column) => ({
      name: column.name,
      type: valueType(column, tableOf, declaredType(spec, column.name)),
    })),
  );
}

/** What the owner has declared that the column comes as. */
function declaredType({ outputTypes: types }: EndpointSpec, column: string): "boolean" | "unknown" | null {
  const type = types !== undefined && Object.hasOwn(types, column) ? types[column] : undefined;
  return type === undefined ? null : type === "boolean" ? "boolean" : "unknown";
}

/** `declared`: in the place of what the column stores; null stays null. */
function valueType(
  { source, joined }: ResultColumn,
  tableOf: (name: string) => TableFacts | undefined,
  declared: "boolean" | "unknown" | null,
): string {
  const column = source && tableOf(source.table)?.columns.find(({ name }) => name === source.column);
  const type = declared ?? (column ? affinityTypes[affinityOf(column.type)] : "Value");
  if (type === "Value" || type === "unknown") return type;
  const isRowid = column && column.pk > 0 && /^integer$/i.test(column.type);
  return !joined && (column?.notNull || isRowid) ? type : `${type} | null`;
}

/**
 * By the control plane's list, which stays the same object for a moment: strangers ask often, and it reads the
 * schema.
 */
const cached = new WeakMap<readonly EndpointRecord[], Promise<string>>();

/**
 * The client of a database as TypeScript source, cached for as long as the list of its published endpoints is.
 * Errors: `database_not_found`, `meter_unreachable`, those of the pipeline.
 */
export async function writeClient(
  ctx: DiscoveryContext & { readonly query: QueryContext },
  address: TargetPath,
): Promise<string> {
  const { control, baseUrl, query } = ctx;
  const { namespaceSlug, databasePath } = address;
  const database = await findPublicDatabase(control, address);
  const records = await control.endpoints.published(database.id);
  const target = trunkTarget(database, namespaceSlug, "read");
  const title = `${namespaceSlug}/${database.slug}`;
  // A branch has the same endpoints at another address, which replaces this one below.
  const url = `${baseUrl}/p/${title}`;
  let source = cached.get(records);
  if (source === undefined) {
    source = readSchema({ ...query, target, tokenId: "client" })
      .then((schema) => clientSource({ title, url, schema, specs: records.map(({ spec }) => spec) }));
    cached.set(records, source);
    source.catch(() => cached.delete(records));
  }
  const text = await source;
  return databasePath === database.slug
    ? text
    : text.replace(url, `${baseUrl}/p/${namespaceSlug}/${databasePath}`);
}
