// A client of the Model Context Protocol in the words of the tests: the SDK's own client, in either era of the protocol,
// on an app in this process or on a service at an address.
import { Client, type ElicitResult, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { assert, assertEquals } from "@std/assert";
import type { Callable } from "../testing/call_api.ts";

/** `current`: 2026-07-28. `former`: 2025-11-25, which has a beginning and no questions in answers. */
export type Era = "current" | "former";

export const eras: readonly Era[] = ["current", "former"];

/** What a client says when its user is back from a page. */
export type PageEnd = ElicitResult["action"];

export interface ConnectOptions {
  readonly token: string;
  readonly era?: Era;
  /** What stands behind `/mcp`, as `?read_only=1`. */
  readonly query?: string;
  /** Present: the client can open a page for its user, and answers what this answers. */
  readonly onPage?: (url: string) => PageEnd | Promise<PageEnd>;
}

/** What a tool has answered. */
export interface Told {
  readonly isError: boolean;
  /** The whole text. */
  readonly text: string;
  /** Whether it stands between the marks of content. */
  readonly marked: boolean;
  /** The JSON object of the answer. */
  readonly value: Value;
}

/** Which members are there is what tests find out. */
export interface Value {
  readonly [name: string]: unknown;
}

export interface McpClient extends AsyncDisposable {
  readonly client: Client;
  call(name: string, args?: object, options?: CallOptions): Promise<Told>;
  /** The same for a call that has to end well: its JSON. */
  done(name: string, args?: object): Promise<Value>;
  /** The same for one that has to fail: its code. */
  fails(name: string, args?: object): Promise<unknown>;
  toolNames(): Promise<string[]>;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (
    progress: { readonly progress: number; readonly message?: string | undefined },
  ) => void;
}

/** Connects to `to`: an app, or the address of a service. */
export async function connectMcp(
  to: Callable | string,
  { token, era = "current", query = "", onPage }: ConnectOptions,
): Promise<McpClient> {
  const client = new Client({ name: "tests", version: "1" }, {
    versionNegotiation: { mode: era === "current" ? "auto" : "legacy" },
    ...(onPage ? { capabilities: { elicitation: { url: {} } } } : {}),
  });
  if (onPage) {
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      assert(params.mode === "url", "a question that is no page");
      return { action: await onPage(params.url) };
    });
  }
  const base = typeof to === "string" ? to : "http://127.0.0.1";
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${base}/mcp${query}`), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
      fetch: typeof to === "string" ? keepAnswers() : (url, init) => askApp(to, url, init),
    }),
  );
  const call: McpClient["call"] = async (name, args = {}, options = {}) => {
    const { signal, onprogress } = options;
    const told = await client.callTool({ name, arguments: { ...args } }, {
      ...(signal ? { signal } : {}),
      ...(onprogress ? { onprogress } : {}),
    });
    return readTold(told);
  };
  return {
    client,
    call,
    done: async (name, args) => {
      const { isError, text, value } = await call(name, args);
      assert(!isError, `${name}: ${text}`);
      return value;
    },
    fails: async (name, args) => {
      const { isError, text, value } = await call(name, args);
      assert(isError, `${name}: ${text}`);
      return value["code"];
    },
    toolNames: async () => (await client.listTools()).tools.map((one) => one.name),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/**
 * `fetch` whose answers stay in memory. Once an answer is collected as garbage, the runtime (2.9.6) forgets what aborts it, though its
 * body is still read: the connection of a client that closes would stay open.
 */
function keepAnswers(): (url: string | URL, init?: RequestInit) => Promise<Response> {
  const answers: Response[] = [];
  return async (url, init) => {
    const answer = await fetch(url, init);
    answers.push(answer);
    return answer;
  };
}

async function askApp(app: Callable, url: string | URL, init: RequestInit = {}): Promise<Response> {
  return await app.request(String(url), init);
}

/** Reads an answer, and holds it to its form: one text, one JSON object, marks that belong together. */
export function readTold(told: { readonly content?: unknown; readonly isError?: unknown }): Told {
  assert(!("structuredContent" in told), "a structured answer hides the text");
  assert(Array.isArray(told.content) && told.content.length === 1, "one text");
  const [{ type, text }] = told.content as [{ type: unknown; text: unknown }];
  assertEquals(type, "text");
  assert(typeof text === "string");
  assert(!/appr_|cub_live_/.test(text), "a secret in an answer");
  const [, mark, json = text] =
    /^Between <data-[0-9a-f]{20}> and [^\n]*\n<(data-[0-9a-f]{20})>\n([^]*)\n<\/\1>$/
      .exec(text) ?? [];
  return {
    isError: told.isError === true,
    text,
    marked: mark !== undefined,
    value: JSON.parse(json) as Value,
  };
}
