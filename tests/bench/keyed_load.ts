// Load in which every request carries a header value of its own, such as an idempotency key: `wrk` where it is installed, a fetch loop otherwise.
import type { BenchRequest } from "./bench_target.ts";

export interface KeyedOrder {
  readonly url: string;
  readonly request: BenchRequest;
  /** Lower case. Its value differs from request to request. */
  readonly header: string;
  readonly connections: number;
  readonly seconds: number;
}

/** Requests per second; throws when any was no success. */
export async function keyedLoad(order: KeyedOrder, by: "wrk" | "fetch"): Promise<number> {
  return by === "wrk" ? await wrkLoad(order) : await fetchLoad(order);
}

async function wrkLoad({ url, request, header, connections, seconds }: KeyedOrder): Promise<number> {
  const prefix = crypto.randomUUID();
  const script = await Deno.makeTempFile({ prefix: "bench_", suffix: ".lua" });
  const headers = Object.entries(request.headers).map(([name, value]) => `["${name}"]=[==[${value}]==]`);
  await Deno.writeTextFile(
    script,
    `
local headers, at = {${headers.join(",")}}, 0
function request()
  at = at + 1
  headers["${header}"] = "${prefix}-" .. at
  return wrk.format("POST", "${request.path}", headers, [==[${request.body}]==])
end
function done(summary)
  local e = summary.errors
  print(string.format("RESULT %d %d %d", summary.requests, summary.duration,
    e.connect + e.read + e.write + e.status + e.timeout))
end
`,
  );
  try {
    const { stdout } = await new Deno.Command("wrk", {
      args: ["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "30s", "-s", script, url],
      stdout: "piped",
      stderr: "null",
    }).output();
    const line = /^RESULT (.+)$/m.exec(new TextDecoder().decode(stdout))?.[1] ?? "0 1 1";
    const [requests = 0, micros = 1, errors = 1] = line.split(" ").map(Number);
    if (errors > 0) throw new Error(`${errors} of ${requests} requests failed`);
    return requests / (micros / 1e6);
  } finally {
    await Deno.remove(script);
  }
}

async function fetchLoad({ url, request, header, connections, seconds }: KeyedOrder): Promise<number> {
  const { path, headers, body } = request;
  const prefix = crypto.randomUUID();
  let done = 0;
  const startedMs = performance.now();
  const connection = async () => {
    while (performance.now() < startedMs + seconds * 1000) {
      const response = await fetch(url + path, {
        method: "POST",
        headers: { ...headers, [header]: `${prefix}-${++done}` },
        body,
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`the service answered ${response.status}: ${text.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: connections }, connection));
  return done / ((performance.now() - startedMs) / 1000);
}
