// `deno run -A tests/bench/published_bench.ts [--seconds N] [--rounds N] [--only read,hashing,validation,endpoints]`:
// what published endpoints cost. Goals: a published point read at ≥ 0.8 of the rate of the same query under /v1, with a
// rate limit set; sign-up and log-in at ≥ 0.8 × cores / (time of one hash), while the p99 of other routes stays within
// 2×; the largest body validated in ≤ 20 ms; 10,000 endpoints that cost storage only.
import { print } from "../testing/print.ts";
import { fillTables, pointReads } from "./bench_cases.ts";
import { benchOptions } from "./bench_options.ts";
import type { BenchRequest } from "./bench_target.ts";
import { measureHashing } from "./hashing_rate.ts";
import { chooseLoad } from "./load.ts";
import { measureManyEndpoints } from "./many_endpoints.ts";
import { median } from "./median.ts";
import { processCpuSeconds } from "./process_cpu.ts";
import { publish } from "./publish.ts";
import { type ServiceTarget, serviceTarget } from "./service_target.ts";
import { measureValidation } from "./validation_time.ts";

const CONNECTIONS = 32;
const GOAL_READ = 0.8;
const options = benchOptions(Deno.args, ["read", "hashing", "validation", "endpoints"]);
const { name: by, load } = await chooseLoad();
const { seconds, rounds } = options;

print(`${navigator.hardwareConcurrency} cores shared with the load (${by}), ${rounds} × ${seconds} s`);
if (wanted("read")) await withService(measureReads);
if (wanted("hashing")) await withService((service) => measureHashing(service, load, seconds));
if (wanted("validation")) measureValidation(rounds);
if (wanted("endpoints")) await measureManyEndpoints();

function wanted(name: string): boolean {
  return options.only.length === 0 || options.only.includes(name);
}

async function withService(measure: (service: ServiceTarget) => Promise<void>): Promise<void> {
  const service = await serviceTarget();
  try {
    await measure(service);
  } finally {
    await service.stop();
  }
}

/** The same statement by both doors, in turns. The limit is by day: one by minute would end the load. */
async function measureReads(service: ServiceTarget): Promise<void> {
  await fillTables(service, service.query);
  await publish(service, {
    ...{ slug: "item", name: "Item", kind: "query", method: "GET", output: "rows" },
    sql: "SELECT id, name, price, stock FROM items WHERE id = ?",
    input: [{ name: "id", type: "integer", required: true, min: 1 }],
    rateLimit: { perDay: 10_000_000 },
  });
  const queries = pointReads(service);
  const published: BenchRequest[] = queries.map(({ body }) => {
    const { params: [id] }: { params: number[] } = JSON.parse(body);
    return { method: "GET", path: `/p/bench/main/item?id=${id}`, headers: {}, body: "" };
  });
  const doors = [{ name: "/v1", requests: queries }, { name: "/p", requests: published }]
    .map((one) => ({ ...one, rates: [] as number[], cpuMicros: [] as number[] }));
  for (let round = 0; round < rounds; round++) {
    for (const { requests, rates, cpuMicros } of doors) {
      const order = { url: service.url, requests, connections: CONNECTIONS };
      await load({ ...order, seconds: 1 });
      const before = processCpuSeconds(service.pid) ?? NaN;
      const { perSecond, errors } = await load({ ...order, seconds });
      if (errors > 0) throw new Error(`${errors} reads failed`);
      rates.push(perSecond);
      cpuMicros.push(((processCpuSeconds(service.pid) ?? NaN) - before) / (perSecond * seconds) * 1e6);
    }
  }
  const [v1, p] = doors.map(({ rates, cpuMicros }) => ({ rate: median(rates), cpu: median(cpuMicros) }));
  if (v1 === undefined || p === undefined) return;
  const share = p.rate / v1.rate;
  print(`point read under /v1: ${Math.round(v1.rate)}/s, ${v1.cpu.toFixed(1)} µs of processor a call`);
  print(`point read under /p: ${Math.round(p.rate)}/s, ${p.cpu.toFixed(1)} µs of processor a call`);
  print(
    `/p of /v1: ${share.toFixed(2)} (goal ${GOAL_READ} ${share >= GOAL_READ ? "✓" : "✗"}), ` +
      `by processor time ${(v1.cpu / p.cpu).toFixed(2)}`,
  );
}
