// How long it takes to make a database, alone and several at once, and what it costs in processor time.
// `deno run -A tests/bench/create_databases.ts [databases]`.
import { print } from "../testing/print.ts";
import { processCpuSeconds } from "./process_cpu.ts";
import { startService } from "./service_target.ts";

const count = Number(Deno.args[0] ?? 400);
if (!Number.isInteger(count) || count < 10) {
  throw new TypeError(`Give a whole number of databases, at least 10, not ${Deno.args[0]}`);
}
const folder = await Deno.makeTempDir({ prefix: "bench_create_" });
const service = await startService(folder);
try {
  await service.manage("POST", "/api/namespaces", { slug: "many" });
  for (const atOnce of [1, 8]) await measure(atOnce);
} finally {
  await service.stop();
  await Deno.remove(folder, { recursive: true });
}

async function measure(atOnce: number): Promise<void> {
  const tookMs: number[] = [];
  const cpuBefore = processCpuSeconds(service.pid) ?? NaN;
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < count; at = next++) {
      const beganMs = performance.now();
      await service.manage("POST", "/api/namespaces/many/databases", { slug: `a${atOnce}-${at}` });
      tookMs.push(performance.now() - beganMs);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  const cpuMs = ((processCpuSeconds(service.pid) ?? NaN) - cpuBefore) / count * 1000;
  tookMs.sort((a, b) => a - b);
  const at = (share: number) => (tookMs[Math.floor(tookMs.length * share)] ?? NaN).toFixed(1);
  print(
    `${atOnce} at once: median ${at(0.5)} ms, p99 ${at(0.99)} ms, ${cpuMs.toFixed(2)} ms of processor time`,
  );
}
