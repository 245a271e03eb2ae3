// `deno run -A tests/bench/mcp_bench.ts`: what a tool's call costs above the call that it makes, and how long a list of
// tools takes. One client, one call after the other, in turns with the same statement under /v1. `--rounds N` (2000).
// Goals: a tool's call ≤ 2 ms above its call, tools/list ≤ 24 kB and 10 kB for a reader.
import { startService } from "../testing/start_service.ts";
import { print } from "../testing/print.ts";
import { makeTestNamespace } from "../testing/test_namespace.ts";
import { callApi } from "../testing/call_api.ts";
import { median } from "./median.ts";

const GOAL_MS = 2;
const VERSION = "2026-07-28";
const OPERATOR_KEY = "operator-key-of-a-benchmark";
const WARM_UP = 300;
const SQL = "SELECT name FROM things WHERE id = ?";

const at = Deno.args.indexOf("--rounds");
const rounds = at < 0 ? 2000 : Number(Deno.args[at + 1]);

if (import.meta.main) {
  const folder = await Deno.makeTempDir({ prefix: "bench_mcp_" });
  try {
    await measure(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function measure(folder: string): Promise<void> {
  await using service = await startService({ folder, settings: { OPERATOR_KEY, DEMO: "0" } });
  const { url } = service;
  const to = { request: (path: string, init: RequestInit) => fetch(`${url}${path}`, init) };
  const shop = await makeTestNamespace({
    request: (method, path, options) => callApi(to, method, path, options),
    operatorKey: OPERATOR_KEY,
  });
  await shop.setup(
    "CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT)",
    "INSERT INTO things VALUES (1, 'one')",
  );
  const reader = await shop.mint("read");
  const query = () => timed(`${url}/v1/db/acme/main/query`, shop.token, { body: { sql: SQL, params: [1] } });
  const tool = (named: boolean) => () =>
    timed(`${url}/mcp`, shop.token, {
      body: message("tools/call", {
        name: "query",
        arguments: { ...(named ? { database: "main" } : {}), sql: SQL, params: [1] },
      }),
      headers: { ...headersOf("tools/call"), "mcp-name": "query" },
    });
  const former = () =>
    timed(`${url}/mcp`, shop.token, {
      body: {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "query", arguments: { sql: SQL, params: [1] } },
      },
      headers: { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25" },
    });
  const list = (token: string) => () =>
    timed(`${url}/mcp`, token, { body: message("tools/list", {}), headers: headersOf("tools/list") });
  const kinds = {
    "/v1 query": query,
    "tool query": tool(true),
    "tool query, database left out": tool(false),
    "tool query, former protocol": former,
    "tools/list": list(shop.token),
    "tools/list of a reader": list(reader.token),
  };
  const times = new Map(Object.keys(kinds).map((name) => [name, [] as number[]]));
  for (let round = 0; round < WARM_UP + rounds; round++) {
    for (const [name, run] of Object.entries(kinds)) {
      const { ms } = await run();
      if (round >= WARM_UP) times.get(name)?.push(ms);
    }
  }
  const base = median(times.get("/v1 query") ?? []);
  for (const [name, all] of times) {
    const above = median(all) - base;
    const goal = name.startsWith("tool query")
      ? ` (goal ${GOAL_MS} ms above ${above <= GOAL_MS ? "✓" : "✗"})`
      : "";
    print(`${name}: median ${median(all).toFixed(2)} ms, ${above.toFixed(2)} above /v1${goal}`);
  }
  for (const [who, token] of [["admin", shop.token], ["reader", reader.token]] as const) {
    print(`tools/list of ${who}: ${(await list(token)()).bytes} bytes`);
  }
}

interface Sent {
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

async function timed(
  url: string,
  token: string,
  { body, headers }: Sent,
): Promise<{ ms: number; bytes: number }> {
  const startedMs = performance.now();
  const response = await fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const ms = performance.now() - startedMs;
  if (!response.ok || text.includes('"isError"')) throw new Error(text.slice(0, 500));
  return { ms, bytes: new TextEncoder().encode(text).length };
}

function message(method: string, params: object): unknown {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } };
}

function headersOf(method: string): Record<string, string> {
  return {
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": VERSION,
    "mcp-method": method,
  };
}
