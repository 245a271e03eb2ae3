// An app with one namespace and short ways to the endpoints of its database `main`.
import type { ApiAnswer } from "../testing/call_api.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import type { TestNamespace } from "../testing/test_namespace.ts";

export interface EndpointWorld extends AsyncDisposable {
  readonly app: StartedApp;
  readonly tenant: TestNamespace;
  /** One call below `…/databases/main/endpoints`, by the admin token. */
  call(method: string, path?: string, body?: unknown): Promise<ApiAnswer>;
}

export async function endpointWorld(statements: readonly string[] = []): Promise<EndpointWorld> {
  const app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup(...statements);
  const root = `/api/namespaces/${tenant.slug}/databases/main/endpoints`;
  return {
    ...{ app, tenant },
    call: (method, path = "", body = undefined) =>
      app.request(method, root + path, { token: tenant.token, ...(body === undefined ? {} : { body }) }),
    [Symbol.asyncDispose]: () => app.stop(),
  };
}

/** A specification that is right for `CREATE TABLE orders (id INTEGER PRIMARY KEY, note TEXT)`, laid over. */
export function readSpec(over: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    ...{ slug: "get-order", name: "Get order", kind: "query", method: "GET" },
    sql: "SELECT * FROM orders WHERE id = ?",
    input: [{ name: "id", type: "integer", required: true }],
    output: "first_row",
    ...over,
  };
}

export const ORDERS = "CREATE TABLE orders (id INTEGER PRIMARY KEY, note TEXT)";
