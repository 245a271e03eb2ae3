// A shop under a rule, an agent whose writes it holds, and the person who decides. For tests that share one app.
import { assertEquals } from "@std/assert";
import type { ApiAnswer, ApiRequest } from "../testing/call_api.ts";
import type { StartedApp } from "../testing/start_app.ts";
import { rowsOf, type TestNamespace, type TestToken } from "../testing/test_namespace.ts";
import { type Held, heldBy } from "./write_world.ts";

/** What a person is shown, as far as tests look at it. */
export interface Shown {
  readonly [member: string]: unknown;
  readonly id: string;
  readonly state: string;
  readonly look: number;
  readonly affectedRows: number | null;
  readonly statements: readonly { readonly sql: string; readonly params: readonly unknown[] }[];
  readonly effect: Readonly<Record<"affected" | "cascaded" | "rowsRead", number | null>>;
  readonly preview: {
    readonly table: string;
    readonly columns: readonly string[];
    readonly keys: readonly string[];
    readonly before: readonly (readonly unknown[])[];
    readonly after: readonly (readonly unknown[])[];
  } | null;
  readonly outcome: Readonly<Record<string, unknown>> | null;
}

export interface DecisionWorld {
  readonly app: StartedApp;
  readonly shop: TestNamespace;
  readonly agent: TestToken;
  /** Sends one statement as the agent, which has to be held. */
  hold(sql: string, params?: readonly unknown[]): Promise<Held>;
  /** One call about an approval, by the operator unless told otherwise. */
  call(method: string, approvalId: string, verb?: string, more?: ApiRequest): Promise<ApiAnswer>;
  show(approvalId: string): Promise<Shown>;
  look(approvalId: string): Promise<Shown>;
  /** Approves the look that is shown now. */
  approve(approvalId: string, more?: object): Promise<Shown>;
  redeem(held: Held): Promise<ApiAnswer>;
  rows(sql: string): Promise<unknown[][]>;
}

/** `main` has 300 items; every change of them needs a person. */
export async function decisionWorld(app: StartedApp, slug: string): Promise<DecisionWorld> {
  const shop = await app.namespace(slug);
  await shop.setup(
    "CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, price INTEGER)",
    "CREATE TABLE notes (id INTEGER PRIMARY KEY, item INTEGER REFERENCES items ON DELETE CASCADE)",
    "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 300) INSERT INTO items SELECT i, 'item ' || i, i * 10 FROM c",
    "INSERT INTO notes VALUES (1, 7), (2, 7), (3, 8)",
  );
  const rule = { tableGlob: "items", effect: "require_approval", note: "Prices are checked by a person" };
  const made = await app.request("POST", `/api/namespaces/${slug}/databases/main/rules`, {
    token: shop.token,
    body: rule,
  });
  assertEquals(made.status, 201, made.text);
  const agent = await shop.mint("write");
  const call = (method: string, id: string, verb?: string, more: ApiRequest = {}) =>
    app.request(method, `/api/namespaces/${slug}/approvals/${id}${verb === undefined ? "" : `/${verb}`}`, {
      token: app.operatorKey,
      ...more,
    });
  const show = async (id: string) => shownIn(await call("GET", id));
  return {
    ...{ app, shop, agent, call, show },
    hold: async (sql, params = []) => heldBy(await shop.query(sql, params, { token: agent.token })),
    look: async (id) => shownIn(await call("POST", id, "look")),
    approve: async (id, more) => {
      const { look } = await show(id);
      return shownIn(await call("POST", id, "approve", { body: { look, ...more } }));
    },
    redeem: ({ approvalToken }) =>
      app.request("POST", `${shop.database.path}/redeem_approval`, {
        token: agent.token,
        body: { approvalToken },
      }),
    rows: async (sql) => rowsOf(await shop.query(sql)),
  };
}

/** Guarantee: none but that the call succeeded; a test fails where a member it reads is another or missing. */
export function shownIn(answer: ApiAnswer): Shown {
  assertEquals(answer.status, 200, answer.text);
  return answer.body.data as Shown;
}
