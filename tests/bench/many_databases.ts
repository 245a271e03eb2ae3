// A database for each tenant: reads at random over many databases of one schema, and a mixed load of hot and cool ones.
// `deno run -A tests/bench/many_databases.ts [--over 30,600,2000] [--seconds 5] [--sqld] [--mixed] [--first] [--folder F]`: a
// folder that was filled by an earlier run is used as it is.
import { print } from "../testing/print.ts";
import { SHARED_SQLD, startSqld } from "../testing/sqld.ts";
import type { BenchRequest } from "./bench_target.ts";
import { sendOnce } from "./bench_target.ts";
import { inParallel } from "./in_parallel.ts";
import { chooseLoad, type LoadOrder } from "./load.ts";
import { NoiseWatch } from "./machine_noise.ts";
import { readManyOptions } from "./many_options.ts";
import { ownCpuSeconds, processCpuSeconds } from "./process_cpu.ts";
import { processMemory } from "./process_memory.ts";
import { type RunningService, startService } from "./service_target.ts";

const CONNECTIONS = 32;
const ROWS = 100;
/** Different requests that the load generator picks from, made up at random before the clock starts. */
const VARIANTS = 10_000;
/** Of the mixed load: one request in so many writes, and so many of ten go to a hot database. */
const WRITE_EVERY = 10;
const HOT = 100;
const HOT_OF_TEN = 9;
/** Databases that are made at a time. */
const AT_ONCE = 8;
const WARM_UP_MS = 40_000;
const SCHEMA = [
  "CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price INTEGER NOT NULL, stock INTEGER)",
  "CREATE TABLE entries (id INTEGER PRIMARY KEY, note TEXT NOT NULL, number INTEGER)",
  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " + ROWS + ") " +
  "INSERT INTO items SELECT i, 'item number ' || i, i * 7, i % 50 FROM n",
];
const READ = "SELECT id, name, price, stock FROM items WHERE id = ?";
const WRITE = "INSERT INTO entries (note, number) VALUES (?, ?)";

/** A server with the databases `t0`, `t1` and so on. */
interface Tenants {
  readonly name: "service" | "sqld";
  readonly url: string;
  readonly pid: number;
  request(database: number, sql: string, params: readonly (string | number)[]): BenchRequest;
}

const options = readManyOptions(Deno.args);
const { load } = await chooseLoad();
const most = Math.max(...options.over, options.mixed ? 2000 : 0);
const folder = options.folder ?? await Deno.makeTempDir({ prefix: "bench_many_" });
const service = await startService(folder);
const sqld = options.sqld ? await startSqld({ args: [...SHARED_SQLD] }) : null;
try {
  const targets = [serviceTenants(service, await filledService(service))];
  if (sqld) targets.push(await sqldTenants(sqld.url, sqld.adminUrl, sqld.pid));
  for (let round = 1; round <= options.rounds; round++) {
    for (const over of options.over) for (const target of targets) await reads(target, over);
    if (options.mixed) {
      for (const target of targets) {
        await mixed(target, "hot only", HOT, () => random(HOT));
        await mixed(
          target,
          "100 hot, 1900 cool",
          2000,
          () => Math.random() * 10 < HOT_OF_TEN ? random(HOT) : HOT + random(1900),
        );
      }
    }
  }
} finally {
  await service.stop();
  await sqld?.stop();
  if (options.folder === null) await Deno.remove(folder, { recursive: true });
}

async function reads(target: Tenants, over: number): Promise<void> {
  const requests = options.first ? firstReads(target, over) : variants(() => aRead(target, random(over)));
  await measure(target, `reads over ${over}`, requests, over);
}

function aRead(target: Tenants, database: number): BenchRequest {
  return target.request(database, READ, [1 + random(ROWS)]);
}

/** One of each database, in any order. */
function firstReads(target: Tenants, over: number): BenchRequest[] {
  const inAnyOrder = Array.from({ length: over }, (_, database) => ({ database, place: Math.random() }));
  return inAnyOrder.toSorted((one, other) => one.place - other.place).map(({ database }) =>
    aRead(target, database)
  );
}

async function mixed(target: Tenants, title: string, over: number, database: () => number): Promise<void> {
  const requests = variants((at) =>
    at % WRITE_EVERY === 0
      ? target.request(database(), WRITE, [`note number ${at}`, at])
      : aRead(target, database())
  );
  await measure(target, `mixed, ${title}`, requests, over);
}

