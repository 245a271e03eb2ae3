// GET /openapi.json: `/v1` and `/api` as an OpenAPI 3.1 document, made from the mounted routes and the schemas that
// validate their input. Nothing is written twice.
import { Hono } from "hono";
import { generateSpecs } from "hono-openapi";
import { ownTurn } from "../lib/core/own_turn.ts";
import { once } from "../lib/core/once.ts";
import { documentedHeaders, documentedPath } from "./documented_parameters.ts";
import type { Env } from "./http/env.ts";
import { sessionCookieName } from "./http/session_cookie.ts";
import { securityTable } from "./security_table.ts";

type Document = Awaited<ReturnType<typeof generateSpecs>>;

/** The document is made at the first request, when everything is mounted. */
export function openapiRoutes(app: Hono<Env>, baseUrl: string): Hono<Env> {
  const describe = once(async () => JSON.stringify(await describeApi(app, baseUrl)));
  return new Hono<Env>().get("/openapi.json", async (c) => {
    return c.body(await describe(), 200, {
      "Content-Type": "application/json",
      "Access-Control-Allow-Origin": "*",
      "Cache-Control": "public, max-age=30",
    });
  });
}

async function describeApi(app: Hono<Env>, baseUrl: string): Promise<Document> {
  const described = await generateSpecs(app, {
    documentation: {
      info: {
        title: "Cubby",
        version: "1",
        description: "Hosted SQL databases: statements over HTTP (/v1) and their management (/api)",
      },
      servers: [{ url: baseUrl }],
      components: {
        securitySchemes: {
          token: { type: "http", scheme: "bearer", description: "An API token, cub_live_…" },
          operator: { type: "http", scheme: "bearer", description: "The operator key, cub_op_…" },
          session: {
            type: "apiKey",
            in: "cookie",
            name: sessionCookieName(baseUrl),
            description: "Of the console; what changes something needs X-CSRF-Token and an own Origin too",
          },
        },
      },
    },
    defaultValidationErrorResponse: false,
  });
  const { paths: all, ...document } = described;
  const paths: Document["paths"] = {};
  for (const [path, item] of Object.entries(all)) {
    if (!/^\/(v1|api)\//.test(path)) continue;
    await ownTurn();
    paths[path] = secured(path, withoutTruths(item));
  }
  return { ...withoutTruths(document), paths };
}

/** Boolean constants are booleans here: openapi-generator takes `true` for a text, and its clients refuse every answer. */
function withoutTruths<Described>(part: Described): Described {
  return JSON.parse(JSON.stringify(part), (_name, value) => {
    if (typeof value !== "object" || value === null || typeof value.const !== "boolean") return value;
    const { const: _truth, ...more } = value;
    return more;
  });
}

type PathItem = Document["paths"][string];
type Operation = NonNullable<NonNullable<PathItem>["post"]>;

/** Adds who may call, from the security table, and what no schema contains: headers and path parameters. */
function secured(path: string, item: PathItem): PathItem {
  const operations = Object.entries(item ?? {}).map(([method, operation]) => {
    if (typeof operation !== "object" || Array.isArray(operation)) return [method, operation];
    const parameters = "parameters" in operation && Array.isArray(operation.parameters)
      ? operation.parameters
      : [];
    return [method, {
      ...operation,
      ...("requestBody" in operation && operation.requestBody
        ? { requestBody: withNeed(operation.requestBody) }
        : {}),
      security: securityOf(method, path),
      parameters: [...parameters.map(explained), ...documentedHeaders(path)],
    }];
  });
  return Object.fromEntries(operations);
}

/**
 * What has a default may be left out. The generator says of every body that it is required. The default itself, `{}`, goes:
 * a generator of zod schemas takes it for a value in which all that has a default stands.
 */
function withNeed(body: NonNullable<Operation["requestBody"]>): object {
  if (!("content" in body)) return body;
  const types = Object.entries(body.content);
  const content = types.map(([type, { schema = {}, ...more }]) => {
    const { default: _left, ...asked }: { default?: unknown } = schema;
    return [type, { ...more, schema: asked }];
  });
  const isOptional = types.some(([, { schema = {} }]) => "default" in schema);
  return { ...body, required: !isOptional, content: Object.fromEntries(content) };
}

function explained(parameter: object): object {
  if (!("in" in parameter) || parameter.in !== "path" || !("name" in parameter)) return parameter;
  return { ...parameter, ...documentedPath(String(parameter.name)) };
}

/** The operator's key is accepted under `/api` only. */
function securityOf(method: string, path: string): Record<string, string[]>[] {
  const route = securityTable.find((one) =>
    one.method === method.toUpperCase() && one.path.replace(/:(\w+)/g, "{$1}") === path
  );
  switch (route?.access) {
    case "none":
      return [];
    case "operator":
    case "person":
      return [{ operator: [] }, { session: [] }];
    case "namespace_admin":
    case "namespace_reader":
      return [{ token: [] }, { operator: [] }, { session: [] }];
    case "self":
    case "member":
      return [{ session: [] }];
    default:
      return [{ token: [] }];
  }
}
