import { assertEquals } from "@std/assert";
import { Hono } from "hono";
import { describeRoute, generateSpecs } from "hono-openapi";
import { z } from "zod";
import { systemClock } from "../../lib/core/clock.ts";
import { MAX_BODY_BYTES } from "../../lib/core/limits.ts";
import { silentLog } from "../../lib/core/log.ts";
import { BodyWatch } from "../../lib/guard/body_watch.ts";
import { RequestCounts } from "../../lib/services/metrics/request_counts.ts";
import type { Env } from "../../routes/http/env.ts";
import { answerHeaders } from "../../routes/middleware/answer_headers.ts";
import { errorBoundary } from "../../routes/middleware/error_boundary.ts";
import { validate } from "../../routes/middleware/validate.ts";

const statement = z.strictObject({
  sql: z.string().max(50),
  params: z.array(z.union([z.string(), z.number(), z.null()])).optional(),
});
const batch = z.strictObject({ statements: z.array(statement).min(1).max(3), mode: z.enum(["a", "b"]) });
const page = z.strictObject({
  limit: z.coerce.number().int().min(1).max(50).default(10),
  q: z.string().optional(),
});

function echoApp(bodyWatch = new BodyWatch(2)): Hono<Env> {
  const app = new Hono<Env>();
  app.onError(errorBoundary(silentLog));
  app.use(
    answerHeaders({ clock: systemClock, bodyWatch, requests: new RequestCounts(0), responsePadding: null }),
  );
  app.post(
    "/one",
    describeRoute({ summary: "One" }),
    validate("json", statement),
    (c) => c.json(c.req.valid("json")),
  );
  app.post("/many", validate("json", batch), (c) => c.json(c.req.valid("json")));
  app.post(
    "/label",
    validate("json", z.strictObject({ label: z.string().optional() }).prefault({})),
    (c) => c.json(c.req.valid("json")),
  );
  app.get("/page", validate("query", page), (c) => c.json(c.req.valid("query")));
  app.get("/db/:slug", validate("param", z.strictObject({ slug: z.string().regex(/^[a-z]+$/) })), (c) => {
    return c.json(c.req.valid("param"));
  });
  app.delete(
    "/maybe",
    validate("json", z.strictObject({ confirm: z.string() }).optional()),
    (c) => c.json({ ok: 1 }),
  );
  return app;
}

async function post(path: string, body: BodyInit, headers: HeadersInit = {}): Promise<[number, unknown]> {
  const answer = await echoApp().request(path, { method: "POST", body, headers });
  return [answer.status, await answer.json()];
}

async function issuesOf(path: string, body: unknown): Promise<unknown> {
  const answer = await echoApp().request(path, { method: "POST", body: JSON.stringify(body) });
  assertEquals(answer.status, 400);
  const { success, code, error, issues } = await answer.json();
  assertEquals([success, code, error], [false, "validation_failed", "Validation failed"]);
  return issues;
}

Deno.test("validate() hands on checked JSON whatever its Content-Type", async () => {
  const body = '\ufeff{"sql":"select \u{1F642}\ufffd","params":[1,null]}';
  for (const type of ["application/json", "text/plain", "application/x-www-form-urlencoded"]) {
    assertEquals(await post("/one", body, { "Content-Type": type }), [200, {
      sql: "select \u{1F642}\ufffd",
      params: [1, null],
    }]);
  }
});

Deno.test("validate() answers invalid_json for anything that is no UTF-8 JSON text", async () => {
  const bodies: BodyInit[] = [
    ...["", " ", "{", '{"sql":"a"}}', "{'sql':1}", '{"sql":"a",}', "undefined", "NaN", '{"sql":"\u0001"}'],
    Uint8Array.from([0x22, 0xff, 0x22]),
    Uint8Array.from([0x22, 0xf0, 0x9f, 0x98, 0x22]),
    Uint8Array.from([0xff, 0xfe, 0x7b, 0, 0x7d, 0]),
  ];
  for (const body of bodies) {
    const [status, answer] = await post("/one", body);
    assertEquals(status, 400);
    assertEquals((answer as { code: string }).code, "invalid_json");
  }
});

Deno.test("validate() tells who sends no body what to send", async () => {
  assertEquals(await post("/one", ""), [400, {
    success: false,
    error: "Send a body of JSON; this request has none",
    code: "invalid_json",
    issues: [{ path: "sql", message: "Add this field; it is required" }],
  }]);
});

Deno.test("validate() names each wrong field by its path", async () => {
  assertEquals(await issuesOf("/one", {}), [{ path: "sql", message: "Add this field; it is required" }]);
  assertEquals(await issuesOf("/one", []), [{
    path: "",
    message: "Send an object here, with sql, params",
  }]);
  assertEquals(await issuesOf("/one", { sql: 1 }), [{ path: "sql", message: "Send a string here" }]);
  assertEquals(await issuesOf("/many", { statements: [], mode: "c" }), [
    { path: "statements", message: "Send at least 1 element" },
    { path: "mode", message: "Send one of: a, b" },
  ]);
  assertEquals(await issuesOf("/many", { statements: [{ sql: "a" }, { sql: "x".repeat(51) }], mode: "a" }), [
    { path: "statements[1].sql", message: "Send at most 50 characters" },
  ]);
});