async function measure(
  target: Tenants,
  title: string,
  requests: readonly BenchRequest[],
  over: number,
): Promise<void> {
  const order = { url: target.url, requests, connections: CONNECTIONS };
  if (!options.first) await warmUp(order, over);
  const noise = new NoiseWatch();
  const before = cpuSeconds(target.pid);
  const result = await load({ ...order, seconds: options.seconds });
  const after = cpuSeconds(target.pid);
  const others = noise.othersPart();
  const us = (seconds: number) =>
    (seconds / (result.perSecond * options.seconds) * 1e6).toFixed(0).padStart(5);
  const memory = processMemory(target.pid);
  print(
    `${title.padEnd(26)} ${target.name.padEnd(8)}${result.perSecond.toFixed(0).padStart(7)}/s  median ` +
      `${result.p50Ms.toFixed(1).padStart(6)} ms  p99 ${result.p99Ms.toFixed(1).padStart(6)} ms  slowest ` +
      `${result.slowestMs.toFixed(0).padStart(5)} ms  ${us(after.own - before.own)} + ${
        us(after.others - before.others)
      } µs a call  ` +
      `${((memory?.uniqueBytes ?? NaN) / 1e6).toFixed(0)} MB in ${
        memory?.processes ?? "?"
      } processes, others ` +
      `${others === null ? "?" : (others * 100).toFixed(0)} %` +
      (result.errors > 0 ? `  ${result.errors} ERRORS` : ""),
  );
}

/** Of the process that answers, and of its children. */
function cpuSeconds(pid: number): { readonly own: number; readonly others: number } {
  const all = processCpuSeconds(pid);
  if (all === null) return { own: NaN, others: NaN };
  const own = ownCpuSeconds(pid);
  return { own, others: all - own };
}

/** Until each database has been asked some four times: on a busy machine seconds say little. */
async function warmUp(order: Omit<LoadOrder, "seconds">, over: number): Promise<void> {
  const untilMs = performance.now() + WARM_UP_MS;
  for (let sent = 0; sent < 4 * over && performance.now() < untilMs;) {
    const { perSecond } = await load({ ...order, seconds: options.warm });
    sent += perSecond * options.warm;
  }
}

/** The token for the databases, which are made unless an earlier run has left as many of them in the folder. */
async function filledService(service: RunningService): Promise<string> {
  const noted = `${folder}/bench.json`;
  const known: { token: string; databases: number } | null = await Deno.readTextFile(noted)
    .then(JSON.parse).catch(() => null);
  if (known && known.databases >= most) return known.token;
  await service.manage("POST", "/api/namespaces", { slug: "many" });
  const { token } = await service.manage("POST", "/api/namespaces/many/tokens", { name: "b", role: "admin" });
  const target = serviceTenants(service, String(token));
  const startedMs = performance.now();
  let createdMs = 0;
  await inParallel(AT_ONCE, most, async (at) => {
    const beganMs = performance.now();
    await service.manage("POST", "/api/namespaces/many/databases", { slug: `t${at}` });
    createdMs += performance.now() - beganMs;
    for (const sql of SCHEMA) await sendOnce(target, target.request(at, sql, []));
  });
  print(
    `made ${most} databases in ${
      ((performance.now() - startedMs) / 1000).toFixed(1)
    } s; the call that makes one ` +
      `took ${(createdMs / most).toFixed(1)} ms, ${AT_ONCE} at once`,
  );
  await Deno.writeTextFile(noted, JSON.stringify({ token, databases: most }));
  return String(token);
}

function serviceTenants({ url, pid }: RunningService, token: string): Tenants {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const request = (database: number, sql: string, params: readonly (string | number)[]) => ({
    path: `/v1/db/many/t${database}/query`,
    headers,
    body: JSON.stringify({ sql, params }),
  });
  return { name: "service", url, pid, request };
}

async function sqldTenants(url: string, adminUrl: string, pid: number): Promise<Tenants> {
  const request = (database: number, sql: string, params: readonly (string | number)[]) => {
    const args = params.map((value) => ({
      ...(typeof value === "number" ? { type: "integer", value: String(value) } : { type: "text", value }),
    }));
    return {
      path: "/v2/pipeline",
      headers: {
        "content-type": "application/json",
        "x-namespace-bin": btoa(`t${database}`).replace(/=+$/, ""),
      },
      body: JSON.stringify({ requests: [{ type: "execute", stmt: { sql, args } }, { type: "close" }] }),
    };
  };
  const target: Tenants = { name: "sqld", url, pid, request };
  await inParallel(AT_ONCE, most, async (at) => {
    const made = await fetch(`${adminUrl}/v1/namespaces/t${at}/create`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    await made.body?.cancel();
    for (const sql of SCHEMA) await sendOnce(target, request(at, sql, []));
  });
  return target;
}

function variants(make: (at: number) => BenchRequest): BenchRequest[] {
  return Array.from({ length: VARIANTS }, (_, at) => make(at));
}

function random(below: number): number {
  return Math.floor(Math.random() * below);
}
