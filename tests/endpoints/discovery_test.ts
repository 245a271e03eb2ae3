// What a database tells strangers about its published endpoints.
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 as Ajv } from "ajv/2020";
import type { FieldSpec } from "../../lib/core/endpoint_spec.ts";
import { publishedApp } from "../published/publish.ts";
import { endpointWorld, ORDERS, readSpec } from "./endpoint_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("what a database tells strangers about its published endpoints", run);

const PATH = "/p/acme/main/.well-known/endpoints.json";

interface Listed {
  readonly namespace: string;
  readonly database: string;
  readonly endpoints: readonly { readonly slug: string }[];
}

test("discovery lists what is published, with inputs as JSON Schema and no field of a session", async () => {
  await using world = await endpointWorld([ORDERS]);
  const input = [
    { name: "note", type: "text", label: "The note", pattern: "^[a-z]+$", maxLength: 9 },
    { name: "$user_id", type: "integer" },
    { name: "id", type: "integer", required: true, min: 1, max: 9, default: 5 },
  ];
  const sql = "UPDATE orders SET note = ? WHERE ? > 0 AND id = ?";
  const spec = readSpec({
    kind: "mutation",
    method: "POST",
    output: "rows_written",
    auth: "session",
    input,
    sql,
  });
  assertEquals(
    (await world.call("POST", "", { ...spec, description: "Changes a note", captcha: true })).status,
    201,
  );
  const { request } = world.app;
  assertEquals(
    (await request("GET", PATH)).body,
    JSON.parse('{"namespace":"acme","database":"main","endpoints":[]}'),
  );
  await world.call("POST", "/get-order/publish");
  const answer = await request("GET", PATH);
  assertEquals(answer.status, 200, answer.text);
  assertEquals(answer.headers.get("cache-control"), "public, max-age=30");
  assertEquals(answer.headers.get("access-control-allow-origin"), "*");
  assertEquals(JSON.parse(answer.text), {
    namespace: "acme",
    database: "main",
    endpoints: [{
      ...{
        name: "Get order",
        slug: "get-order",
        description: "Changes a note",
        kind: "mutation",
        method: "POST",
      },
      ...{
        url: "http://127.0.0.1/p/acme/main/get-order",
        auth: "session",
        captcha: true,
        output: "rows_written",
      },
      input_schema: {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        properties: {
          note: { title: "The note", type: ["string", "null"], pattern: "^[a-z]+$", maxLength: 9 },
          id: { title: "id", type: "integer", minimum: 1, maximum: 9, default: 5 },
        },
        required: ["id"],
        additionalProperties: false,
      },
    }],
  });
  const atRoot = await request("GET", "/.well-known/endpoints.json?namespace=acme&database=main");
  assertEquals(atRoot.text, answer.text);
});

const LOW = -9007199254740991;
const HIGH = 9007199254740991;
const DIGITS = "^-?\\d{16,19}$";

