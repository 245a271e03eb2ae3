// The door for clients of libSQL, as tests call it: pipelines written by hand.
import { assertEquals } from "@std/assert";
import type { ApiRequest } from "../testing/call_api.ts";
import { writesIn, type WriteWorld } from "../writes/write_world.ts";
import type { StartedApp } from "../testing/start_app.ts";

/** An answer of the door; which members are there is what tests find out. */
export interface DoorAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    readonly baton: string | null;
    readonly results: readonly DoorResult[];
    readonly message?: string;
    readonly code?: string;
  };
}

export interface DoorResult {
  readonly type: "ok" | "error";
  readonly error?: { readonly message: string; readonly code: string; readonly extended_code?: string };
  readonly response?: {
    readonly type: string;
    readonly is_autocommit?: boolean;
    readonly result?: StmtResult & BatchResult & DescribeResult;
  };
}

export interface StmtResult {
  readonly cols: readonly { readonly name: string; readonly decltype: string | null }[];
  readonly rows:
    readonly (readonly { readonly type: string; readonly value?: unknown; readonly base64?: string }[])[];
  readonly affected_row_count: number;
  readonly last_insert_rowid: string | null;
}

interface BatchResult {
  readonly step_results: readonly (StmtResult | null)[];
  readonly step_errors: readonly ({ readonly message: string; readonly code: string } | null)[];
}

interface DescribeResult {
  readonly params: readonly { readonly name: string | null }[];
  readonly is_explain: boolean;
  readonly is_readonly: boolean;
}

export interface HranaWorld extends WriteWorld {
  /** `POST <door>/v2/pipeline`, with the admin token unless the options have another. */
  pipeline(body: unknown, options?: ApiRequest): Promise<DoorAnswer>;
  /** One `execute`; answers its result or its error. */
  execute(sql: string, args?: readonly unknown[], options?: ApiRequest): Promise<DoorResult>;
  /** One `batch`, between BEGIN and COMMIT, in the form that clients send. */
  transaction(statements: readonly string[], options?: ApiRequest): Promise<DoorResult>;
}

export async function hranaWorld(app: StartedApp, slug: string): Promise<HranaWorld> {
  const world = await writesIn(app, slug);
  const pipeline: HranaWorld["pipeline"] = async (body, options) => {
    const { status, headers, text } = await app.request("POST", `/hrana/${slug}/main/v2/pipeline`, {
      ...{ token: world.shop.token, body },
      ...options,
    });
    assertEquals(headers.get("content-type"), "application/json");
    return { status, headers, body: JSON.parse(text) };
  };
  const one = async (request: unknown, options?: ApiRequest) => {
    const { body } = await pipeline({ baton: null, requests: [request, { type: "close" }] }, options);
    const [result] = body.results ?? [];
    return result ?? { type: "error", error: { message: body.message ?? "", code: body.code ?? "" } };
  };
  return {
    ...{ ...world, pipeline },
    execute: (sql, args = [], options) => one({ type: "execute", stmt: { sql, args } }, options),
    transaction: (statements, options) => one({ type: "batch", batch: wholeBatch(statements) }, options),
  };
}

/** As @libsql/client sends a batch. */
export function wholeBatch(statements: readonly string[]): unknown {
  const ok = (step: number) => ({ type: "ok", step });
  const inner = statements.map((sql, at) => ({ condition: ok(at), stmt: { sql } }));
  const last = statements.length;
  return {
    steps: [
      { stmt: { sql: "BEGIN IMMEDIATE" } },
      ...inner,
      { condition: ok(last), stmt: { sql: "COMMIT" } },
      { condition: { type: "not", cond: ok(last + 1) }, stmt: { sql: "ROLLBACK" } },
    ],
  };
}

/** What @tursodatabase/serverless sends behind the steps of every batch, to hear whether a transaction is open. */
export const stateProbe = {
  stmt: { sql: "SELECT 1", args: [], named_args: [], want_rows: false },
  condition: { type: "is_autocommit" },
};

/** A batch as that client sends it. */
export function askedBatch(statements: readonly string[]): unknown[] {
  const ok = (step: number) => ({ type: "ok", step });
  const commit = statements.length + 1;
  return [
    { stmt: { sql: "BEGIN IMMEDIATE" } },
    ...statements.map((sql, at) => ({ stmt: { sql }, condition: ok(at) })),
    { stmt: { sql: "COMMIT" }, condition: ok(commit - 1) },
    {
      stmt: { sql: "ROLLBACK" },
      condition: { type: "and", conds: [ok(0), { type: "not", cond: ok(commit) }] },
    },
  ];
}

/** The lines of a cursor's answer. */
export async function cursor({ app, shop }: HranaWorld, steps: readonly unknown[]): Promise<string> {
  const body = { batch: { steps } };
  const path = `/hrana/${shop.slug}/main/v3/cursor`;
  return (await app.request("POST", path, { token: shop.token, body })).text;
}

/** The result of a statement that has succeeded. */
export function resultOf(answer: DoorResult): StmtResult & BatchResult & DescribeResult {
  assertEquals(answer.error, undefined);
  const result = answer.response?.result;
  if (result === undefined) throw new Error("no result");
  return result;
}

/** Values of its rows. */
export function valuesOf({ rows }: StmtResult): unknown[][] {
  return rows.map((row) => row.map(({ value }) => value));
}
