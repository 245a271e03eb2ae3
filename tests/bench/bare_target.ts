// The yardstick as a process: see bare_server.ts.
import type { BenchTarget } from "./bench_target.ts";
import { serverProcess } from "./server_process.ts";

const JSON_TYPE = { "content-type": "application/json" };

/** Starts it in an empty folder. */
export async function bareTarget(): Promise<BenchTarget> {
  const folder = await Deno.makeTempDir({ prefix: "bench_bare_" });
  const script = new URL("./bare_server.ts", import.meta.url).href;
  const server = await serverProcess({
    command: Deno.execPath(),
    args: (port) => ["run", "-A", script, String(port), `${folder}/bare.db`],
    healthPath: "/healthz",
  });
  return {
    name: "bare",
    note: "Hono and node:sqlite in one process, synchronous=FULL, no tenants, no log",
    url: server.url,
    pid: server.pid,
    query: (statement) => ({ path: "/query", headers: JSON_TYPE, body: JSON.stringify(statement) }),
    transaction: (statements) => ({
      path: "/batch",
      headers: JSON_TYPE,
      body: JSON.stringify({ statements }),
    }),
    stop: async () => {
      await server.stop();
      await Deno.remove(folder, { recursive: true });
    },
  };
}
