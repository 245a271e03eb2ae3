// Requests as an API description shows them, made from its examples, and its word on their answers.
import { assert, assertEquals } from "@std/assert";
import { Ajv2020 } from "ajv/2020";
import type { ApiAnswer, ApiRequest } from "../testing/call_api.ts";
import type { StartedApp } from "../testing/start_app.ts";

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
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Record<string, { readonly content: Content }>;
  readonly security?: readonly Record<string, unknown>[];
}

/** What only earlier answers tell: ids and tokens, by their names. */
export interface Filled {
  readonly path?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

interface Description {
  readonly paths: Readonly<Record<string, Record<string, Omit<Operation, "method" | "path">>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, unknown>> };
}

/**
 * What takes or answers a file or a stream: examples say too little of those, and they are asked where they are tested.
 * Whatever else an API description shows takes and answers JSON.
 */
const STREAMED: ReadonlySet<string> = new Set([
  "GET /api/backup",
  "GET /v1/changes/{ticket}",
  "GET /v1/db/{ns}/{db}/export",
  "POST /v1/db/{ns}/{db}/import",
]);

let described: Operation[] | null = null;

/** Those of `/openapi.json`, asked once for all tests of a process: to make it takes longer than most of them. */
export async function apiOperations({ request }: Pick<StartedApp, "request">): Promise<Operation[]> {
  return described ??= operationsOf((await request("GET", "/openapi.json")).text);
}

/** Those of them that take and answer JSON. Fails where one that does not is none of `STREAMED`. */
export async function jsonOperations(app: Pick<StartedApp, "request">): Promise<Operation[]> {
  const operations = await apiOperations(app);
  const streamed = operations.filter(({ requestBody, responses }) =>
    [requestBody, responses["200"]].some((one) => one?.content && !("application/json" in one.content))
  );
  assertEquals(new Set(streamed.map(({ method, path }) => `${method} ${path}`)), STREAMED);
  return operations.filter((one) => !streamed.includes(one));
}

/** Every operation of a description, in its order, with the shared schemas in the places that refer to them. */
export function operationsOf(text: string): Operation[] {
  const { components }: Description = JSON.parse(text);
  const { paths }: Description = JSON.parse(text, (_, value) => {
    const ref: unknown = value?.$ref;
    return typeof ref === "string" ? components?.schemas?.[ref.slice(ref.lastIndexOf("/") + 1)] : value;
  });
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

/** The answer is the first one that the operation documents. */
export function assertAsDocumented(operation: Operation, answer: ApiAnswer): void {
  const { method, path, responses } = operation;
  const successes = Object.keys(responses).filter((one) => one.startsWith("2"));
  assert(successes.includes(String(answer.status)), `${method} ${path}: ${answer.status} ${answer.text}`);
  assertFits(operation, answer, `${method} ${path}`);
}

/** The answer has a documented status and the form of it, and nothing that is not documented. */
export function assertFits({ responses }: Operation, { status, text }: ApiAnswer, what: string): void {
  const success = responses[String(status)];
  assert(success !== undefined || status >= 400, `${what}: ${status} is not documented: ${text}`);
  const schema = (success ?? responses["default"])?.content["application/json"]?.schema;
  assert(schema, `${what} documents no answer`);
  const check = checkOf(schema);
  const body: unknown = JSON.parse(text);
  assert(check(body), `${what}: ${ajv.errorsText(check.errors)} in ${text}`);
  const told: unknown = Object(body).success;
  assert(told === undefined || told === status < 400, `${what}: ${status} with ${text}`);
}

const checks = new Map<string, ReturnType<typeof ajv.compile>>();
/** To close a schema and to write it down takes longer than most answers. */
const checksOfSchemas = new WeakMap<Schema, ReturnType<typeof ajv.compile>>();

function checkOf(schema: Schema): ReturnType<typeof ajv.compile> {
  const known = checksOfSchemas.get(schema);
  if (known) return known;
  const all = closed(schema);
  const name = JSON.stringify(all);
  const check = checks.get(name) ?? ajv.compile(all);
  checks.set(name, check);
  checksOfSchemas.set(schema, check);
  return check;
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