Deno.test("validate() refuses unknown fields one by one, with the path of the field itself", async () => {
  const message = "Remove this field; it is not known here; known are sql, params";
  assertEquals(
    await issuesOf("/many", { statements: [{ sql: "a", readOnly: true, x: 1 }], mode: "a", dryRun: true }),
    [
      { path: "statements[0].readOnly", message },
      { path: "statements[0].x", message },
      { path: "dryRun", message: "Remove this field; it is not known here; known are statements, mode" },
    ],
  );
  assertEquals(await issuesOf("/one", { sql: "a", parms: [1] }), [
    { path: "parms", message: "Remove this field; it is not known here; did you mean params?" },
  ]);
  assertEquals(await issuesOf("/label", { x: 1 }), [
    { path: "x", message: "Remove this field; it is not known here; known are label" },
  ]);
  assertEquals(await issuesOf("/many", { statements: ["a"], mode: "a" }), [
    { path: "statements[0]", message: "Send an object here, with sql, params" },
  ]);
  const [status, answer] = await post("/one", '{"sql":"a","__proto__":{"params":[1]},"constructor":1}');
  assertEquals(status, 400);
  assertEquals((answer as { issues: unknown }).issues, [
    { path: "__proto__", message },
    { path: "constructor", message },
  ]);
});

Deno.test("validate() bounds the issues of one answer and repeats no value of the request", async () => {
  const answer = await echoApp().request("/one", {
    method: "POST",
    body: JSON.stringify({ sql: "a", params: new Array(100_000).fill({ secret: "hunter2" }) }),
  });
  const text = await answer.text();
  assertEquals(JSON.parse(text).issues.length, 50);
  assertEquals(text.includes("hunter2"), false);
});

Deno.test("validate() takes an absent body where the schema lets it be absent", async () => {
  assertEquals((await echoApp().request("/maybe", { method: "DELETE" })).status, 200);
  assertEquals((await echoApp().request("/maybe", { method: "DELETE", body: "{}" })).status, 400);
});

Deno.test("validate() reads query strings and refuses unknown and repeated names", async () => {
  const get = async (path: string) => await (await echoApp().request(path)).json();
  assertEquals(await get("/page?limit=5&q=a%20b"), { limit: 5, q: "a b" });
  assertEquals(await get("/page"), { limit: 10 });
  assertEquals((await get("/page?limit=0")).issues, [{ path: "limit", message: "Send at least 1 here" }]);
  assertEquals((await get("/page?limt=5")).issues[0].path, "limt");
  assertEquals((await get("/page?q=a&q=b")).issues, [{ path: "q", message: "Send this parameter once" }]);
  assertEquals((await get("/page?__proto__=1")).issues[0].path, "__proto__");
});

Deno.test("validate() checks path parameters after decoding them", async () => {
  assertEquals((await echoApp().request("/db/abc")).status, 200);
  assertEquals((await echoApp().request("/db/a%2Fb")).status, 400);
});

Deno.test("validate() cuts a body off at the limit, declared or not", async () => {
  const over = JSON.stringify({ sql: "x".repeat(MAX_BODY_BYTES) });
  const chunks = new Response(over).body;
  for (const [body, headers] of [[over, { "Content-Length": String(over.length) }], [chunks, {}]] as const) {
    const answer = await echoApp().request("/one", { method: "POST", body, headers });
    assertEquals(answer.status, 413);
    assertEquals((await answer.json()).code, "payload_too_large");
  }
});

Deno.test("validate() accepts a body of exactly the limit", async () => {
  const frame = JSON.stringify({ sql: "" }).length;
  const answer = await echoApp().request("/one", {
    method: "POST",
    body: JSON.stringify({ sql: "x".repeat(MAX_BODY_BYTES - frame) }),
  });
  assertEquals((await answer.json()).issues[0].path, "sql");
});

Deno.test("validate() answers request_timeout when the body does not arrive whole", async () => {
  const bodyWatch = new BodyWatch(2);
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const answering = echoApp(bodyWatch).request("/one", { method: "POST", body: readable });
  await writer.write(new TextEncoder().encode('{"sql":'));
  for (let i = 0; i < 3; i++) bodyWatch.sweep();
  const answer = await answering;
  assertEquals(answer.status, 408);
  assertEquals((await answer.json()).code, "request_timeout");
  await writer.close();
});

Deno.test("what validate() enforces is what the API description says", async () => {
  const { paths } = await generateSpecs(echoApp());
  const body = paths["/one"]?.post?.requestBody;
  assertEquals(JSON.parse(JSON.stringify(body)).content["application/json"].schema, {
    type: "object",
    properties: {
      sql: { type: "string", maxLength: 50 },
      params: { type: "array", items: { type: ["string", "number", "null"] } },
    },
    required: ["sql"],
    additionalProperties: false,
  });
});
