// The published endpoints of a database as an OpenAPI 3.1 document.
import type { EndpointSpec } from "../../../core/endpoint_spec.ts";
import type { EndpointRecord } from "../../../store/records.ts";
import { prepareSpec } from "../../endpoints/spec/prepare_spec.ts";
import { outputs, outputSchema } from "../../endpoints/spec/outputs.ts";
import type { TargetPath } from "../../../access/resolve_target.ts";
import { findPublicDatabase } from "../public_address.ts";
import type { DiscoveryContext } from "./discover_endpoints.ts";
import { exampleInput } from "./example_input.ts";
import { inputSchema } from "./input_schema.ts";

type Json = Readonly<Record<string, unknown>>;

const CAPTCHA = {
  name: "X-Captcha-Token",
  in: "header",
  required: true,
  description: "What the captcha's widget submits",
  schema: { type: "string" },
} as const;

const INTEGERS = {
  name: "X-Integers",
  in: "header",
  required: false,
  description: "string: every INTEGER comes as a string",
  schema: { type: "string", enum: ["string"] },
} as const;

const KEY = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "The call runs once, and its answer is given again for 24 hours",
} as const;

const FAILURE = {
  type: "object",
  properties: {
    success: { type: "boolean" },
    error: { type: "string" },
    code: { type: "string" },
    issues: {
      type: "array",
      items: {
        type: "object",
        properties: { path: { type: "string" }, message: { type: "string" } },
        required: ["path", "message"],
      },
    },
  },
  required: ["success", "error", "code"],
} as const;

/** Paths by the control plane's list, which stays the same object for a moment: strangers ask often. */
const cached = new WeakMap<readonly EndpointRecord[], Json>();

/** The document. Errors: `database_not_found`, `meter_unreachable`. */
export async function describePublished(
  { control, baseUrl }: DiscoveryContext,
  address: TargetPath,
): Promise<Json> {
  const database = await findPublicDatabase(control, address);
  const records = await control.endpoints.published(database.id);
  return {
    openapi: "3.1.0",
    info: { title: `${address.namespaceSlug}/${address.databasePath}`, version: "1" },
    servers: [{ url: `${baseUrl}/p/${address.namespaceSlug}/${address.databasePath}` }],
    paths: pathsOf(records),
    components: {
      schemas: { Failure: FAILURE },
      securitySchemes: { session: { type: "http", scheme: "bearer", bearerFormat: "JWT" } },
    },
  };
}

function pathsOf(records: readonly EndpointRecord[]): Json {
  let paths = cached.get(records);
  if (paths === undefined) {
    paths = Object.fromEntries(
      records.map(({ spec }) => [`/${spec.slug}`, { [spec.method.toLowerCase()]: operationOf(spec) }]),
    );
    cached.set(records, paths);
  }
  return paths;
}

function operationOf(spec: EndpointSpec): Json {
  const input = inputSchema(spec);
  const example = exampleInput(spec);
  const byQuery = spec.method === "GET";
  const parameters = [
    ...(spec.captcha === true ? [CAPTCHA] : []),
    ...(outputs[spec.output].holdsRows ? [INTEGERS] : []),
    ...(spec.kind === "mutation"
      ? [{ ...KEY, schema: { type: "string", minLength: spec.auth === "session" ? 1 : 16, maxLength: 200 } }]
      : []),
    ...(byQuery
      ? Object.entries(input.properties).map(([name, schema]) =>
        parameterOf(name, schema, { required: input.required.includes(name), example: example?.[name] })
      )
      : []),
  ];
  const failure = { $ref: "#/components/schemas/Failure" };
  return {
    operationId: spec.slug,
    summary: spec.name,
    ...(spec.description === undefined ? {} : { description: spec.description }),
    ...(spec.auth === "session" ? { security: [{ session: [] }] } : { security: [] }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(byQuery ? {} : {
      requestBody: {
        required: input.required.length > 0,
        content: {
          "application/json": { schema: input, ...(example === null ? {} : { example }) },
          ...(prepareSpec(spec).rawBody === null ? {} : { "application/octet-stream": {} }),
        },
      },
    }),
    responses: {
      200: {
        description: "Success",
        content: spec.output === "bytes"
          ? { [spec.contentType ?? "application/octet-stream"]: {} }
          : { "application/json": { schema: outputSchema(spec) } },
      },
      default: { description: "Failure", content: { "application/json": { schema: failure } } },
    },
  };
}

/** An input of type `json` has no `type` in its schema: in the query it is JSON text. */
function parameterOf(
  name: string,
  schema: Json,
  { required, example }: { readonly required: boolean; readonly example: unknown },
): Json {
  const shown = { schema, ...(example === undefined ? {} : { example }) };
  return {
    name,
    in: "query",
    required,
    ...("type" in schema ? shown : { content: { "application/json": shown } }),
  };
}
