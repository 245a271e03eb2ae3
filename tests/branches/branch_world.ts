// A shop with branches for tests: short ways to claim one and to call its routes.
import { assert, assertEquals } from "@std/assert";
import type { BranchDiff, MergeReport } from "../../lib/sql/service/branch_report.ts";
import { type ApiAnswer, NO_SNAPSHOT } from "../testing/call_api.ts";
import { startApp, type StartAppOptions, type StartedApp } from "../testing/start_app.ts";
import { member, rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { countDatabases } from "./count_databases.ts";

export interface Claim {
  readonly ref: string;
  readonly databaseId: string;
  readonly token: string;
  readonly tokenId: string;
  readonly expiresAt: string;
  readonly outcome: string;
}

export interface BranchWorld {
  readonly app: StartedApp;
  readonly shop: TestNamespace;
  /** One call under the trunk's path, by the admin or another token. */
  call(method: string, operation: string, body?: unknown, token?: string): Promise<ApiAnswer>;
  claim(body?: object): Promise<Claim>;
  /** One statement on the trunk; it must succeed, and gets no snapshot. */
  trunk(sql: string, params?: readonly unknown[]): Promise<unknown[][]>;
  /** The same on a branch, by the admin. */
  branch(ref: string, sql: string, params?: readonly unknown[]): Promise<unknown[][]>;
  diff(ref: string): Promise<BranchDiff>;
  /** Databases and branches that the store has got since the world began; anything left behind counts a hundred. */
  databases(): Promise<number>;
}

export async function withBranches(
  body: (world: BranchWorld) => Promise<void>,
  options: StartAppOptions = {},
): Promise<void> {
  await using app = await startApp(options);
  await body(await branchesIn(app));
}

/** One more namespace of an app that serves several worlds. */
export async function branchesIn(app: StartedApp, slug = "acme"): Promise<BranchWorld> {
  const databasesBefore = await countDatabases(app);
  const shop = await app.namespace(slug);
  const call = (method: string, operation: string, json?: unknown, token = shop.token) =>
    app.request(method, `${shop.database.path}/${operation}`, {
      token,
      ...(json === undefined ? {} : { body: json }),
    });
  const run = async (path: string, sql: string, params: readonly unknown[] = []) => {
    const asked = { token: shop.token, headers: NO_SNAPSHOT, body: { sql, params } };
    const answer = await app.request("POST", `${path}/query`, asked);
    assertEquals(answer.status, 200, `${sql}: ${answer.text}`);
    return rowsOf(answer);
  };
  const world: BranchWorld = {
    ...{ app, shop, call },
    claim: async (json = {}) => {
      const answer = await call("POST", "claim_branch", { purpose: "a test", ref: "pr-1", ...json });
      assert(answer.status === 200 || answer.status === 201, answer.text);
      return claimOf(answer);
    },
    trunk: (sql, params) => run(shop.database.path, sql, params),
    branch: (ref, sql, params) => run(`${shop.database.path}@${ref}`, sql, params),
    diff: async (ref) => {
      const answer = await call("GET", `branches/${ref}/diff`);
      assertEquals(answer.status, 200, answer.text);
      return dataOf<BranchDiff>(answer);
    },
    databases: async () => await countDatabases(app) - databasesBefore,
  };
  await world.trunk("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, price INTEGER)");
  await world.trunk("INSERT INTO items VALUES (1, 'pen', 10), (2, 'ink', 20), (3, 'cap', 30)");
  return world;
}

export function claimOf(answer: ApiAnswer): Claim {
  return {
    ref: member(answer, "branchRef"),
    databaseId: member(answer, "databaseId"),
    token: member(answer, "token"),
    tokenId: member(answer, "tokenId"),
    expiresAt: member(answer, "expiresAt"),
    outcome: member(answer, "outcome"),
  };
}

export function reportOf(answer: ApiAnswer): MergeReport & { readonly snapshot: string | null } {
  return dataOf(answer);
}

/** Guarantee: none; a test fails where a member that it reads is another or missing. */
export function dataOf<Data>(answer: ApiAnswer): Data {
  assert(typeof answer.body.data === "object" && answer.body.data !== null, answer.text);
  return answer.body.data as Data;
}

/** Status of a statement under a database path such as `main@pr-1`. */
export async function statusOf(
  { app, shop }: BranchWorld,
  database: string,
  token: string,
  sql = "SELECT count(*) FROM items",
): Promise<number> {
  const path = `/v1/db/${shop.slug}/${database}/query`;
  return (await app.request("POST", path, { token, body: { sql } })).status;
}
