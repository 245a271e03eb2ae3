// `deno run -A tests/bench/start_time.ts`: from the start command to the first answered query, memory of the idle
// service, and the first query of the first and of the 1,000th database. `--databases N` (1000), `--json`.
import { print } from "../testing/print.ts";
import { processMemory } from "./process_memory.ts";
import { type RunningService, startService } from "./service_target.ts";
import { pause } from "../../lib/core/pause.ts";
import { median } from "./median.ts";

const NAMESPACE = "many";
const IDLE_AFTER_MS = 3000;
/** Databases of which the median is taken at either end. */
const EDGE = 20;
const STARTS = 5;

const json = Deno.args.includes("--json");
const databases = Number(Deno.args[Deno.args.indexOf("--databases") + 1] ?? 1000) || 1000;

const figures = {
  ...await firstStart(),
  ...await laterStarts(),
};
if (json) print(JSON.stringify(figures));
else for (const [name, value] of Object.entries(figures)) print(`${name}: ${value}`);

/** An empty folder: the demo is made, and its token (printed) asks the first question. */
async function firstStart() {
  const folder = await Deno.makeTempDir({ prefix: "bench_start_" });
  const startedMs = performance.now();
  const service = await startService(folder, { DEMO: "1" });
  try {
    const readyMs = performance.now() - startedMs;
    const token = await printedToken(service);
    await ask(service, "demo", "demo", token);
    const queryMs = performance.now() - startedMs;
    await pause(IDLE_AFTER_MS);
    const memory = processMemory(service.pid);
    return {
      "first start, ready after ms": Math.round(readyMs),
      "first start, first query answered after ms (goal 1000)": Math.round(queryMs),
      "idle memory after the demo's start, MB (goal 150)": megabytes(memory?.uniqueBytes),
      "the same, shared pages counted in each process, MB": megabytes(memory?.residentBytes),
      "processes": memory?.processes ?? 0,
    };
  } finally {
    await service.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

/** A folder with many databases: start again, then each database's first query, one after the other. */
async function laterStarts() {
  const folder = await Deno.makeTempDir({ prefix: "bench_start_" });
  try {
    const token = await makeDatabases(folder);
    const startsMs: number[] = [];
    for (let start = 0; start < STARTS; start++) {
      const startedMs = performance.now();
      const service = await startService(folder);
      await ask(service, NAMESPACE, slug(0), token);
      startsMs.push(performance.now() - startedMs);
      await service.stop();
    }
    const service = await startService(folder);
    try {
      await pause(IDLE_AFTER_MS);
      const idle = processMemory(service.pid);
      const openMs: number[] = [];
      for (let at = 0; at < databases; at++) {
        const askedMs = performance.now();
        await ask(service, NAMESPACE, slug(at), token);
        openMs.push(performance.now() - askedMs);
      }
      return {
        "later start, first query answered after ms, median (goal 1000)": Math.round(median(startsMs)),
        [`idle memory with ${databases} databases on disk, MB`]: megabytes(idle?.uniqueBytes),
        "first query of the very first database, ms": round(openMs[0] ?? 0),
        [`first query of databases 2 to ${EDGE + 1}, median ms`]: round(median(openMs.slice(1, EDGE + 1))),
        [`first query of the last ${EDGE} of ${databases}, median ms`]: round(median(openMs.slice(-EDGE))),
        "memory after all were opened, MB": megabytes(processMemory(service.pid)?.uniqueBytes),
      };
    } finally {
      await service.stop();
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function makeDatabases(folder: string): Promise<string> {
  const service = await startService(folder);
  try {
    await service.manage("POST", "/api/namespaces", { slug: NAMESPACE });
    const startedMs = performance.now();
    for (let at = 0; at < databases; at++) {
      await service.manage("POST", `/api/namespaces/${NAMESPACE}/databases`, { slug: slug(at) });
    }
    print(`making a database: ${round((performance.now() - startedMs) / databases)} ms`, "stderr");
    const record = await service.manage("POST", `/api/namespaces/${NAMESPACE}/tokens`, {
      name: "bench",
      role: "read",
    });
    return String(record["token"]);
  } finally {
    await service.stop();
  }
}

async function ask(
  service: RunningService,
  namespace: string,
  database: string,
  token: string,
): Promise<void> {
  const response = await fetch(`${service.url}/v1/db/${namespace}/${database}/query`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ sql: "SELECT count(*) FROM sqlite_schema" }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`the query answered ${response.status}: ${text.slice(0, 300)}`);
}

async function printedToken(service: RunningService): Promise<string> {
  for (let waitedMs = 0; waitedMs < 10_000; waitedMs += 5) {
    const token = /cub_live_[0-9A-Za-z]{38}/.exec(service.output())?.[0];
    if (token !== undefined) return token;
    await pause(5);
  }
  throw new Error("the first start printed no token");
}

function slug(at: number): string {
  return `db-${at}`;
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}

function megabytes(bytes: number | undefined): number {
  return Math.round((bytes ?? 0) / 1024 / 1024);
}
