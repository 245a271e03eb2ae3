// `deno run -A tests/bench/archive_idle.ts [databases] [seconds]`: what databases that nobody writes cost the service with the
// archive on beside the same service with it off, in processor time and memory.
import { pause } from "../../lib/core/pause.ts";
import { print } from "../testing/print.ts";
import { processCpuSeconds } from "./process_cpu.ts";
import { processMemory } from "./process_memory.ts";
import { type RunningService, startService } from "./service_target.ts";

const DATABASES = Number(Deno.args[0] ?? 5000);
const SECONDS = Number(Deno.args[1] ?? 30);
const AT_ONCE = 8;
/** Milliseconds without a new object after which everything is archived, and after which a service has settled. */
const QUIET_MS = 30_000;

const folder = await Deno.makeTempDir({ prefix: "bench_idle_" });
const archive = { ARCHIVE_URL: `file:${folder}/objects` };
try {
  await made();
  const off = await measured("off", {});
  const on = await measured("on", archive);
  const more = on.cpuPercent - off.cpuPercent;
  print(
    `archive of ${DATABASES} idle databases: ${more.toFixed(2)} % of a core, ${
      (on.mb - off.mb).toFixed(1)
    } MB`,
  );
} finally {
  await Deno.remove(folder, { recursive: true });
}

/** Makes the databases, and waits until all are archived: the start of those that are compared finds nothing to do. */
async function made(): Promise<void> {
  const service = await startService(`${folder}/data`, archive);
  await service.manage("POST", "/api/namespaces", { slug: "many" });
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < DATABASES; at = next++) {
      await service.manage("POST", "/api/namespaces/many/databases", { slug: `t${at}` });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  const beganMs = performance.now();
  const cpuBefore = processCpuSeconds(service.pid) ?? NaN;
  while (archived() < DATABASES) await pause(500);
  const seconds = (performance.now() - beganMs) / 1000;
  const cpu = (processCpuSeconds(service.pid) ?? NaN) - cpuBefore;
  print(
    `the last of ${DATABASES} new databases was archived after ${seconds.toFixed(0)} s, ${
      cpu.toFixed(1)
    } s of the processor`,
  );
  await service.stop();
}

function archived(): number {
  try {
    return [...Deno.readDirSync(`${folder}/objects/db`)].length;
  } catch {
    return 0;
  }
}

interface Idle {
  readonly cpuPercent: number;
  readonly mb: number;
}

async function measured(name: string, settings: Readonly<Record<string, string>>): Promise<Idle> {
  const service: RunningService = await startService(`${folder}/data`, settings);
  await pause(QUIET_MS);
  const before = processCpuSeconds(service.pid) ?? NaN;
  await pause(SECONDS * 1000);
  const cpuPercent = 100 * ((processCpuSeconds(service.pid) ?? NaN) - before) / SECONDS;
  const memory = processMemory(service.pid);
  const mb = (memory?.uniqueBytes ?? NaN) / 1e6;
  print(
    `${name}: ${cpuPercent.toFixed(2)} % of a core, ${mb.toFixed(1)} MB in ${memory?.processes} processes`,
  );
  await service.stop();
  return { cpuPercent, mb };
}
