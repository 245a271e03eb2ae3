// `deno task bench`: the service beside a bare handler and sqld, interleaved on this machine; on request also beside another
// commit of itself, the do-it-yourself choice and PocketBase. routes/docs/speed.md has the figures.
import { bareTarget } from "./bare_target.ts";
import { type BenchCase, benchCases, fillTables, pointReads } from "./bench_cases.ts";
import { benchOptions } from "./bench_options.ts";
import { benchReport, type CaseFigures, type Measured } from "./bench_report.ts";
import { type BenchTarget, sendOnce } from "./bench_target.ts";
import { type Disturbance, disturbance } from "./disturbance.ts";
import { checkOut } from "./checkout.ts";
import { fastifyTarget } from "./fastify_target.ts";
import { chooseLoad, type Load } from "./load.ts";
import { describeMachine } from "./machine.ts";
import { NoiseWatch } from "./machine_noise.ts";
import { processCpuSeconds } from "./process_cpu.ts";
import { keepResults } from "./keep_results.ts";
import { disturbances, medianOf } from "./verdict.ts";
import { print } from "../testing/print.ts";
import { pocketbaseTarget } from "./pocketbase_target.ts";
import { processMemory } from "./process_memory.ts";
import { type ServiceTarget, serviceTarget } from "./service_target.ts";
import { sqldTarget } from "./sqld_target.ts";

const options = benchOptions(Deno.args, [...benchCases.map((one) => one.name), "half-load", "endless"]);
const { name: loadName, load } = await chooseLoad();
const ROOT = new URL("../../", import.meta.url).pathname;
const targets: BenchTarget[] = [];
/** A service at rest gives memory back when it was not called between two looks, five seconds apart. */
const REST_MS = 12_000;
const against = options.against === null ? null : await checkOut(ROOT, options.against);
try {
  await measureAll();
} finally {
  for (const target of targets) await target.stop();
  await against?.remove();
}

async function measureAll(): Promise<void> {
  targets.push(await bareTarget());
  const service = options.peers ? null : await serviceTarget();
  if (service) targets.push(service);
  if (against) targets.push(await serviceTarget(against));
  if (options.fastify) targets.push(await fastifyTarget());
  if (options.pocketbase) targets.push(await pocketbaseTarget());
  const sqld = await sqldTarget();
  if (sqld) targets.push(sqld);
  for (const target of targets) await fillTables(target, target.query);
  if (service) await fillTables(service, service.other);
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  const idle = targets.map((target) => [target.name, processMemory(target.pid)] as const);
  const cases = benchCases.filter((one) => wanted(one.name));
  const noise = new NoiseWatch();
  const figures = await interleaved(cases);
  const othersPart = noise.othersPart();
  const yardstick = Object.fromEntries(figures.map(({ name, rates }) => [name, rates["bare"] ?? []]));
  const report = {
    machine: await describeMachine(ROOT, loadName),
    disturbed: disturbances({ othersPart, yardstick }),
    othersPart,
    ...{ seconds: options.seconds, rounds: options.rounds },
    targets: targets.map(({ name, note }) => ({ name, note })),
    cases: figures,
    halfLoad: wanted("half-load") ? await halfLoad(figures) : null,
    endless: service && wanted("endless") ? await endless(service) : null,
    memory: targets.map((target, at) => ({
      name: target.name,
      idle: idle[at]?.[1] ?? null,
      afterLoad: processMemory(target.pid),
    })),
  };
  if (options.json) print(JSON.stringify(report));
  else for (const line of benchReport(report)) print(line);
  if (options.save) progress(await keepResults(ROOT, report));
  if (report.disturbed.length > 0) Deno.exitCode = 2;
}

function wanted(name: string): boolean {
  return options.only.length === 0 || options.only.includes(name);
}

