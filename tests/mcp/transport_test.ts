// What the door answers before and around the protocol: methods, addresses, bodies, headers, pages of other origins.
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { newToken } from "../../lib/access/token_format.ts";
import { type ApiAnswer, type ApiRequest } from "../testing/call_api.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";

const CURRENT = "2026-07-28";
const bothTypes = { "accept": "application/json, text/event-stream", "content-type": "application/json" };

/** A message as the current protocol wants it. */
function current(method: string, params: object = {}, headers: Record<string, string> = {}) {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": CURRENT,
    "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return {
    body: { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } },
    headers: { ...bothTypes, "mcp-protocol-version": CURRENT, "mcp-method": method, ...headers },
  };
}

type Post = (options: ApiRequest, path?: string) => Promise<ApiAnswer>;

async function post(app: StartedApp): Promise<Post> {
  const { token } = await app.namespace();
  return (options, path = "/mcp") => app.request("POST", path, { token, ...options });
}

const codeOf = ({ text }: ApiAnswer) => (JSON.parse(text) as { error?: { code?: number } }).error?.code;

Deno.test("the door over plain HTTP", async (t) => {
  await using app = await startApp({
    settings: { MCP_ORIGINS: "https://agents.example, http://localhost:6274" },
  });
  const send = await post(app);

  await t.step("a message gets one JSON answer, with the request's id, and no session", async () => {
    const answer = await send(current("tools/list"));
    assertEquals(answer.status, 200, answer.text);
    assertEquals(answer.headers.get("content-type"), "application/json");
    assertEquals(answer.headers.get("mcp-session-id"), null);
    assert(answer.headers.get("x-request-id")?.startsWith("req_"));
    const { result } = JSON.parse(answer.text) as { result: { cacheScope: string; tools: unknown[] } };
    assertEquals(result.cacheScope, "private");
    assertEquals(result.tools.length, 19);
  });

  await t.step(
    "an object of more members than any message has is refused before it is read; many values are not",
    async () => {
      const many = (count: number) =>
        Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, {}]));
      for (
        const { body, headers } of [
          current("tools/list", { deep: [many(1001)] }),
          current("tools/call", { name: "query", arguments: many(1001) }),
        ]
      ) {
        const { status, body: refused } = await send({ body, headers });
        assertEquals([status, refused.issues?.[0]?.message], [400, "Send objects of at most 1000 members"]);
      }
      // What is no JSON is not counted on: a list of all that is open would take many times the memory of the text.
      const broken = { ...current("tools/list"), body: "{".repeat(100_000) + '"a":1,'.repeat(1001) };
      assertEquals((await send(broken)).body.code, "invalid_json");
      const sql = `SELECT ${"?, ".repeat(1500)}'{"a":1,"b":2}'`;
      const params = Array(1500).fill({ $blob: "" });
      const call = current("tools/call", { name: "query", arguments: { database: "main", sql, params } });
      const headers = { ...call.headers, "mcp-name": "query" };
      const answer = await send({ ...call, headers });
      assertEquals([answer.status, answer.text.includes("at most 1000 members")], [200, false]);
    },
  );

  await t.step("an address that ends with a slash is the same", async () => {
    const answer = await send(current("tools/list"), "/mcp/?read_only=1");
    assertEquals(answer.status, 200, answer.text);
    const { result } = JSON.parse(answer.text) as { result: { tools: { name: string }[] } };
    assert(!result.tools.some(({ name }) => name === "write"));
    const asked = await app.request("POST", "/mcp/", current("tools/list"));
    assertEquals(asked.status, 401);
    assertStringIncludes(asked.headers.get("www-authenticate") ?? "", "resource_metadata=");
    const foreign = { ...current("tools/list").headers, origin: "https://evil.example" };
    assertEquals((await send({ ...current("tools/list"), headers: foreign }, "/mcp/")).status, 403);
  });

  await t.step("only POST is there", async () => {
    for (const path of ["/mcp", "/mcp/"]) {
      for (const method of ["GET", "DELETE", "PUT", "PATCH"]) {
        const { status, headers } = await app.request(method, path);
        assertEquals({ status, allow: headers.get("allow") }, { status: 405, allow: "POST" }, method);
      }
    }
  });

  await t.step("without a bearer, and with a wrong one, it asks for one", async () => {
    for (
      const authorization of [
        undefined,
        `Bearer ${newToken("cub_live_")}`,
        `Bearer ${app.operatorKey}`,
        "Basic x",
      ]
    ) {
      const { body, headers } = current("tools/list");
      const sent = { ...headers, ...(authorization === undefined ? {} : { authorization }) };
      const answer = await app.request("POST", "/mcp", { body, headers: sent });
      assertEquals(answer.status, 401);
      assert(answer.headers.get("www-authenticate")?.startsWith("Bearer"));
    }
  });

  await t.step("a misspelt, repeated or empty parameter of the address is refused", async () => {
    for (
      const query of [
        ...[
          "readonly=1",
          "read_only=0",
          "read_only=true",
          "read_only=",
          "read_only=1&read_only=1",
          "token=x",
        ],
        ...["database=", "database=main&database=main", "Database=main", "database=main&readonly=1"],
      ]
    ) {
      const { status, body, headers } = await send(current("tools/list"), `/mcp?${query}`);
      assertEquals({ status, code: body.code }, { status: 400, code: "validation_failed" }, query);
      assertEquals(headers.get("www-authenticate"), null);
    }
    const { status, body } = await send(current("tools/list"), "/mcp?database=nowhere");
    assertEquals({ status, code: body.code }, { status: 404, code: "database_not_found" });
  });

  await t.step("headers that say something else than the body are refused", async () => {
    const method = await send({
      ...current("tools/list"),
      headers: { ...bothTypes, "mcp-protocol-version": CURRENT, "mcp-method": "tools/call" },
    });
    assertEquals([method.status, codeOf(method)], [400, -32020]);
    const call = { name: "query", arguments: { sql: "SELECT 1" } };
    const name = await send(current("tools/call", call, { "mcp-name": "write" }));
    assertEquals([name.status, codeOf(name)], [400, -32020]);
    const old = current("tools/list", {}, { "mcp-protocol-version": "2026-01-01" });
    const meta = { ...old.body.params._meta, "io.modelcontextprotocol/protocolVersion": "2026-01-01" };
    const version = await send({ ...old, body: { ...old.body, params: { _meta: meta } } });
    assertEquals([version.status, codeOf(version)], [400, -32022]);
  });

  await t.step("an unknown method is 404, a notification 202, a listener refused", async () => {
    const unknown = await send(current("tools/delete"));
    assertEquals([unknown.status, codeOf(unknown)], [404, -32601]);
    const body = { jsonrpc: "2.0", method: "notifications/initialized" };
    const noted = await send({ body, headers: bothTypes });
    assertEquals([noted.status, noted.text], [202, ""]);
    const listen = await send(current("subscriptions/listen", { notifications: { toolsListChanged: true } }));
    assert(codeOf(listen) !== undefined, listen.text);
  });

  await t.step("what is no message runs nothing", async () => {
    const wrong: readonly (readonly [unknown, number])[] = [
      ["{", 400],
      ["", 400],
      ["null", 400],
      ["[]", 400],
      [[current("tools/list").body, current("tools/list").body], 400],
      [{ jsonrpc: "1.0", id: 1, method: "tools/list" }, 400],
      [{ id: 1 }, 400],
      [new Uint8Array([0xff, 0xfe]), 400],
      [
        '{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/list"}',
        400,
      ],
      ["x".repeat(8 * 1024 * 1024 + 1), 413],
    ];
    for (const [body, status] of wrong) {
      const answer = await send({ body, headers: bothTypes });
      assertEquals(answer.status, status, answer.text);
    }
    const form = await send({ body: current("tools/list").body, headers: { "content-type": "text/plain" } });
    assertEquals(form.status, 415);
  });

  await t.step("pages of other origins are refused, whatever name led them here", async () => {
    const message = current("tools/list");
    for (
      const origin of [
        ...["https://evil.example", "null", "http://agents.example", "https://agents.example.evil.example"],
        ...["https://agents.example:444", "", "file://", "http://127.0.0.1:1"],
      ]
    ) {
      const headers = { ...message.headers, origin, host: "evil.example" };
      const answer = await send({ ...message, headers });
      assertEquals([answer.status, answer.body.code], [403, "origin_refused"], origin);
      const asked = await app.request("OPTIONS", "/mcp", { headers: { origin } });
      assertEquals(asked.status, 403, origin);
    }
  });

  await t.step("a page of a listed origin may ask, call and read", async () => {
    for (const origin of ["https://agents.example", "http://localhost:6274", "http://127.0.0.1"]) {
      const asked = await app.request("OPTIONS", "/mcp", { headers: { origin } });
      assertEquals(asked.status, 204, origin);
      assertEquals(asked.headers.get("access-control-allow-origin"), origin);
      assert(asked.headers.get("access-control-allow-headers")?.includes("mcp-protocol-version"));
      const message = current("tools/list");
      const answer = await send({ ...message, headers: { ...message.headers, origin } });
      assertEquals([answer.status, answer.headers.get("access-control-allow-origin")], [200, origin]);
      assertEquals(answer.headers.get("access-control-allow-credentials"), null);
      for (const { headers } of [asked, answer]) assertEquals(headers.get("vary"), "Origin");
    }
  });

  await t.step("the former protocol has its beginning, and every answer stands alone", async () => {
    const begin = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "raw", version: "1" },
    };
    const body = { jsonrpc: "2.0", id: 0, method: "initialize", params: begin };
    const answer = await send({ body, headers: bothTypes });
    assertEquals(answer.status, 200, answer.text);
    assert(answer.text.includes('"protocolVersion":"2025-06-18"'), answer.text);
    assertEquals(answer.headers.get("mcp-session-id"), null);
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const headers = { ...bothTypes, "mcp-protocol-version": "2025-06-18" };
    assert((await send({ body: list, headers })).text.includes('"describe_database"'));
  });

  await t.step("an unknown tool is the protocol's error, wrong arguments are the tool's answer", async () => {
    const unknown = await send(
      current("tools/call", { name: "drop_all", arguments: {} }, { "mcp-name": "drop_all" }),
    );
    assertEquals(codeOf(unknown), -32602);
    const sent = current("tools/call", { name: "query", arguments: { sql: 1, rows: 5 } }, {
      "mcp-name": "query",
    });
    const { result } = JSON.parse((await send(sent)).text) as {
      result: { isError: boolean; content: { text: string }[] };
    };
    assertEquals(result.isError, true);
    const { code, issues } = JSON.parse(result.content[0]?.text ?? "") as {
      code: string;
      issues: { path: string }[];
    };
    assertEquals([code, issues.map(({ path }) => path).toSorted()], ["validation_failed", ["rows", "sql"]]);
    // A number of which other digits would arrive is one of them.
    const rounded = current("tools/call", { name: "query", arguments: { sql: "SELECT ?", params: ["N"] } });
    const body = JSON.stringify(rounded.body).replace('"N"', "9007199254740993");
    const { text } = await send({ body, headers: { ...rounded.headers, "mcp-name": "query" } });
    assertEquals([text.includes('"isError":true'), text.includes("9007199254740992")], [true, false], text);
  });
});
