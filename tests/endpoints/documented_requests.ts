// Requests as an API description shows them, made from its examples, and its word on their answers.
import { assert, assertEquals } from "@std/assert";
import { Ajv2020 } from "ajv/2020";
import type { ApiAnswer, ApiRequest } from "../testing/call_api.ts";

type Schema = Readonly<Record<string, unknown>>;
type Content = Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;

export interface Operation {
  readonly method: string;
  /** With `{name}` for what varies. */
  readonly path: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: "path" | "query" | "header";
    readonly required?: boolean;
    readonly schema?: Schema;
    readonly example?: unknown;
    readonly content?: Content;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Record<string, { readonly content: Content }>;
  readonly security?: readonly Record<string, unknown>[];
}

/** What only earlier answers tell: ids and tokens, by their names. */
export interface Filled {
  readonly path?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** Every operation of a description, in its order. */
export function operationsOf(text: string): Operation[] {
  const { paths }: { paths: Record<string, Record<string, Omit<Operation, "method" | "path">>> } = JSON.parse(
    text,
  );
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path }))
  );
}

/** Path and body of the documented request. Fails where a value that it cannot do without has no example. */
export function requestOf(
  operation: Operation,
  filled: Filled = {},
): { readonly path: string; readonly request: ApiRequest } {
  const name = `${operation.method} ${operation.path}`;
  const query = new URLSearchParams();
  let path = operation.path;
  for (const parameter of operation.parameters ?? []) {
    const example = exampleOf(parameter.content?.["application/json"] ?? parameter);
    if (parameter.in === "path") {
      const value = filled.path?.[parameter.name] ?? example;
      assert(typeof value === "string", `${name} has no example of ${parameter.name}`);
      path = path.replace(`{${parameter.name}}`, encodeURIComponent(value));
    } else if (example !== undefined) query.append(parameter.name, textOf(example));
    else assert(parameter.required !== true, `${name} has no example of ${parameter.name}`);
  }
  const request = operation.requestBody === undefined ? {} : { body: bodyOf(operation, filled, name) };
  return { path: query.size === 0 ? path : `${path}?${query}`, request };
}

function bodyOf({ requestBody }: Operation, filled: Filled, name: string): unknown {
  const media = requestBody?.content["application/json"];
  const example = media && exampleOf(media);
  assert(typeof example === "object" && example !== null, `${name} has no example of its body`);
  return { ...example, ...filled.body };
}

function exampleOf(
  { schema, example }: { readonly schema?: Schema; readonly example?: unknown },
): unknown {
  const examples = schema?.["examples"];
  return example ?? (Array.isArray(examples) ? examples[0] : undefined);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

const ajv = new Ajv2020({ strict: false, validateFormats: false });

/** The answer has the documented status and form, and nothing that is not documented. */
export function assertAsDocumented({ method, path, responses }: Operation, answer: ApiAnswer): void {
  const [status] = Object.keys(responses).filter((one) => one !== "default");
  assertEquals(String(answer.status), status, `${method} ${path}: ${answer.text}`);
  const schema = responses[status ?? ""]?.content["application/json"]?.schema;
  assert(schema, `${method} ${path} documents no answer`);
  const check = ajv.compile(closed(schema));
  assert(
    check(JSON.parse(answer.text)),
    `${method} ${path}: ${ajv.errorsText(check.errors)} in ${answer.text}`,
  );
}

/** Members that the schema does not list are errors too. */
function closed(schema: Schema): Schema {
  const inside = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, closedPart(value)]),
  );
  return "properties" in schema && !("additionalProperties" in schema)
    ? { ...inside, additionalProperties: false }
    : inside;
}

function closedPart(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closedPart);
  return typeof value === "object" && value !== null ? closed({ ...value }) : value;
}
