// A namespace made over the API for a test, with short ways to its database and to further tokens.
import { assert, assertEquals } from "@std/assert";
import type { Role } from "../../lib/core/role.ts";
import type { ScopeRow } from "../../lib/store/records.ts";
import { type ApiAnswer, type ApiRequest, NO_SNAPSHOT } from "./call_api.ts";

export interface Api {
  readonly request: (method: string, path: string, options?: ApiRequest) => Promise<ApiAnswer>;
  readonly operatorKey: string;
}

export interface TestDatabase {
  readonly id: string;
  readonly slug: string;
  /** `/v1/db/<namespace>/<database>`. */
  readonly path: string;
}

export interface TestToken {
  readonly id: string;
  readonly token: string;
}

export interface TestNamespace extends TestToken {
  readonly slug: string;
  /** The database `main`. */
  readonly database: TestDatabase;
  /** Runs one statement in `main` with the admin token or with the options' own. */
  query(sql: string, params?: readonly unknown[], options?: ApiRequest): Promise<ApiAnswer>;
  /** Runs what a test begins with, one statement after the other: all have to pass, and none gets a snapshot. */
  setup(...statements: readonly string[]): Promise<void>;
  /** Runs a batch in `main`. Each statement is its text and its parameters. */
  batch(
    statements: readonly (readonly [sql: string, ...params: unknown[]])[],
    more?: ApiRequest & { readonly transaction?: boolean },
  ): Promise<ApiAnswer>;
  /** A further token, unscoped and for ever unless told otherwise. */
  mint(
    role: Role,
    more?: { readonly scopes?: ScopeRow[]; readonly expiresInSec?: number },
  ): Promise<TestToken>;
  createDatabase(slug: string): Promise<TestDatabase>;
}

export async function makeTestNamespace(api: Api, slug = "acme"): Promise<TestNamespace> {
  const create = async (path: string, body: unknown) => {
    const answer = await api.request("POST", path, { token: api.operatorKey, body });
    assertEquals(answer.status, 201, answer.text);
    return answer;
  };
  const createDatabase = async (databaseSlug: string) => {
    const answer = await create(`/api/namespaces/${slug}/databases`, { slug: databaseSlug });
    return { id: member(answer, "id"), slug: databaseSlug, path: `/v1/db/${slug}/${databaseSlug}` };
  };
  const mint = async (role: Role, more: object = {}) => {
    const answer = await create(`/api/namespaces/${slug}/tokens`, { name: "test", role, ...more });
    return { id: member(answer, "id"), token: member(answer, "token") };
  };
  await create("/api/namespaces", { slug });
  const database = await createDatabase("main");
  const admin = await mint("admin");
  const post = (operation: string, body: unknown, options: ApiRequest = {}) =>
    api.request("POST", `${database.path}/${operation}`, { token: admin.token, ...options, body });
  return {
    ...{ ...admin, slug, database, mint, createDatabase },
    query: (sql, params, options) => post("query", { sql, ...(params ? { params } : {}) }, options),
    setup: async (...statements) => {
      for (const sql of statements) {
        const answer = await post("query", { sql }, { headers: NO_SNAPSHOT });
        assertEquals(answer.status, 200, `${sql}: ${answer.text}`);
      }
    },
    batch: (statements, { transaction, ...options } = {}) =>
      post("batch", {
        statements: statements.map(([sql, ...params]) => ({ sql, params })),
        ...(transaction === undefined ? {} : { transaction }),
      }, options),
  };
}

/** A text member of an answer's `data`. */
export function member(answer: ApiAnswer, name: string): string {
  const { data } = answer.body;
  assert(typeof data === "object" && data !== null, answer.text);
  const value: unknown = Reflect.get(data, name);
  assert(typeof value === "string", `${name} of ${answer.text}`);
  return value;
}

/** `rows` of a query's answer, or of one result of a batch. */
export function rowsOf(answer: ApiAnswer, index?: number): unknown[][] {
  const { data } = answer.body;
  const result: unknown = index === undefined ? data : Array.isArray(data) ? data[index] : undefined;
  assert(typeof result === "object" && result !== null && "rows" in result, answer.text);
  assert(Array.isArray(result.rows), answer.text);
  return result.rows;
}
