// What 10,000 published endpoints cost a service that few of them are called of, and one that all are called of: a
// part of published_bench.ts. Goal: only storage grows.
import { print } from "../testing/print.ts";
import { type ProcessMemory, processMemory } from "./process_memory.ts";
import { publish } from "./publish.ts";
import { makeNamespace, type RunningService, startService } from "./service_target.ts";
import { pause } from "../../lib/core/pause.ts";
import { inParallel } from "./in_parallel.ts";

const ENDPOINTS = 10_000;
const AT_ONCE = 16;
const SETTLE_MS = 3000;
const CALLS = 300;

export async function measureManyEndpoints(): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "bench_endpoints_" });
  try {
    let service = await startService(folder);
    try {
      await makeNamespace(service);
      await publish(service, specOf(0));
    } finally {
      await service.stop();
    }
    await measure(folder, 1, "1 endpoint");
    service = await startService(folder);
    try {
      const startedMs = performance.now();
      await inParallel(AT_ONCE, ENDPOINTS - 1, (at) => publish(service, specOf(at + 1)));
      print(`made and published ${ENDPOINTS - 1}: ${((performance.now() - startedMs) / 1000).toFixed(0)} s`);
    } finally {
      await service.stop();
    }
    await measure(folder, ENDPOINTS, `${ENDPOINTS} endpoints`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function measure(folder: string, endpoints: number, title: string): Promise<void> {
  const startedMs = performance.now();
  const service = await startService(folder);
  try {
    await callOne(service, 0);
    const startMs = performance.now() - startedMs;
    const hotMs = await medianMs(service, () => 0);
    await pause(SETTLE_MS);
    const idle = processMemory(service.pid);
    print(
      `${title}: first answer ${startMs.toFixed(0)} ms after the start, a call ${hotMs.toFixed(2)} ms, ` +
        `memory ${megabytes(idle)} MB, storage ${(await kvBytes(folder) / 1e6).toFixed(1)} MB`,
    );
    if (endpoints === 1) return;
    const coldMs = await medianMs(service, (call) => 1 + call * Math.floor((endpoints - 1) / CALLS));
    await inParallel(AT_ONCE, endpoints, (at) => callOne(service, at));
    await pause(SETTLE_MS);
    print(
      `${title}: the first call of one ${coldMs.toFixed(2)} ms, memory once all were called ` +
        `${megabytes(processMemory(service.pid))} MB`,
    );
    const listMs = await listTime(service);
    print(`${title}: the discovery document ${listMs.toFixed(0)} ms`);
  } finally {
    await service.stop();
  }
}

function specOf(at: number): Record<string, unknown> {
  return {
    ...{ slug: `e${at}`, name: `Endpoint ${at}`, kind: "query", method: "GET", output: "rows" },
    ...{ sql: `SELECT ${at} AS number, ? AS id`, input: [{ name: "id", type: "integer", required: true }] },
    rateLimit: { perDay: 10_000_000 },
  };
}

async function callOne({ url }: RunningService, at: number): Promise<void> {
  const response = await fetch(`${url}/p/bench/main/e${at}?id=1`);
  const text = await response.text();
  if (!response.ok || !text.includes(`[[${at},1]]`)) {
    throw new Error(`e${at} answered ${response.status}: ${text}`);
  }
}

async function medianMs(service: RunningService, endpointOf: (call: number) => number): Promise<number> {
  const times: number[] = [];
  for (let call = 0; call < CALLS; call++) {
    const startedMs = performance.now();
    await callOne(service, endpointOf(call));
    times.push(performance.now() - startedMs);
  }
  return times.sort((a, b) => a - b)[CALLS >> 1] ?? NaN;
}

async function listTime({ url }: RunningService): Promise<number> {
  const startedMs = performance.now();
  const response = await fetch(`${url}/p/bench/main/.well-known/endpoints.json`);
  const { endpoints }: { endpoints: unknown[] } = await response.json();
  if (endpoints.length !== ENDPOINTS) throw new Error(`${endpoints.length} endpoints are listed`);
  return performance.now() - startedMs;
}

async function kvBytes(folder: string): Promise<number> {
  let bytes = 0;
  for await (const { name, isFile } of Deno.readDir(folder)) {
    if (isFile && name.startsWith("kv.")) bytes += (await Deno.stat(`${folder}/${name}`)).size;
  }
  return bytes;
}

function megabytes(memory: ProcessMemory | null): string {
  return memory === null ? "?" : (memory.uniqueBytes / 1e6).toFixed(0);
}
