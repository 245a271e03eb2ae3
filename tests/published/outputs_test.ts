// What endpoints answer beside plain rows: columns that come as what they mean, and bytes.
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { EndpointSpec } from "../../lib/core/endpoint_spec.ts";
import { publishedApp } from "./publish.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("answers of endpoints", run);

const TASKS = [
  "CREATE TABLE task (id INTEGER PRIMARY KEY, done INTEGER, tags TEXT, note TEXT)",
  `INSERT INTO task VALUES (1, 1, '{"n": 12345678901234567890, "a":[true]}', 'x'), (2, 0, '[broken', NULL), (3, NULL, NULL, '{}')`,
];
const typed: Partial<EndpointSpec> & { slug: string } = {
  slug: "tasks",
  sql: "SELECT done, tags, note FROM task ORDER BY id",
  input: [],
  outputTypes: { done: "boolean", tags: "json", none: "json" },
};

test("booleans and JSON come as themselves, with all digits; what does not fit comes as it is", async () => {
  await using world = await publishedApp({ setup: TASKS });
  await world.put(typed);
  const rows = `[[true,{"n": 12345678901234567890, "a":[true]},"x"],[false,"[broken",null],[null,null,"{}"]]`;
  const wanted = `{"columns":["done","tags","note"],"rows":${rows}}`;
  assertEquals((await world.call("tasks")).text, wanted);
  assertEquals((await world.call("tasks", { headers: { "x-integers": "string" } })).text, wanted);
  await world.put({ ...typed, output: "first_row" });
  const row = `{"row":{"done":true,"tags":{"n": 12345678901234567890, "a":[true]},"note":"x"}}`;
  assertEquals((await world.call("tasks")).text, row);
  const client = (await world.call("client.ts")).text;
  assertStringIncludes(
    client,
    `{ row: { "done": boolean | null; "tags": unknown; "note": string | null } | null }`,
  );
});

test("in the typed client a boolean is null only where its column may be", async () => {
  await using world = await publishedApp({
    setup: ["CREATE TABLE flag (id INTEGER PRIMARY KEY, sure BOOLEAN NOT NULL, maybe BOOLEAN)"],
  });
  await world.put({
    slug: "flags",
    sql: "SELECT sure, maybe, sure AND maybe AS both FROM flag",
    input: [],
    outputTypes: { sure: "boolean", maybe: "boolean", both: "boolean" },
  });
  const client = (await world.call("client.ts")).text;
  assertStringIncludes(
    client,
    `Rows<[boolean, boolean | null, boolean | null], ["sure", "maybe", "both"]>`,
  );
});

test("a REAL beyond 2^53 has an exponent in every output of rows, as in answers to SQL", async () => {
  const real = "1.2345678901234568e+18";
  await using world = await publishedApp({
    setup: ["CREATE TABLE m (id INTEGER PRIMARY KEY, r REAL)", `INSERT INTO m VALUES (1, ${real})`],
  });
  const spec = { slug: "m", sql: "SELECT r, id FROM m", input: [] };
  await world.put(spec);
  const rows = `{"columns":["r","id"],"rows":[[${real},1]]}`;
  assertEquals((await world.call("m")).text, rows);
  await world.put({ ...spec, outputTypes: { id: "json" } });
  assertEquals((await world.call("m")).text, rows);
  await world.put({ ...spec, output: "first_row" });
  assertEquals((await world.call("m")).text, `{"row":{"r":${real},"id":1}}`);
});

test("bytes are served under the owner's type, and nothing in them runs", async () => {
  await using world = await publishedApp({
    setup: [
      "CREATE TABLE file (id INTEGER PRIMARY KEY, bytes)",
      "INSERT INTO file VALUES (1, x'00ff0a'), (2, 'grüß'), (3, NULL), (4, 42)",
    ],
  });
  const file = (more: Partial<EndpointSpec>) =>
    world.put({ slug: "file", output: "bytes", sql: "SELECT bytes FROM file WHERE id = ?", ...more });
  const get = async (id: number, headers: Record<string, string> = {}) => {
    const path = `/p/${world.acme.slug}/main/file?id=${id}`;
    const response = await world.app.app.request(path, { headers });
    return { status: response.status, headers: response.headers, bytes: await response.bytes() };
  };
  await file({ contentType: "image/png", cacheSec: 60 });
  const image = await get(1);
  assertEquals([image.status, [...image.bytes]], [200, [0, 255, 10]]);
  const { headers } = image;
  assertEquals(headers.get("content-type"), "image/png");
  assertEquals(headers.get("x-content-type-options"), "nosniff");
  assertStringIncludes(headers.get("content-security-policy") ?? "", "default-src 'none'");
  assertStringIncludes(headers.get("content-security-policy") ?? "", "sandbox");
  assertEquals(headers.get("content-disposition"), null);
  assertEquals(headers.get("cross-origin-resource-policy"), "same-origin");
  assertEquals(headers.get("cache-control"), "public, max-age=60");
  const again = await get(1, { "if-none-match": headers.get("etag") ?? "" });
  assertEquals([again.status, again.bytes.length], [304, 0]);
  assertEquals(new TextDecoder().decode((await get(2)).bytes), "grüß");
  assertEquals(new TextDecoder().decode((await get(4)).bytes), "42");
  for (const id of [3, 9]) {
    const missing = await world.call(`file?id=${id}`);
    assertEquals([missing.status, missing.body.code], [404, "row_not_found"]);
  }
  for (const contentType of ["text/html", "image/svg+xml", "application/pdf", "text/xml", undefined]) {
    await file(contentType === undefined ? {} : { contentType });
    const { headers } = await get(1);
    assertEquals(headers.get("content-disposition"), "attachment", contentType ?? "");
    assertEquals(headers.get("content-type"), contentType ?? "application/octet-stream");
  }
  await file({ cors: ["https://shop.example"] });
  assertEquals((await get(1)).headers.get("cross-origin-resource-policy"), "cross-origin");
  assertStringIncludes((await world.call("client.ts")).text, "export type FileOutput = Blob;");
  const { paths } = JSON.parse((await world.call("openapi.json")).text);
  const { operationId, summary, responses } = paths["/file"].get;
  assertEquals([operationId, summary], ["file", "file"]);
  assert("application/octet-stream" in responses["200"].content);
});

test("the owner's test of bytes shows them as base64 with their type", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "one", output: "bytes", contentType: "text/plain", sql: "SELECT 'a' WHERE ? > 0" });
  const path = "/api/namespaces/acme/databases/main/endpoints/one/test";
  const tested = await world.app.request("POST", path, {
    token: world.acme.token,
    body: { input: { id: 1 } },
  });
  assertEquals(JSON.parse(tested.text).data, {
    status: 200,
    body: { contentType: "text/plain", $blob: "YQ==" },
  });
});
