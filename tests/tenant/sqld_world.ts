// A real sqld with namespaces for one test, and stores on it; a test may stand between a store and its server.
import { AppError } from "../../lib/core/errors.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { silentLog } from "../../lib/core/log.ts";
import type { Fetch } from "../../lib/tenant/remote/hrana/poster.ts";
import type { RemoteStore } from "../../lib/tenant/remote/remote_store.ts";
import { createSqldStore, type SqldStoreOptions } from "../../lib/tenant/sqld/create_sqld_store.ts";
import type { TenantDatabase, TenantOutcome } from "../../lib/tenant/tenant_store.ts";
import { tenantCall } from "../contracts/tenant_store.ts";
import { type Sqld, startSqld } from "../testing/sqld.ts";

export interface SqldWorld {
  readonly sqld: Sqld;
  /** A store as another process would have it. Closed at the end. */
  store(options?: Partial<SqldStoreOptions>): RemoteStore;
}

/** Runs `body` with a server of its own; where there is none for this machine it says so and returns. */
export async function withSqld(
  body: (world: SqldWorld) => Promise<void>,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const sqld = await startSqld({
    args: ["--enable-namespaces", "--disable-default-namespace", ...args],
    env,
  });
  if (sqld === null) return;
  const stores: RemoteStore[] = [];
  try {
    await body({
      sqld,
      store: (options = {}) => {
        const store = createSqldStore({
          ...{ url: sqld.url, adminUrl: sqld.adminUrl, adminToken: null, jwtKeyPem: null },
          ...{ clock: systemClock, log: silentLog, queryTimeoutMs: 5000, logDays: 30, snapshotDays: 7 },
          ...options,
        });
        stores.push(store);
        return store;
      },
    });
  } finally {
    for (const store of stores) await store.close();
    await sqld.stop();
  }
}

/** The failure that the work ends in. */
export async function failureOf(work: () => Promise<unknown>): Promise<AppError> {
  try {
    await work();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new TypeError("nothing was thrown");
}

/** `location`: whose database it is about, or the catalogue; empty: the admin API. `sql` is the request's text. */
export interface Asked {
  readonly url: string;
  readonly location: string;
  readonly sql: string;
}

/** What the real server is asked, and a hand on what comes back. */
export type Between = (request: Asked, go: () => Promise<Response>) => Promise<Response>;

export function standBetween(between: Between): Fetch {
  return (url, init) =>
    between({
      url,
      location: atob(new Headers(init.headers).get("x-namespace-bin") ?? ""),
      sql: typeof init.body === "string" ? init.body : "",
    }, () => fetch(url, init));
}

/** Whether it is only asked, behind a statement that takes long, if the server answers anything. */
export function asksWhetherItAnswers({ sql }: Asked): boolean {
  return sql.includes('"batch":{"steps":[{"stmt":{"sql":"SELECT 1"}}]}');
}

/** Milliseconds longer than any claim of a database lasts. */
const LONG_MS = 600_000;

/** Ends all claims of databases, as time would. */
export async function forward({ url }: Pick<Sqld, "url">): Promise<void> {
  const sql = `UPDATE tenant SET closed_until = closed_until - ${LONG_MS} WHERE closed_until > ${LONG_MS}`;
  const response = await fetch(`${url}/v2/pipeline`, {
    method: "POST",
    headers: { "x-namespace-bin": btoa("cubby-catalog").replace(/=+$/, "") },
    body: JSON.stringify({ requests: [{ type: "execute", stmt: { sql } }, { type: "close" }] }),
  });
  const { results: [result] }: { results: { type: string }[] } = await response.json();
  if (result?.type !== "ok") throw new Error("the catalogue was not changed");
}

/** As the pipeline does: again where the schema was another one. */
export async function ask(
  database: TenantDatabase,
  level: "read" | "write",
  sql: string,
): Promise<TenantOutcome> {
  for (;;) {
    const { schemaVersion } = await database.inspect([]);
    const outcome = await database.run(tenantCall(schemaVersion, level, [[sql]]));
    if (outcome.ok !== "stale") return outcome;
  }
}
