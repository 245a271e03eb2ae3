// `deno run -A tests/bench/old_garbage.ts [--over 1,200] [--seconds N]`: what point reads leave among V8's old objects, by the
// function that made it. Objects that a scavenge should have taken stay until all old objects are collected, which takes the second
// processor and stops calls: V8 makes them among the old ones (a function that is assigned to a property, or what it has come to
// expect to live long), or something among those refers to them that is itself of no use any more (a table that a `Set` has left).
import { parseArgs } from "node:util";
import { print } from "../testing/print.ts";
import { freePort } from "./free_port.ts";
import { chooseLoad } from "./load.ts";
import { startService } from "./service_target.ts";

const CONNECTIONS = 32;
const VARIANTS = 5_000;
/** Functions that are shown. */
const SHOWN = 25;
/** Bytes between two samples, in the mean. */
const INTERVAL = 8_192;

interface Profiled {
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly selfSize: number;
  readonly children: readonly Profiled[];
}

/** Of the inspector, as far as it is looked at. */
interface Answer {
  readonly profile: { readonly head: Profiled };
}

const { values } = parseArgs({
  args: Deno.args,
  options: { over: { type: "string", default: "1,200" }, seconds: { type: "string", default: "5" } },
});
const { load } = await chooseLoad();
for (const over of values.over.split(",").map(Number)) await measure(over, Number(values.seconds));

async function measure(over: number, seconds: number): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "bench_garbage_" });
  const port = freePort();
  const service = await startService(folder, {}, undefined, [`--inspect=127.0.0.1:${port}`]);
  try {
    await service.manage("POST", "/api/namespaces", { slug: "many" });
    const { token } = await service.manage("POST", "/api/namespaces/many/tokens", {
      name: "b",
      role: "admin",
    });
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    const request = (database: number, sql: string) => ({
      path: `/v1/db/many/t${database}/query`,
      headers,
      body: JSON.stringify({ sql }),
    });
    for (let at = 0; at < over; at++) {
      await service.manage("POST", "/api/namespaces/many/databases", { slug: `t${at}` });
      const { path, body } = request(at, "CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT)");
      await (await fetch(service.url + path, { method: "POST", headers, body })).body?.cancel();
    }
    const requests = Array.from(
      { length: VARIANTS },
      () => request(Math.floor(Math.random() * over), "SELECT id, name FROM items WHERE id = 7"),
    );
    const order = { url: service.url, requests, connections: CONNECTIONS };
    await load({ ...order, seconds: 2 * seconds });
    const ask = await inspect(port);
    await ask("HeapProfiler.enable");
    await ask("HeapProfiler.startSampling", {
      samplingInterval: INTERVAL,
      includeObjectsCollectedByMajorGC: true,
    });
    const { requests: calls, perSecond } = await load({ ...order, seconds });
    // What is young still is no finding.
    await ask("Runtime.evaluate", { expression: "gc({ type: 'minor' }); gc({ type: 'minor' })" });
    const { profile } = await ask("HeapProfiler.stopSampling");
    const byFunction = new Map<string, number>();
    addSizes(byFunction, profile.head);
    const all = byFunction.values().reduce((sum, bytes) => sum + bytes, 0);
    print(
      `reads over ${over}: ${(all / calls).toFixed(0)} bytes of each call, at ${
        perSecond.toFixed(0)
      } a second under the profiler`,
    );
    const most = [...byFunction].toSorted(([, one], [, other]) => other - one).slice(0, SHOWN);
    for (const [name, bytes] of most) print(`${(bytes / calls).toFixed(0).padStart(8)}  ${name}`);
  } finally {
    await service.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

/** Asks the service's inspector. */
async function inspect(port: number) {
  const [{ webSocketDebuggerUrl }] = await (await fetch(`http://127.0.0.1:${port}/json`)).json();
  const socket = new WebSocket(webSocketDebuggerUrl);
  const waiting = new Map<number, (result: Answer) => void>();
  socket.onmessage = ({ data }) => {
    const { id, result } = JSON.parse(data);
    waiting.get(id)?.(result);
  };
  await new Promise((resolve) => socket.onopen = resolve);
  let last = 0;
  return (method: string, params: object = {}) =>
    new Promise<Answer>((resolve) => {
      waiting.set(++last, resolve);
      socket.send(JSON.stringify({ id: last, method, params }));
    });
}

function addSizes(sizes: Map<string, number>, { callFrame, selfSize, children }: Profiled): void {
  const { functionName, url, lineNumber } = callFrame;
  const name = `${functionName || "(no name)"} ${url.split("/").slice(-2).join("/")}:${lineNumber + 1}`;
  sizes.set(name, (sizes.get(name) ?? 0) + selfSize);
  for (const child of children) addSizes(sizes, child);
}
