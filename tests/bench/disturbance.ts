// What an endless statement in one database does to the readers of another one and to /healthz.
import { pause } from "../../lib/core/pause.ts";
import { type BenchTarget, sendOnce } from "./bench_target.ts";
import { otherPointReads } from "./bench_cases.ts";
import type { Load } from "./load.ts";
import type { ServiceTarget } from "./service_target.ts";
import { ENDLESS } from "../testing/endless.ts";

const CONNECTIONS = 4;
const HEALTH_EVERY_MS = 25;

export interface Disturbance {
  readonly calmP50Ms: number;
  readonly disturbedP50Ms: number;
  readonly healthMedianMs: number;
  readonly healthWorstMs: number;
  readonly errors: number;
}

/** Reads of the second database at a few connections, first alone, then beside the endless statement in the first one. */
export async function disturbance(target: ServiceTarget, load: Load, seconds: number): Promise<Disturbance> {
  const order = {
    url: target.url,
    requests: otherPointReads(target.other),
    connections: CONNECTIONS,
    seconds,
  };
  const calm = await load(order);
  const stop = new AbortController();
  const endless = keepRunning(target, stop.signal);
  const health = sampleHealth(target.url, stop.signal);
  await pause(300);
  const disturbed = await load(order);
  stop.abort();
  await endless;
  const times = (await health).sort((a, b) => a - b);
  await sendOnce(target, target.query({ sql: "SELECT 1", params: [] }));
  return {
    calmP50Ms: calm.p50Ms,
    disturbedP50Ms: disturbed.p50Ms,
    healthMedianMs: times[times.length >> 1] ?? 0,
    healthWorstMs: times.at(-1) ?? 0,
    errors: calm.errors + disturbed.errors,
  };
}

async function keepRunning(target: BenchTarget, signal: AbortSignal): Promise<void> {
  const request = target.query({ sql: ENDLESS, params: [] });
  while (!signal.aborted) {
    try {
      const { headers, body } = request;
      const response = await fetch(target.url + request.path, { method: "POST", headers, body, signal });
      await response.body?.cancel();
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

async function sampleHealth(url: string, signal: AbortSignal): Promise<number[]> {
  const times: number[] = [];
  while (!signal.aborted) {
    const startedMs = performance.now();
    const response = await fetch(`${url}/healthz`);
    await response.body?.cancel();
    times.push(performance.now() - startedMs);
    await pause(HEALTH_EVERY_MS);
  }
  return times;
}
