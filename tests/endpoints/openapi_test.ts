// The API description: valid, whole, and true to what is mounted.
import { assert, assertEquals } from "@std/assert";
import { Validator } from "@seriousme/openapi-schema-validator";
import { setImmediate } from "node:timers/promises";
import { Ajv2020 } from "ajv/2020";
import { securityTable } from "../../routes/security_table.ts";
import { oneStore } from "../testing/cases.ts";
import { startApp } from "../testing/start_app.ts";

const { run, test } = oneStore();
Deno.test("the description is made in many turns, between which the service does other work", async () => {
  await using app = await startApp();
  let turns = 0;
  let isMade = false;
  const others = (async () => {
    for (; !isMade; turns++) await setImmediate();
  })();
  const answer = await app.request("GET", "/openapi.json");
  isMade = true;
  await others;
  assertEquals([answer.status, answer.headers.get("content-type")], [200, "application/json"]);
  assert(turns > 100, `${turns} turns`);
});

test("openapi", run);

interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly security: readonly Record<string, string[]>[];
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Record<string, { readonly content: Record<string, object> }>;
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Record<string, { readonly schema: Record<string, unknown> }>;
  };
}

interface Description {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, Operation>>;
}

async function description(): Promise<Description> {
  await using app = await startApp();
  const answer = await app.request("GET", "/openapi.json");
  assertEquals(answer.status, 200, answer.text);
  return JSON.parse(answer.text);
}

test("the API description is valid OpenAPI 3.1", async () => {
  const document = await description();
  assertEquals(document.openapi, "3.1.0");
  const checked = await new Validator().validate({ ...document });
  assert(checked.valid, JSON.stringify(checked.errors));
});

test("the API description has every route of /v1 and /api, each with a summary and who may call", async () => {
  const { paths } = await description();
  // Two calls at the root are libSQL's own, as those under /v2 and /v3 are.
  const mounted = securityTable.filter(({ path }) => /^\/(?!v1\/(?:execute|batch)$)(v1|api)\//.test(path));
  const described = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`)
  );
  assertEquals(
    described.sort(),
    mounted.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`).sort(),
  );
  const ids = new Set<string>();
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(item)) {
      assert(operation.summary, `${method} ${path}`);
      ids.add(operation.operationId);
      const open = path === "/v1/handoff/redeem" || path === "/v1/changes/{ticket}";
      assertEquals(operation.security.length === 0, open, `${method} ${path}`);
      const inPath = operation.parameters.filter((one) => one.in === "path").map(({ name }) => `{${name}}`);
      assertEquals(inPath.sort(), (path.match(/\{\w+\}/g) ?? []).sort(), path);
    }
  }
  assertEquals(ids.size, described.length);
});

test("the API description carries the schemas that validate", async () => {
  const { paths } = await description();
  const query = paths["/v1/db/{ns}/{db}/query"]?.["post"];
  const body = query?.requestBody?.content["application/json"]?.schema;
  assertEquals(body?.["required"], ["sql"]);
  assertEquals(body?.["additionalProperties"], false);
  assert(query?.parameters.some(({ name }) => name === "Idempotency-Key"));
  const planned = (path: string, method: string) =>
    paths[`/v1/db/{ns}/{db}/${path}`]?.[method]?.parameters.some(({ name }) => name === "Plan-Key");
  const steps = [planned("snapshots", "post"), planned("export", "get"), planned("import", "post")];
  assertEquals(steps, [true, true, true]);
  const create = paths["/api/namespaces/{slug}/databases/{dbSlug}/endpoints"]?.["post"];
  const spec = create?.requestBody?.content["application/json"]?.schema;
  assertEquals(spec?.["required"], ["slug", "name", "kind", "method", "sql", "input", "output"]);
});

test("the API description says of a body that it may be left out, and gives it no default of its own", async () => {
  const { paths } = await description();
  const approve = paths["/api/namespaces/{slug}/approvals/{id}/approve"]?.["post"]?.requestBody;
  assertEquals(approve?.required, false);
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, { requestBody }] of Object.entries(item)) {
      for (const { schema } of Object.values(requestBody?.content ?? {})) {
        assertEquals(schema?.["default"], undefined, `${method} ${path}`);
      }
    }
  }
});

