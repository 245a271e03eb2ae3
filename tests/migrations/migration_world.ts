// A namespace whose database gets migration files over HTTP.
import { assert, assertEquals } from "@std/assert";
import type { ApiAnswer, ApiRequest } from "../testing/call_api.ts";
import type { StartedApp } from "../testing/start_app.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";

/** Name and text of a file. */
export type File = readonly [name: string, sql: string];

export interface MigrationWorld {
  readonly app: StartedApp;
  readonly acme: TestNamespace;
  /** Posts files; `more` is what else the body has, and who asks. */
  post(
    files: readonly File[],
    more?: Readonly<Record<string, unknown>>,
    options?: ApiRequest,
  ): Promise<ApiAnswer>;
  /** The same, where it has to succeed: its `data`. */
  apply(files: readonly File[], more?: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>>;
  /** Names of the applied files. */
  names(): Promise<string[]>;
  /** Rows of a query as JSON has them. */
  rows(sql: string): Promise<unknown[][]>;
}

export async function migrationWorld(app: StartedApp, slug: string): Promise<MigrationWorld> {
  const acme = await app.namespace(slug);
  const path = `${acme.database.path}/migrations`;
  const post: MigrationWorld["post"] = (files, more = {}, options = {}) =>
    app.request("POST", path, {
      token: acme.token,
      ...options,
      body: { files: files.map(([name, sql]) => ({ name, sql })), ...more },
    });
  return {
    ...{ app, acme, post },
    apply: async (files, more) => dataOf(await post(files, more)),
    names: async () => {
      const { body, text } = await app.request("GET", path, { token: acme.token });
      assert(Array.isArray(body.data), text);
      return body.data.map(({ name }: { name: string }) => name);
    },
    rows: async (sql) => rowsOf(await acme.query(sql)),
  };
}

/** The object in `data` of an answer that has to be a success. */
export function dataOf(answer: ApiAnswer): Record<string, unknown> {
  assertEquals(answer.status, 200, answer.text);
  const { data } = JSON.parse(answer.text);
  assert(typeof data === "object" && data !== null, answer.text);
  return data;
}

/** The whole body of a refusal. */
export function refusalOf(answer: ApiAnswer, status: number, code: string): Record<string, unknown> {
  assertEquals([answer.status, answer.body.code], [status, code], answer.text);
  return JSON.parse(answer.text);
}
