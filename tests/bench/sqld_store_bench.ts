// The store over sqld beside sqld itself, in one run: `deno run -A tests/bench/sqld_store_bench.ts`. Raw lines send the
// same number of requests for each statement as the store does, and nothing of what the service adds to them. Rates
// suffer from whatever else a machine does; time on a processor hardly does.
import { systemClock } from "../../lib/core/clock.ts";
import { silentLog } from "../../lib/core/log.ts";
import { createSqldStore } from "../../lib/tenant/sqld/create_sqld_store.ts";
import { FactsCache } from "../../lib/query/facts_cache.ts";
import { readSyntax } from "../../lib/sql/grammar/syntax.ts";
import { GateThread } from "../../lib/tenant/remote/gate/gate_thread.ts";
import { schemaGate } from "../../lib/tenant/remote/gate/schema_gate.ts";
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
    const best = new Map<string, Measured>();
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, call] of cases) {
        // sqld itself stops answering when many transactions of several requests wait for one database.
        if (connections > 1 && name.includes("two requests")) continue;
        const measured = await measure(connections, call, sqld.pid);
        const known = best.get(name);
        best.set(name, {
          perSecond: Math.max(known?.perSecond ?? 0, measured.perSecond),
          hereUs: Math.min(known?.hereUs ?? Infinity, measured.hereUs),
          serverUs: Math.min(known?.serverUs ?? Infinity, measured.serverUs),
        });
      }
    }
    for (const [name, { perSecond, hereUs, serverUs }] of best) {
      print(
        `${String(connections).padStart(2)} × ${name.padEnd(26)} ${String(perSecond).padStart(5)}/s, ` +
          `on a processor: ${hereUs} µs here, ${serverUs} µs in sqld`,
      );
    }
    const rate = (name: string) => best.get(name)?.perSecond ?? NaN;
    const insert = connections > 1 ? "insert, sqld, one request" : "insert, sqld, two requests";
    print(`   the store reads ${ratio(rate("read, store"), rate("read, sqld"))} of what sqld does itself`);
    print(`   and inserts ${ratio(rate("insert, store"), rate(insert))} of it (${insert})`);
  }
  await store.close();
  await sqld.stop();
  await printGate();
}

interface Measured {
  readonly perSecond: number;
  /** Microseconds a call on a processor: of this process, and of sqld. */
  readonly hereUs: number;
  readonly serverUs: number;
}

async function measure(connections: number, call: () => Promise<unknown>, pid: number): Promise<Measured> {
  let calls = 0;
  const before = [await processorUs(Deno.pid), await processorUs(pid)] as const;
  const startMs = systemClock.monotonicMs();
  await Promise.all(Array.from({ length: connections }, async () => {
    while (systemClock.monotonicMs() - startMs < SECONDS * 1000) {
      await call();
      calls++;
    }
  }));
  return {
    perSecond: Math.round(calls / SECONDS),
    hereUs: Math.round((await processorUs(Deno.pid) - before[0]) / calls),
    serverUs: Math.round((await processorUs(pid) - before[1]) / calls),
  };
}

/** User and system time so far, in hundredths of a second; NaN where there is no `/proc`. */
async function processorUs(pid: number): Promise<number> {
  const text = await Deno.readTextFile(`/proc/${pid}/stat`).catch(() => "");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

/** What the gate before sqld takes for a statement that it knows. */
async function printGate(): Promise<void> {
  const schema = {
    engineVersion: 1,
    statements: ["CREATE TABLE t (id INTEGER PRIMARY KEY, a)"],
    analyzed: false,
    numbered: false,
  };
  const facts = new FactsCache();
  const gateThread = new GateThread(systemClock);
  const gate = await schemaGate(1, schema, {
    context: { gateEngine: "auto", syntax: readSyntax, gateThread },
    asker: { namespaceId: "ns", databaseId: "db" },
  });
  const call = tenantCall(1, "read", [[READ, 1]]);
  const times = 100_000;
  const startMs = systemClock.monotonicMs();
  for (let at = 0; at < times; at++) {
    facts.syntax(READ);
    await gate.gate(call);
  }
  print(
    `the gate takes ${((systemClock.monotonicMs() - startMs) / times).toFixed(5)} ms for a cached statement`,
  );
  gateThread.close();
}

function ratio(one: number, other: number): string {
  return (one / other).toFixed(2);
}