/** Inputs, what their schema is, and values that both it and the endpoint take or refuse. */
const described: readonly (readonly [input: FieldSpec, schema: object, good: unknown[], bad: unknown[]])[] = [
  [
    { name: "v", type: "integer" },
    { title: "v", type: ["integer", "string", "null"], minimum: LOW, maximum: HIGH, pattern: DIGITS },
    [0, HIGH, "9007199254740992", "-9223372036854775808", null],
    [1.5, 2 ** 53, "7", "x", true],
  ],
  [
    { name: "v", type: "integer", required: true, min: 1, default: "9223372036854775807" },
    {
      ...{ title: "v", type: ["integer", "string"], minimum: 1, maximum: HIGH, pattern: DIGITS },
      default: "9223372036854775807",
    },
    [1, "9223372036854775807"],
    [0, "1", null],
  ],
  [
    { name: "v", type: "integer", label: "Many", required: true, min: -5, max: 5 },
    { title: "Many", type: "integer", minimum: -5, maximum: 5 },
    [-5, 5],
    [6, "5", "9007199254740993", null],
  ],
  [
    { name: "v", type: "number", min: 0.5, default: null },
    { title: "v", type: ["number", "null"], minimum: 0.5 },
    [0.5, 3, null],
    [0.4, "1"],
  ],
  [
    { name: "v", type: "text", enum: ["a", "b"], default: "a" },
    { title: "v", type: ["string", "null"], enum: ["a", "b", null], default: "a" },
    ["a", "b", null],
    ["c", 1],
  ],
  [
    { name: "v", type: "email", required: true, maxLength: 900 },
    { title: "v", type: "string", format: "email", maxLength: 320 },
    ["ada@shop.example"],
    [7, null],
  ],
  [
    { name: "v", type: "url", required: true },
    {
      ...{ title: "v", type: "string", format: "uri", pattern: "^[Hh][Tt][Tt][Pp][Ss]?://" },
      maxLength: 8192,
    },
    ["https://shop.example/", `https://shop.example/${"x".repeat(8171)}`],
    ["ftp://shop.example/", `https://shop.example/${"x".repeat(8172)}`, null],
  ],
  [{ name: "v", type: "boolean" }, { title: "v", type: ["boolean", "null"] }, [true, null], [1, "true"]],
  [{ name: "v", type: "json", default: '{"a":1}' }, { title: "v", default: { a: 1 } }, [null, [1], "x"], []],
  [{ name: "v", type: "json", required: true }, { title: "v", not: { type: "null" } }, [0, {}], [null]],
];

test("the schema of an input takes what the endpoint takes, and its default is one of its values", async () => {
  await using world = await publishedApp();
  for (const [input, schema, good, bad] of described) {
    const about = JSON.stringify(input);
    await world.put({ slug: "echo", method: "POST", sql: "SELECT ?", input: [input] });
    const { endpoints: [{ input_schema }] } = JSON.parse((await world.app.request("GET", PATH)).text);
    assertEquals(input_schema.properties.v, schema, about);
    const validate = new Ajv({ validateFormats: false, allowUnionTypes: true }).compile(input_schema);
    for (const [values, taken] of [[good, true], [bad, false]] as const) {
      for (const v of values) {
        const { status, text } = await world.call("echo", { body: { v } });
        assertEquals(
          [validate({ v }), status === 200],
          [taken, taken],
          `${about} ${JSON.stringify(v)} ${text}`,
        );
      }
    }
    const preset = input_schema.properties.v.default;
    if (preset !== undefined) assert(validate({ v: preset }), about);
  }
});

test("the schema of an input in a query string has no null", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "echo", sql: "SELECT ?", input: [{ name: "v", type: "boolean" }] });
  const { endpoints: [{ input_schema }] } = JSON.parse((await world.app.request("GET", PATH)).text);
  assertEquals(input_schema.properties, { v: { title: "v", type: "boolean" } });
  assertEquals((await world.call("echo?v=null")).status, 400);
});

test("a change of an endpoint is seen by discovery at once in the same process", async () => {
  await using world = await endpointWorld([ORDERS]);
  const listed = async () => {
    const { endpoints }: Listed = JSON.parse((await world.app.request("GET", PATH)).text);
    return endpoints.map(({ slug }) => slug);
  };
  assertEquals(await listed(), []);
  await world.call("POST", "", readSpec());
  assertEquals(await listed(), []);
  for (
    const [transition, expected] of [["publish", 1], ["pause", 0], ["publish", 1], ["unpublish", 0]] as const
  ) {
    await world.call("POST", `/get-order/${transition}`);
    assertEquals((await listed()).length, expected, transition);
  }
  await world.call("POST", "/get-order/publish");
  await world.call("DELETE", "/get-order");
  assertEquals(await listed(), []);
});

