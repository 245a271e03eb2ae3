// An app over an sqld behind relays that can do something to one request of one database.
import { pause } from "../../lib/core/pause.ts";
import { assertEquals } from "@std/assert";
import type { ApiAnswer } from "../testing/call_api.ts";
import { headerOf } from "../testing/http_wire.ts";
import { openRelay, type Relay } from "../testing/relay.ts";
import { SHARED_SQLD, startSqld } from "../testing/sqld.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { rowsOf, type TestDatabase, type TestNamespace } from "../testing/test_namespace.ts";
import type { Fault } from "./relay_faults.ts";

/** What befalls one database: its requests are counted from 0, and the one at `at` is `fault`'s. */
export interface Plan {
  readonly at: number;
  readonly fault: Fault | null;
}

export interface RelayWorld {
  readonly app: StartedApp;
  readonly tenant: TestNamespace;
  /** Before sqld's two addresses. */
  readonly data: Relay;
  readonly admin: Relay;
  /** A new database with a table `t`. */
  database(): Promise<TestDatabase>;
  post(
    database: Pick<TestDatabase, "path">,
    operation: string,
    body: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<ApiAnswer>;
  /** Does the work under the plan; resolves with how many requests it took when what the fault began has ended. */
  under<T>(
    database: TestDatabase,
    plan: Plan,
    work: () => Promise<T>,
  ): Promise<{ done: T; requests: number }>;
}

/** Runs `body` on an sqld of its own; where there is none for this machine it says so and returns. */
export async function withRelay(body: (world: RelayWorld) => Promise<void>): Promise<void> {
  const sqld = await startSqld({ args: SHARED_SQLD });
  if (sqld === null) return;
  try {
    await using data = openRelay(sqld.url);
    await using admin = openRelay(sqld.adminUrl);
    const plans = new PlansOf(data);
    await using app = await startApp({
      settings: { TENANTS_URL: `sqld+${data.url}?admin=${admin.url}`, WELCOME_CREDIT_USD: "1000" },
    });
    const tenant = await app.namespace();
    let made = 0;
    const post: RelayWorld["post"] = ({ path }, operation, json, headers = {}) =>
      app.request("POST", `${path}/${operation}`, { token: tenant.token, body: json, headers });
    await body({
      ...{ app, tenant, data, admin, post },
      under: (database, plan, work) => plans.under(database, plan, work),
      database: async () => {
        const database = await tenant.createDatabase(`d${made++}`);
        const sql = "CREATE TABLE t (id INTEGER PRIMARY KEY, a)";
        const answer = await untilAnswered(() =>
          post(database, "query", { sql }, { "x-service-no-snapshot": "1" })
        );
        assertEquals(answer.status, 200, answer.text);
        return database;
      },
    });
  } finally {
    await sqld.stop();
  }
}

interface Running extends Plan {
  seen: number;
  fallen: Promise<unknown>;
}

class PlansOf {
  /** By the location of the database. */
  readonly #plans = new Map<string, Running>();

  constructor(data: Relay) {
    data.between = (request, go, cut) => {
      const location = atob(headerOf(request.headers, "x-namespace-bin") ?? "");
      const plan = this.#plans.get(location);
      if (plan === undefined || plan.seen++ !== plan.at || plan.fault === null) return go();
      const answer = plan.fault(go, cut);
      plan.fallen = answer.catch(() => {});
      return answer;
    };
  }

  async under<T>(
    { id }: TestDatabase,
    { at, fault }: Plan,
    work: () => Promise<T>,
  ): Promise<{ done: T; requests: number }> {
    const location = id.toLowerCase().replace("_", "-");
    const plan: Running = { at, fault, seen: 0, fallen: Promise.resolve() };
    this.#plans.set(location, plan);
    const done = await work();
    await plan.fallen;
    this.#plans.delete(location);
    return { done, requests: plan.seen };
  }
}

/** One row of numbers that a SELECT answers, asked until the store answers. */
export async function numbersOf(world: RelayWorld, database: TestDatabase, sql: string): Promise<number[]> {
  const answer = await untilAnswered(() => world.post(database, "query", { sql }));
  assertEquals(answer.status, 200, answer.text);
  return (rowsOf(answer)[0] ?? []).map(Number);
}

/** Milliseconds for which an answer is waited for: longer than sqld keeps a lock that nobody gives back. */
const ANSWERED_MS = 30_000;

/** Again while the store is not there, or the machine so busy that the control plane is not. */
export async function untilAnswered(send: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
  for (const startMs = performance.now();;) {
    const answer = await send();
    const away = answer.status === 503 || answer.body.code === "meter_unreachable";
    if (!away || performance.now() - startMs > ANSWERED_MS) return answer;
    await pause(500);
  }
}
