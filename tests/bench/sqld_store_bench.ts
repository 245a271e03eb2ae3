// The store over sqld beside sqld itself, in one run: `deno run -A tests/bench/sqld_store_bench.ts`. Raw lines send the
// same number of requests for each statement as the store does, and nothing of what the service adds to them.
import { systemClock } from "../../lib/core/clock.ts";
import { silentLog } from "../../lib/core/log.ts";
import { createSqldStore } from "../../lib/tenant/sqld/create_sqld_store.ts";
import { Tenant, tenantCall } from "../contracts/tenant_store.ts";
import { print } from "../testing/print.ts";
import { startSqld } from "../testing/sqld.ts";

const SECONDS = 1;
/** The best round counts: whatever else the machine does only takes away. */
const ROUNDS = 4;
const CONNECTIONS = [1, 32];
const READ = "SELECT * FROM t WHERE id = ?";
const INSERT = "INSERT INTO t (a) VALUES (?)";

const sqld = await startSqld({ args: ["--enable-namespaces", "--disable-default-namespace"] });
if (sqld !== null) {
  const store = createSqldStore({
    ...{ url: sqld.url, adminUrl: sqld.adminUrl, adminToken: null, jwtKeyPem: null },
    ...{ clock: systemClock, log: silentLog, queryTimeoutMs: 30_000, logDays: 30, snapshotDays: 7 },
  });
  const tenant = await Tenant.create(store, ["CREATE TABLE t (id INTEGER PRIMARY KEY, a)"]);
  await tenant.run("write", [[INSERT, 0]]);
  const { schemaVersion } = await tenant.database.inspect([]);
  const namespace = btoa(tenant.id.toLowerCase().replace("_", "-")).replace(/=+$/, "");
  const post = async (
    baton: string | null,
    sqls: readonly string[],
    close: boolean,
  ): Promise<string | null> => {
    const steps = sqls.map((sql) => ({
      stmt: { sql, args: sql.includes("?") ? [{ type: "integer", value: "1" }] : [] },
    }));
    const requests = [{ type: "batch", batch: { steps } }, ...(close ? [{ type: "close" }] : [])];
    const response = await fetch(`${sqld.url}/v3/pipeline`, {
      method: "POST",
      headers: { "x-namespace-bin": namespace, "content-type": "application/json" },
      body: JSON.stringify({ baton, requests }),
    });
    const answer: { baton: string | null } = await response.json();
    return answer.baton;
  };
  const cases: readonly (readonly [name: string, call: () => Promise<unknown>])[] = [
    ["read, sqld", () => post(null, [READ], true)],
    ["read, store", () => tenant.database.run(tenantCall(schemaVersion, "read", [[READ, 1]]))],
    ["insert, sqld, one request", () => post(null, [INSERT], true)],
    ["insert, sqld, two requests", async () => {
      const baton = await post(null, ["BEGIN IMMEDIATE", INSERT], false);
      await post(baton, ["COMMIT"], true);
    }],
    ["insert, store", () => tenant.database.run(tenantCall(schemaVersion, "write", [[INSERT, 1]]))],
  ];
  for (const connections of CONNECTIONS) {
    const best = new Map<string, number>();
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, call] of cases) {
        // sqld itself stops answering when many transactions of several requests wait for one database.
        if (connections > 1 && name.includes("two requests")) continue;
        best.set(name, Math.max(best.get(name) ?? 0, await perSecond(connections, call)));
      }
    }
    for (const [name, rate] of best) print(`${String(connections).padStart(2)} × ${name}: ${rate}/s`);
  }
  await store.close();
  await sqld.stop();
}

async function perSecond(connections: number, call: () => Promise<unknown>): Promise<number> {
  let calls = 0;
  const startMs = systemClock.monotonicMs();
  await Promise.all(Array.from({ length: connections }, async () => {
    while (systemClock.monotonicMs() - startMs < SECONDS * 1000) {
      await call();
      calls++;
    }
  }));
  return Math.round(calls / SECONDS);
}