test("a branch describes the endpoints of its trunk, at its own address", async () => {
  await using world = await endpointWorld([ORDERS]);
  await world.call("POST", "", readSpec());
  await world.call("POST", "/get-order/publish");
  const { app: { request, app }, tenant: { token } } = world;
  const body = { purpose: "trial", ref: "trial", ttlSec: 600 };
  const claim = await request("POST", "/v1/db/acme/main/claim_branch", { token, body });
  assert(claim.status < 300, claim.text);
  const address = "http://127.0.0.1/p/acme/main@trial";
  const read = async (file: string) => await (await app.request(`/p/acme/main@trial/${file}`)).text();
  const listed = JSON.parse(await read(".well-known/endpoints.json"));
  assertEquals([listed.database, listed.endpoints[0].url], ["main@trial", `${address}/get-order`]);
  const described = JSON.parse(await read("openapi.json"));
  assertEquals([described.info.title, described.servers], ["acme/main@trial", [{ url: address }]]);
  assertEquals(Object.keys(described.paths), ["/get-order"]);
  const trunk = await (await app.request("/p/acme/main/client.ts")).text();
  assertStringIncludes(trunk, 'const URL_OF_DATABASE = "http://127.0.0.1/p/acme/main";');
  assertStringIncludes(await read("client.ts"), `const URL_OF_DATABASE = "${address}";`);
});

test("what is not there, or is asked for in another form, is refused", async () => {
  await using world = await endpointWorld();
  const { request } = world.app;
  for (const path of ["acme/none", "none/main", "acme/main@none", "acme/MAIN", "acme/main@main@main"]) {
    for (const file of [".well-known/endpoints.json", "openapi.json"]) {
      const { status, body } = await request("GET", `/p/${path}/${file}`);
      assertEquals([status, body.code], [404, "database_not_found"], path);
    }
  }
  for (const query of ["", "?namespace=acme", "?namespace=acme&database=main&more=1"]) {
    assertEquals((await request("GET", `/.well-known/endpoints.json${query}`)).status, 400, query);
  }
});

test("the API description of a database is valid OpenAPI 3.1 for every kind of endpoint", async () => {
  await using world = await endpointWorld([
    ORDERS,
    "CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, password_hash TEXT NOT NULL)",
    "CREATE TABLE everything (id INTEGER PRIMARY KEY, a INTEGER, b REAL, c TEXT, d BOOLEAN, e JSON)",
  ]);
  const credentials = [
    { name: "email", type: "email", required: true },
    { name: "password", type: "text", required: true },
  ];
  const authConfig = { usersTable: "users", passwordColumn: "password_hash" };
  const specs = [
    readSpec({ auth: "session", captcha: true, description: "One order" }),
    readSpec({
      slug: "odd",
      sql: "SELECT ?, ?",
      input: [{ name: "any", type: "json" }, { name: "at", type: "url" }],
    }),
    readSpec({
      ...{
        slug: "signup",
        kind: "auth_signup",
        method: "POST",
        output: "session",
        input: credentials,
        authConfig,
      },
      sql: "INSERT INTO users (email, password_hash) VALUES (?, ?) RETURNING id",
    }),
    readSpec({
      ...{
        slug: "login",
        kind: "auth_login",
        method: "POST",
        output: "session",
        input: credentials,
        authConfig,
      },
      sql: "SELECT id, password_hash FROM users WHERE email = ?",
    }),
    readSpec({
      ...{ slug: "ask", kind: "ask", method: "POST", output: "answer", sql: "" },
      input: [{ name: "question", type: "text", required: true }],
      askConfig: { allowedTables: ["orders"] },
    }),
  ];
  for (const spec of specs) {
    const made = await world.call("POST", "", spec);
    assertEquals(made.status, 201, made.text);
    await world.call("POST", `/${String(spec["slug"])}/publish`);
  }
  await world.call("POST", "/scaffold-crud", { table: "everything" });
  for (const slug of ["list-everythings", "list-everything", "create-everything", "delete-everything"]) {
    await world.call("POST", `/${slug}/publish`);
  }
  const answer = await world.app.request("GET", "/p/acme/main/openapi.json");
  assertEquals(answer.status, 200, answer.text);
  const document = JSON.parse(answer.text);
  const checked = await new Validator().validate(document);
  assert(checked.valid, JSON.stringify(checked.errors));
  assertEquals(document.servers, [{ url: "http://127.0.0.1/p/acme/main" }]);
  assertEquals(Object.keys(document.paths).length, 8);
  assertEquals(document.paths["/get-order"].get.security, [{ session: [] }]);
  assertEquals(document.paths["/signup"].post.requestBody.content["application/json"].schema.required, [
    ...["email", "password"],
  ]);
});