test("the API description has nothing at which some generators of clients fail: constants that are null or booleans, objects that may be null, times in a choice", async () => {
  const found: string[] = [];
  const look = (schema: unknown, at: string): void => {
    if (typeof schema !== "object" || schema === null) return;
    for (const [name, part] of Object.entries(schema)) {
      if (at.endsWith("/properties") && part?.type === "null") found.push(`${at}/${name}`);
      if (typeof part?.const === "boolean") found.push(`${at}/${name}`);
      if (Array.isArray(part?.type) && part.type.includes("object")) found.push(`${at}/${name}`);
      const times = Object.values<{ format?: string }>(part?.oneOf ? part.properties ?? {} : {});
      if (times.some(({ format }) => format === "date-time")) found.push(`${at}/${name}`);
      look(part, `${at}/${name}`);
    }
  };
  look(await description(), "");
  await using app = await startApp();
  const { slug, token } = await app.namespace();
  const endpoints = `/api/namespaces/${slug}/databases/main/endpoints`;
  const body = { slug: "one", name: "One", kind: "query", method: "GET", sql: "SELECT 1 AS n", input: [] };
  const typed = { output: "first_row", outputTypes: { n: "json" } };
  await app.request("POST", endpoints, { token, body: { ...body, ...typed } });
  await app.request("POST", `${endpoints}/one/publish`, { token });
  const published = await app.request("GET", `/p/${slug}/main/openapi.json`);
  assertEquals(Object.keys(JSON.parse(published.text).paths), ["/one"]);
  look(JSON.parse(published.text), "");
  assertEquals(found, []);
});

test("the API description takes what its calls take of an endpoint that was read, and not a change of nothing", async () => {
  await using app = await startApp();
  const { slug, token } = await app.namespace();
  const endpoints = `/api/namespaces/${slug}/databases/main/endpoints`;
  const spec = {
    ...{ slug: "one", name: "One", kind: "query", method: "GET", sql: "SELECT 1 AS n", input: [] },
    ...{ output: "rows", rateLimit: { perMin: 5, perDay: 9 } },
  };
  const { body: { data: read } } = await app.request("POST", endpoints, { token, body: spec });
  const { paths } = JSON.parse((await app.request("GET", "/openapi.json")).text) as Description;
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const takes = (method: string, path: string, body: unknown) =>
    ajv.validate(paths[path]?.[method]?.requestBody?.content["application/json"]?.schema ?? {}, body);
  const databases = "/api/namespaces/{slug}/databases/{dbSlug}";
  const one = `${databases}/endpoints/{endpoint}`;
  const sent: [method: string, body: unknown, status: number][] = [
    ["put", read, 200],
    ["put", { ...spec, unknown: 1 }, 400],
    ["patch", { rateLimit: { perDay: null } }, 200],
    ["patch", { rateLimit: null }, 200],
    ["patch", { name: null }, 400],
    ["patch", { unknown: 1 }, 400],
    ["patch", {}, 400],
  ];
  for (const [method, body, status] of sent) {
    const answer = await app.request(method.toUpperCase(), `${endpoints}/one`, { token, body });
    assertEquals([answer.status, takes(method, one, body)], [status, status === 200], JSON.stringify(body));
  }
  const changes = Object.entries(paths).filter(([, item]) => item["patch"]?.requestBody);
  for (const [path] of changes) assertEquals(takes("patch", path, {}), false, path);
  assertEquals(takes("patch", `${databases}/rules/{id}`, { revision: 1 }), false);
  const restores = [{}, { snapshot: "a", at: "2026-11-22T22:45:00Z" }, { into: "copy" }];
  for (const body of restores) assertEquals(takes("post", "/v1/db/{ns}/{db}/restore", body), false);
});

test("the API description names the types of files and streams as they are sent", async () => {
  await using app = await startApp();
  const acme = await app.namespace();
  await acme.setup("CREATE TABLE t (a)");
  const { paths }: Description = JSON.parse((await app.request("GET", "/openapi.json")).text);
  const typesOf = (path: string, status: string) =>
    Object.keys(paths[`/v1/db/{ns}/{db}/${path}`]?.["get"]?.responses[status]?.content ?? {}).toSorted();
  const { token } = acme;
  const url = `${acme.database.path}/export`;
  const sent = new Set<string>();
  const typeOf = (headers: Headers) => headers.get("content-type")?.split(";")[0] ?? "";
  for (const query of ["format=sqlite", "format=sql", "format=csv&table=t", "format=ndjson&table=t"]) {
    const answer = await app.request("GET", `${url}?${query}`, { token });
    assertEquals(answer.status, 200, query);
    sent.add(typeOf(answer.headers));
  }
  assertEquals(typesOf("export", "200"), [...sent].toSorted());
  const kept = (await app.request("GET", `${url}?format=sqlite`, { token })).headers.get("x-export-id");
  const part = await app.request("GET", `${url}?format=sqlite&id=${kept}`, {
    token,
    headers: { range: "bytes=0-9" },
  });
  assertEquals([part.status, typesOf("export", "206")], [206, [typeOf(part.headers)]]);
  assertEquals(typesOf("changes", "200"), ["application/json", "text/event-stream"]);
});
