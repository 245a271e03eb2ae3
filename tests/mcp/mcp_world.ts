// A namespace with a small shop, and clients of the Model Context Protocol for it.
import { assert, assertEquals } from "@std/assert";
import type { Role } from "../../lib/core/role.ts";
import type { ScopeRow } from "../../lib/store/records.ts";
import type { StartedApp } from "../testing/start_app.ts";
import type { TestNamespace } from "../testing/test_namespace.ts";
import { connectMcp, type ConnectOptions, type McpClient, type Value } from "./mcp_client.ts";

export interface McpWorld {
  readonly app: StartedApp;
  readonly shop: TestNamespace;
  /** A client with a token of that role; with the admin token of the namespace unless told otherwise. */
  connect(as?: Role | { readonly token: string }, more?: Omit<ConnectOptions, "token">): Promise<McpClient>;
  /** A token for these scopes only. */
  scoped(role: Role, ...scopes: ScopeRow[]): Promise<{ token: string }>;
  rule(settings: object): Promise<void>;
  decide(approvalId: unknown, verb: "approve" | "deny", reason?: string): Promise<void>;
  /** Rows of a SELECT, past the door. */
  rows(sql: string): Promise<unknown>;
}

export async function mcpWorld(app: StartedApp, slug: string): Promise<McpWorld> {
  const shop = await app.namespace(slug);
  await shop.setup(
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, note TEXT NOT NULL, total REAL)",
    "INSERT INTO orders (note, total) VALUES ('first', 10), ('second', 20), ('third', 30)",
  );
  const manage = async (method: string, path: string, body?: unknown) => {
    const answer = await app.request(method, `/api/namespaces/${slug}${path}`, {
      token: app.operatorKey,
      ...(body === undefined ? {} : { body }),
    });
    assert(answer.status < 300, answer.text);
  };
  return {
    ...{ app, shop },
    connect: async (as, more = {}) => {
      const { token } = typeof as === "string" ? await shop.mint(as) : as ?? shop;
      return await connectMcp(app.app, { token, ...more });
    },
    scoped: (role, ...scopes) => shop.mint(role, { scopes }),
    rule: (settings) => manage("POST", "/databases/main/rules", settings),
    decide: (approvalId, verb, reason) =>
      manage("POST", `/approvals/${approvalId}/${verb}`, reason === undefined ? undefined : { reason }),
    rows: async (sql) => {
      const { body } = await shop.query(sql);
      return (body.data as Value | undefined)?.["rows"];
    },
  };
}

/** The rows of an answer of `query`. */
export async function queried(client: McpClient, sql: string, more: object = {}): Promise<unknown> {
  return (await client.done("query", { sql, ...more }))["rows"];
}

/** That nothing of the shop has changed. */
export async function assertUntouched({ rows }: McpWorld): Promise<void> {
  assertEquals(await rows("SELECT note FROM orders ORDER BY id"), [["first"], ["second"], ["third"]]);
  assertEquals(
    await rows("SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE '\\_service%' ESCAPE '\\'"),
    [[1]],
  );
}
