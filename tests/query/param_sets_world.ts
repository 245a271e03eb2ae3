// A namespace that sends one statement with many parameter sets.
import type { ApiAnswer, ApiRequest } from "../testing/call_api.ts";
import type { StartedApp } from "../testing/start_app.ts";
import type { TestNamespace } from "../testing/test_namespace.ts";

/** Values of each run. */
export type Sets = readonly (readonly unknown[])[];

/** What a test reads of the result. */
export interface SetsData {
  readonly columns: readonly string[];
  readonly rows: readonly unknown[][];
  readonly sets: {
    readonly rowsReturned: readonly number[] | null;
    readonly rowsWritten: readonly number[] | null;
    readonly lastInsertRowid: readonly unknown[] | null;
  };
  readonly rowsRead: number;
  readonly rowsWritten: number;
}

/** A namespace, and a short way to send sets. */
export interface World {
  readonly app: StartedApp;
  readonly tenant: TestNamespace;
  send(sql: string, paramSets: Sets, more?: ApiRequest & { transaction?: boolean }): Promise<ApiAnswer>;
}

/** One more namespace of an app. */
export async function worldOf(app: StartedApp, slug: string): Promise<World> {
  const tenant = await app.namespace(slug);
  const send: World["send"] = (sql, paramSets, { transaction, ...options } = {}) =>
    app.request("POST", `${tenant.database.path}/batch`, {
      token: tenant.token,
      ...options,
      body: { sql, paramSets, ...(transaction === undefined ? {} : { transaction }) },
    });
  return { app, tenant, send };
}

/** Guarantee: only that there is data; a test fails where a member it reads is another. */
export function dataOf(answer: ApiAnswer): SetsData {
  return JSON.parse(answer.text).data;
}
