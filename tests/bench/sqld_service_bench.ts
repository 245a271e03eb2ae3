// The whole service with its tenants in sqld, beside sqld as its clients use it, in turns:
// `deno run -A tests/bench/sqld_service_bench.ts [--seconds N] [--rounds N] [--only rates,create,branch]`. Goals: reads and
// inserts at 0.75 of sqld's rate at one connection, reads at 0.9 at 16, a database made in 25 ms, a branch of 100 MB in twice
// the time of a fork.
import { print } from "../testing/print.ts";
import { startSharedSqld } from "../testing/shared_sqld.ts";
import { SHARED_SQLD, type Sqld, startSqld } from "../testing/sqld.ts";
import { benchCases, fillTables } from "./bench_cases.ts";
import { benchOptions } from "./bench_options.ts";
import { type BenchTarget, sendOnce } from "./bench_target.ts";
import { chooseLoad } from "./load.ts";
import { NoiseWatch } from "./machine_noise.ts";
import { processCpuSeconds } from "./process_cpu.ts";
import { type ServiceTarget, serviceTarget } from "./service_target.ts";
import { sqldTarget } from "./sqld_target.ts";
import { medianOf, ratioOf, ratioText } from "./verdict.ts";

const CONNECTIONS = [1, 16];
/** The runtime compiles what runs often, at one connection for a quarter of a minute. Both have that time. */
const WARM_SECONDS = 15;
const CREATED = 30;
/** Megabytes of the database that is branched. */
const BRANCHED_MB = 100;
const FILL =
  "INSERT INTO big WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT randomblob(1000000) FROM n";
const options = benchOptions(Deno.args, ["rates", "create", "branch"]);
const { name: by, load } = await chooseLoad();

const behind = await startSharedSqld();
const [beside, spaces] = [await sqldTarget(), await startSqld({ args: [...SHARED_SQLD] })];
if (behind && beside && spaces) await measureAll(beside, spaces, behind.env);
await behind?.stop();
await beside?.stop();
await spaces?.stop();

async function measureAll(
  raw: BenchTarget,
  namespaces: Sqld,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const { TEST_TENANTS_URL = "", TEST_TENANTS_TOKEN = "", TEST_TENANTS_JWT_KEY = "" } = env;
  const service = await serviceTarget(null, {
    TENANTS_URL: TEST_TENANTS_URL,
    TENANTS_TOKEN: TEST_TENANTS_TOKEN,
    TENANTS_JWT_KEY: TEST_TENANTS_JWT_KEY,
  });
  const noise = new NoiseWatch();
  try {
    print(
      `${navigator.hardwareConcurrency} cores shared with the load (${by}), ${options.rounds} rounds in turns, medians`,
    );
    if (wanted("rates")) await measureRates(service, raw);
    if (wanted("create")) await measureCreate(service, namespaces);
    if (wanted("branch")) await measureBranch(service, namespaces);
    print(`others used ${((noise.othersPart() ?? NaN) * 100).toFixed(0)} % of the processors`);
  } finally {
    await service.stop();
  }
}

function wanted(name: string): boolean {
  return options.only.length === 0 || options.only.includes(name);
}

async function measureRates(service: ServiceTarget, raw: BenchTarget): Promise<void> {
  for (const target of [service, raw]) await fillTables(target, target.query);
  for (const name of ["read-1", "insert-8"]) {
    const requests = benchCases.find((one) => one.name === name)?.requests ?? (() => []);
    for (const connections of CONNECTIONS) {
      const [own, theirs]: [number[], number[]] = [[], []];
      const cpuMicros: number[] = [];
      for (const target of [service, raw]) {
        await load({ url: target.url, requests: requests(target), connections, seconds: WARM_SECONDS });
      }
      for (let round = 0; round < options.rounds; round++) {
        for (const target of [service, raw]) {
          const order = { url: target.url, requests: requests(target), connections };
          await load({ ...order, seconds: 1 });
          const before = processCpuSeconds(target.pid) ?? NaN;
          const { perSecond, requests: count } = await load({ ...order, seconds: options.seconds });
          (target === service ? own : theirs).push(perSecond);
          if (target === service) {
            cpuMicros.push(((processCpuSeconds(target.pid) ?? NaN) - before) / count * 1e6);
          }
        }
      }
      const ratio = ratioOf(own, theirs);
      print(
        `${name.split("-")[0]}s at ${connections}: ${medianOf(own).toFixed(0)}/s beside ${
          medianOf(theirs).toFixed(0)
        }/s = ` +
          `${ratio ? ratioText(ratio) : "?"}, ${medianOf(cpuMicros).toFixed(0)} µs of the service`,
      );
    }
  }
}

async function measureCreate(service: ServiceTarget, namespaces: Sqld): Promise<void> {
  const [own, theirs]: [number[], number[]] = [[], []];
  for (let at = 0; at < CREATED; at++) {
    own.push(
      await took(() => service.manage("POST", "/api/namespaces/bench/databases", { slug: `made-${at}` })),
    );
    theirs.push(await took(() => admin(namespaces, `/v1/namespaces/made-${at}/create`)));
  }
  print(
    `a database made: ${medianOf(own).toFixed(1)} ms, a namespace of sqld ${medianOf(theirs).toFixed(1)} ms`,
  );
}

async function measureBranch(service: ServiceTarget, namespaces: Sqld): Promise<void> {
  await admin(namespaces, "/v1/namespaces/big/create");
  const direct = { name: "sqld", url: namespaces.url } as const;
  const toBig = (sql: string) => ({
    path: "/v2/pipeline",
    headers: { "content-type": "application/json", "x-namespace-bin": btoa("big").replace(/=+$/, "") },
    body: JSON.stringify({ requests: [{ type: "execute", stmt: { sql } }, { type: "close" }] }),
  });
  const fills = ["CREATE TABLE big (b)", ...Array.from({ length: BRANCHED_MB / 10 }, () => FILL)];
  for (const sql of fills) {
    await sendOnce(service, service.query({ sql, params: [] }));
    await sendOnce(direct, toBig(sql));
  }
  const [own, theirs]: [number[], number[]] = [[], []];
  for (let round = 0; round < options.rounds; round++) {
    const body = JSON.stringify({ purpose: "measure", ref: `branch-${round}` });
    const { headers } = service.query({ sql: "SELECT 1", params: [] });
    own.push(await took(() => sendOnce(service, { path: "/v1/db/bench/main/claim_branch", headers, body })));
    theirs.push(await took(() => admin(namespaces, `/v1/namespaces/big/fork/fork-${round}`)));
  }
  const ratio = ratioOf(own, theirs);
  print(
    `a branch of ${BRANCHED_MB} MB: ${medianOf(own).toFixed(0)} ms, a fork ${
      medianOf(theirs).toFixed(0)
    } ms = ` +
      `${ratio ? ratioText(ratio) : "?"}`,
  );
}

async function took(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

async function admin({ adminUrl }: Sqld, path: string): Promise<void> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(adminUrl + path, { method: "POST", headers, body: "{}" });
  const text = await response.text();
  if (!response.ok) throw new Error(`sqld answered ${response.status} to ${path}: ${text.slice(0, 200)}`);
}
