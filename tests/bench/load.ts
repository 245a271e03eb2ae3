// Generates load: `wrk` where it is installed, a fetch loop otherwise. Requests are formatted before the clock starts.
import { type BenchRequest, fetchOptions } from "./bench_target.ts";

export interface LoadOrder {
  readonly url: string;
  /** Sent in turn, over and over. */
  readonly requests: readonly BenchRequest[];
  readonly connections: number;
  readonly seconds: number;
  /** Milliseconds, on average, that a connection waits before its next request: load below the maximum. */
  readonly pauseMs?: number;
}

export interface LoadResult {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly slowestMs: number;
  /** Answers that were no success, and connections that failed. */
  readonly errors: number;
  readonly requests: number;
}

export type Load = (order: LoadOrder) => Promise<LoadResult>;

/** `wrk` when it can be run, else the built-in loop. */
export async function chooseLoad(): Promise<{ name: "wrk" | "fetch"; load: Load }> {
  try {
    await new Deno.Command("wrk", { args: ["-v"], stdout: "null", stderr: "null" }).output();
    return { name: "wrk", load: wrkLoad };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return { name: "fetch", load: fetchLoad };
  }
}

/** One thread: the load shares the machine with what it measures. */
async function wrkLoad(order: LoadOrder): Promise<LoadResult> {
  const script = await Deno.makeTempFile({ prefix: "bench_", suffix: ".lua" });
  try {
    await Deno.writeTextFile(script, luaScript(order));
    const { stdout } = await new Deno.Command("wrk", {
      args: [
        "-t1",
        `-c${order.connections}`,
        `-d${order.seconds}s`,
        "--timeout",
        "30s",
        "-s",
        script,
        order.url,
      ],
      stdout: "piped",
      stderr: "null",
    }).output();
    const line = /^RESULT (.+)$/m.exec(new TextDecoder().decode(stdout))?.[1];
    if (line === undefined) throw new Error("wrk gave no result");
    const [requests = 0, micros = 1, p50 = 0, p99 = 0, slowest = 0, errors = 0] = line.split(" ").map(Number);
    return {
      perSecond: requests / (micros / 1e6),
      ...{ p50Ms: p50 / 1000, p99Ms: p99 / 1000, slowestMs: slowest / 1000, errors, requests },
    };
  } finally {
    await Deno.remove(script);
  }
}

function luaScript({ requests, pauseMs }: LoadOrder): string {
  // Requests name their headers by number: most of them share all of theirs.
  const kinds = [...new Set(requests.map(headersOf))];
  const numbers = new Map(kinds.map((kind, at) => [kind, at + 1]));
  const pause = pauseMs === undefined
    ? ""
    : `function delay() return math.floor(${pauseMs} * (0.5 + math.random()) + 0.5) end`;
  return `
local requests = {${requests.map((one) => luaRequest(one, numbers.get(headersOf(one)) ?? 0)).join(",\n")}}
local headers = {${kinds.join(",\n")}}
local formatted, at = {}, 0
function init()
  for i, one in ipairs(requests) do formatted[i] = wrk.format(one[1], one[2], headers[one[4]], one[3]) end
end
function request()
  at = at % #formatted + 1
  return formatted[at]
end
${pause}
function done(summary, latency)
  local e = summary.errors
  print(string.format("RESULT %d %d %d %d %d %d", summary.requests, summary.duration, latency:percentile(50),
    latency:percentile(99), latency.max, e.connect + e.read + e.write + e.status + e.timeout))
end
`;
}

function luaRequest({ method = "POST", path, body }: BenchRequest, headers: number): string {
  return `{"${method}", ${luaText(path)}, ${method === "GET" ? "nil" : luaText(body)}, ${headers}}`;
}

function headersOf({ headers }: BenchRequest): string {
  return `{${Object.entries(headers).map(([name, value]) => `["${name}"]=${luaText(value)}`).join(",")}}`;
}

function luaText(text: string): string {
  return `[====[${text}]====]`;
}

async function fetchLoad(order: LoadOrder): Promise<LoadResult> {
  const latencies: number[] = [];
  let errors = 0;
  let next = 0;
  const startedMs = performance.now();
  const untilMs = startedMs + order.seconds * 1000;
  const connection = async () => {
    while (performance.now() < untilMs) {
      if (order.pauseMs !== undefined) {
        await new Promise((resolve) => setTimeout(resolve, (order.pauseMs ?? 0) * (0.5 + Math.random())));
      }
      const request = order.requests[next++ % order.requests.length];
      if (!request) return;
      const sentMs = performance.now();
      const response = await fetch(order.url + request.path, fetchOptions(request));
      await response.arrayBuffer();
      if (!response.ok) errors++;
      latencies.push(performance.now() - sentMs);
    }
  };
  await Promise.all(Array.from({ length: order.connections }, connection));
  latencies.sort((a, b) => a - b);
  const at = (share: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  const seconds = (performance.now() - startedMs) / 1000;
  return {
    perSecond: latencies.length / seconds,
    ...{ p50Ms: at(0.5), p99Ms: at(0.99), slowestMs: at(1), errors, requests: latencies.length },
  };
}