/** Each round goes through all targets of a case before the next case, so that drift of the machine hits all alike. */
async function interleaved(cases: readonly BenchCase[]): Promise<CaseFigures[]> {
  const runs = new Map(cases.map((one) => [one.name, new Map<string, Measured[]>()]));
  for (let round = 1; round <= options.rounds; round++) {
    for (const one of cases) {
      progress(`round ${round} of ${options.rounds}: ${one.title}`);
      for (const target of [...targets]) {
        if (target.cases?.includes(one.name) === false) continue;
        const measured = await loadOf(target, one).catch((error) => leaveOutStuck(target, error));
        const byTarget = runs.get(one.name);
        if (measured) byTarget?.set(target.name, [...byTarget.get(target.name) ?? [], measured]);
      }
    }
  }
  return cases.map((one) => ({
    name: one.name,
    title: one.title,
    ...{ goalOfBare: one.goalOfBare ?? null, goalOfSqld: one.goalOfSqld ?? null },
    results: Object.fromEntries([...runs.get(one.name) ?? []].map(([name, list]) => [name, medians(list)])),
    rates: Object.fromEntries(
      [...runs.get(one.name) ?? []].map(([name, list]) => [name, list.map(({ perSecond }) => perSecond)]),
    ),
  }));
}

/** sqld now and then answers no write any more after many at once: it is left out from then on. */
async function leaveOutStuck(target: BenchTarget, error: unknown): Promise<null> {
  if (target.name !== "sqld") throw error;
  progress(`sqld is left out from here on: ${error instanceof Error ? error.message : "it does not answer"}`);
  targets.splice(targets.indexOf(target), 1);
  await target.stop();
  return null;
}

async function loadOf(target: BenchTarget, one: BenchCase): Promise<Measured> {
  const requests = one.requests(target);
  const [first] = requests;
  if (first) await sendOnce(target, first);
  const order = { url: target.url, requests, connections: one.connections };
  await load({ ...order, seconds: 1 });
  const before = processCpuSeconds(target.pid);
  const measured = await load({ ...order, seconds: options.seconds });
  const after = processCpuSeconds(target.pid);
  const unknown = before === null || after === null || measured.requests === 0;
  const cpuMicros = unknown ? null : (after - before) * 1e6 / measured.requests;
  return { ...measured, cpuMicros };
}

/** Point reads at half of the measured maximum, from many connections that pause between requests. */
async function halfLoad(figures: readonly CaseFigures[]): Promise<Record<string, Measured>> {
  const results: Record<string, Measured> = {};
  const known = figures.find((one) => one.name === "read-32");
  for (const target of targets) {
    progress(`half load: ${target.name}`);
    const requests = pointReads(target);
    const full = known?.results[target.name] ??
      await load({ url: target.url, requests, connections: 32, seconds: options.seconds });
    const rate = full.perSecond / 2;
    const connections = Math.max(8, Math.min(256, Math.round(rate * 0.01)));
    results[target.name] = await paced(target, requests, connections, rate, load);
  }
  return results;
}

/** Finds the pause that gives the wanted rate: a first guess, then one correction. */
async function paced(
  target: BenchTarget,
  requests: ReturnType<typeof pointReads>,
  connections: number,
  rate: number,
  generate: Load,
): Promise<Measured> {
  let pauseMs = connections / rate * 1000;
  for (let attempt = 0; attempt < 3; attempt++) {
    const trial = await generate({ url: target.url, requests, connections, seconds: 1, pauseMs });
    pauseMs = Math.max(0, pauseMs + (connections / rate - connections / trial.perSecond) * 1000);
  }
  return await generate({ url: target.url, requests, connections, seconds: options.seconds, pauseMs });
}

async function endless(service: ServiceTarget): Promise<Disturbance> {
  progress("an endless statement in one database");
  return await disturbance(service, load, options.seconds);
}

function medians(list: readonly Measured[]): Measured {
  const median = (pick: (one: Measured) => number) => medianOf(list.map(pick));
  const cpu = list.flatMap(({ cpuMicros }) => cpuMicros ?? []);
  return {
    perSecond: median((one) => one.perSecond),
    p50Ms: median((one) => one.p50Ms),
    p99Ms: median((one) => one.p99Ms),
    slowestMs: Math.max(...list.map((one) => one.slowestMs)),
    errors: list.reduce((sum, one) => sum + one.errors, 0),
    requests: list.reduce((sum, one) => sum + one.requests, 0),
    cpuMicros: cpu.length === 0 ? null : medianOf(cpu),
  };
}

function progress(text: string): void {
  print(`… ${text}`, "stderr");
}
