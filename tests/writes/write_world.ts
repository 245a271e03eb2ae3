// An app with one database and short ways to propose, apply, rules, decisions and redeeming.
import { assert, assertEquals } from "@std/assert";
import type { ApiAnswer, ApiRequest } from "../testing/call_api.ts";
import { startApp, type StartAppOptions, type StartedApp } from "../testing/start_app.ts";
import type { TestNamespace } from "../testing/test_namespace.ts";

/** What a test reads of propose and of a dry run. */
export interface Shown {
  readonly estimatedAffectedRows: number | null;
  readonly cascadedRows: number | null;
  readonly action: string;
  readonly plan: readonly (readonly unknown[])[];
  readonly preview: {
    readonly table: string;
    readonly columns: readonly string[];
    readonly before: readonly (readonly unknown[])[];
    readonly after: readonly (readonly unknown[])[];
  } | null;
  readonly executionToken: string;
  readonly expiresAt: string;
}

export interface Held {
  readonly approvalToken: string;
  readonly id: string;
}

export interface WriteWorld {
  readonly app: StartedApp;
  readonly shop: TestNamespace;
  /** POST below the database, with the admin token unless the options have another. */
  post(operation: string, body: unknown, options?: ApiRequest): Promise<ApiAnswer>;
  propose(sql: string, params?: readonly unknown[], options?: ApiRequest): Promise<Shown>;
  apply(executionToken: string, options?: ApiRequest): Promise<ApiAnswer>;
  /** Adds a rule and returns its id. */
  rule(settings: object): Promise<string>;
  decide(id: string, verb: "approve" | "deny", body?: unknown): Promise<ApiAnswer>;
  redeem(approvalToken: string, options?: ApiRequest): Promise<ApiAnswer>;
  /** Rows of a SELECT. */
  rows(sql: string): Promise<unknown[][]>;
  setup(...statements: string[]): Promise<void>;
}

export async function withWrites(
  body: (world: WriteWorld) => Promise<void>,
  options: StartAppOptions = {},
): Promise<void> {
  await using app = await startApp(options);
  await body(await writesIn(app));
}

/** One more namespace of an app that serves several worlds. */
export async function writesIn(app: StartedApp, slug = "acme"): Promise<WriteWorld> {
  const shop = await app.namespace(slug);
  const post: WriteWorld["post"] = (operation, body, options = {}) =>
    app.request("POST", `${shop.database.path}/${operation}`, { token: shop.token, ...options, body });
  return {
    ...{ app, shop, post },
    propose: async (sql, params = [], options = {}) => {
      const answer = await post("propose", { sql, params }, options);
      assertEquals(answer.status, 200, `${sql}: ${answer.text}`);
      return shown(answer);
    },
    apply: (executionToken, options) => post("apply", { executionToken }, options),
    rule: async (settings) => {
      const path = `/api/namespaces/${shop.slug}/databases/main/rules`;
      const answer = await app.request("POST", path, { token: shop.token, body: settings });
      assertEquals(answer.status, 201, answer.text);
      return JSON.parse(answer.text).data.id;
    },
    decide: (id, verb, body) =>
      app.request("POST", `/api/namespaces/${shop.slug}/approvals/${id}/${verb}`, {
        token: app.operatorKey,
        ...(body === undefined ? {} : { body }),
      }),
    redeem: (approvalToken, options) => post("redeem_approval", { approvalToken }, options),
    rows: async (sql) => {
      const answer = await shop.query(sql);
      assertEquals(answer.status, 200, answer.text);
      return JSON.parse(answer.text).data.rows;
    },
    setup: shop.setup,
  };
}

/** Guarantee: only that there is data; a test fails where a member it reads is another. */
export function shown(answer: ApiAnswer): Shown {
  return JSON.parse(answer.text).data;
}

/** The approval envelope of a 403. */
export function heldBy(answer: ApiAnswer): Held {
  assertEquals([answer.status, answer.body.code], [403, "approval_required"], answer.text);
  const { approvalToken, approvalUrl } = JSON.parse(answer.text);
  assert(approvalToken.startsWith("appr_"));
  return { approvalToken, id: approvalUrl.split("/").at(-1) };
}
