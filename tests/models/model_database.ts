// A database of the service for one random case, in the words of the models.
import { assert, assertEquals } from "@std/assert";
import type { ApiAnswer } from "../testing/call_api.ts";
import type { StartedApp } from "../testing/start_app.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import type { Call } from "./random_statements.ts";

export interface ModelDatabase extends AsyncDisposable {
  /** `/v1/db/<namespace>/<database>`. */
  readonly path: string;
  readonly slug: string;
  post(operation: string, body: unknown, headers?: Record<string, string>): Promise<ApiAnswer>;
  send(call: Call, headers?: Record<string, string>): Promise<ApiAnswer>;
  rows(sql: string): Promise<unknown[][]>;
}

let made = 0;

/** Made anew, and deleted in the end. */
export async function modelDatabase(app: StartedApp, namespace: TestNamespace): Promise<ModelDatabase> {
  const { slug, path } = await namespace.createDatabase(`case-${++made}`);
  const post: ModelDatabase["post"] = (operation, body, headers = {}) =>
    app.request("POST", `${path}/${operation}`, { token: namespace.token, body, headers });
  return {
    ...{ path, slug, post },
    send: ({ statements, transaction }, headers = {}) => {
      const all = { "x-service-no-snapshot": "1", ...headers };
      return transaction === null
        ? post("query", statements[0], all)
        : post("batch", { statements, transaction }, all);
    },
    rows: async (sql) => {
      const answer = await post("query", { sql });
      assertEquals(answer.status, 200, answer.text);
      return rowsOf(answer);
    },
    [Symbol.asyncDispose]: async () => {
      const options = { token: namespace.token, body: { confirm: slug } };
      const answer = await app.request(
        "DELETE",
        `/api/namespaces/${namespace.slug}/databases/${slug}`,
        options,
      );
      assert(answer.status === 200, answer.text);
    },
  };
}
