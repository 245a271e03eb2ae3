// `deno run -A tests/bench/tails.ts [--seconds N] [--rounds N] [--only half-load,burst,endless,abandoned] [--against COMMIT]`:
// the slowest of a hundred calls, and what others' slow calls do to the median. Goals: point reads at half load, quiet and
// right behind a burst of inserts, have at most twice the p99 of the bare handler at the same rate; five endless statements
// of a neighbour leave the medians of others at 1.5 times. Servers take turns in each round.
import { print } from "../testing/print.ts";
import { bareTarget } from "./bare_target.ts";
import { benchCases, fillTables, otherInserts, otherPointReads, pointReads } from "./bench_cases.ts";
import { benchOptions } from "./bench_options.ts";
import { type BenchTarget, fetchOptions, sendOnce } from "./bench_target.ts";
import { checkOut } from "./checkout.ts";
import { chooseLoad, type LoadResult } from "./load.ts";
import { NoiseWatch } from "./machine_noise.ts";
import { processCpuSeconds } from "./process_cpu.ts";
import { type ServiceTarget, serviceTarget } from "./service_target.ts";
import { medianOf } from "./verdict.ts";
import { pause } from "../../lib/core/pause.ts";

const options = benchOptions(Deno.args, ["half-load", "burst", "endless", "abandoned"]);
const { name: by, load } = await chooseLoad();
const ROOT = new URL("../../", import.meta.url).pathname;
const NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n";
const ENDLESS = `${NUMBERS}) SELECT count(*) FROM n`;
/** Connections that call at half load. */
const PACED_CONNECTIONS = 32;
/** Endless statements at a time, and callers beside them who pause between calls. */
const NEIGHBOURS = 5;
const BESIDE = { connections: 4, pauseMs: 10 };
const SETTLE_MS = 300;
/** Reads that somebody begins and leaves: how long each takes, when it is left, and when the next one begins. */
const ABANDONED = { ms: 60, leftAfterMs: 40, everyMs: 100 };
const bare = await bareTarget();
const services = [await serviceTarget()];
const against = options.against === null ? null : await checkOut(ROOT, options.against);
if (against) services.push(await serviceTarget(against));
const noise = new NoiseWatch();
try {
  print(
    `${navigator.hardwareConcurrency} cores shared with the load (${by}), ${options.rounds} × ${options.seconds} s, medians`,
  );
  await fillTables(bare, bare.query);
  for (const service of services) {
    await fillTables(service, service.query);
    await fillTables(service, service.other);
  }
  if (wanted("half-load")) await atHalfLoad("half load", async () => {});
  if (wanted("burst")) await atHalfLoad("half load behind a burst of inserts", burst);
  if (wanted("endless")) { for (const service of services) await besideEndless(service); }
  if (wanted("abandoned")) { for (const service of services) await besideAbandoned(service); }
  print(`others used ${((noise.othersPart() ?? NaN) * 100).toFixed(0)} % of the processors`);
} finally {
  for (const target of [bare, ...services]) await target.stop();
  await against?.remove();
}

function wanted(name: string): boolean {
  return options.only.length === 0 || options.only.includes(name);
}

/** Half of what the service itself reaches is the rate of all. */
async function atHalfLoad(title: string, before: (target: BenchTarget) => Promise<void>): Promise<void> {
  const [service] = services;
  if (!service) return;
  const fullLoad = {
    url: service.url,
    requests: pointReads(service),
    connections: 32,
    seconds: options.seconds,
  };
  // A service that has just been started compiles itself first.
  await load(fullLoad);
  const full = await load(fullLoad);
  const rate = full.perSecond / 2;
  const targets = [bare, ...services];
  const measured = targets.map((): LoadResult[] => []);
  const pauses = new Map<BenchTarget, number>();
  for (const target of targets) pauses.set(target, await pauseFor(target, rate));
  for (let round = 0; round < options.rounds; round++) {
    for (const [at, target] of targets.entries()) {
      await before(target);
      measured[at]?.push(await paced(target, pauses.get(target) ?? 0, options.seconds));
    }
  }
  const base = medianOf((measured[0] ?? []).map(({ p99Ms }) => p99Ms));
  for (const [at, { name }] of targets.entries()) {
    const of = (pick: (one: LoadResult) => number) => medianOf((measured[at] ?? []).map(pick));
    print(
      `${title}: ${name} ${of((one) => one.perSecond).toFixed(0)}/s, median ${
        of((one) => one.p50Ms).toFixed(2)
      } ms, p99 ` +
        `${of((one) => one.p99Ms).toFixed(2)} ms = ${(of((one) => one.p99Ms) / base).toFixed(2)} of bare's`,
    );
  }
}

function paced(target: BenchTarget, pauseMs: number, seconds: number): Promise<LoadResult> {
  return load({
    url: target.url,
    requests: pointReads(target),
    connections: PACED_CONNECTIONS,
    seconds,
    pauseMs,
  });
}

/** The pause between two calls of a connection that gives this rate. */
async function pauseFor(target: BenchTarget, rate: number): Promise<number> {
  let pauseMs = PACED_CONNECTIONS / rate * 1000;
  for (let attempt = 0; attempt < 3; attempt++) {
    const { perSecond } = await paced(target, pauseMs, 1);
    pauseMs = Math.max(0, pauseMs + (PACED_CONNECTIONS / rate - PACED_CONNECTIONS / perSecond) * 1000);
  }
  return pauseMs;
}

async function burst(target: BenchTarget): Promise<void> {
  const inserts = benchCases.find(({ name }) => name === "insert-8");
  if (inserts) {
    await load({ url: target.url, requests: inserts.requests(target), connections: 8, seconds: 1 });
  }
}

/** The neighbour is one token with one database; the others have another database, and read and write there. */
async function besideEndless(service: ServiceTarget): Promise<void> {
  const cases = { reads: otherPointReads(service.other), inserts: otherInserts(service.other) };
  for (const [title, requests] of Object.entries(cases)) {
    const order = { url: service.url, requests, ...BESIDE, seconds: options.seconds };
    const [calm, disturbed]: [number[], number[]] = [[], []];
    let errors = 0;
    for (let round = 0; round < options.rounds; round++) {
      calm.push((await load(order)).p50Ms);
      const stop = new AbortController();
      const endless = Array.from({ length: NEIGHBOURS }, () => keepRunning(service, stop.signal));
      await pause(SETTLE_MS);
      const beside = await load(order);
      disturbed.push(beside.p50Ms);
      errors += beside.errors;
      stop.abort();
      await Promise.all(endless);
      await pause(SETTLE_MS);
    }
    const [before, during] = [medianOf(calm), medianOf(disturbed)];
    print(
      `beside ${NEIGHBOURS} endless statements: ${service.name}, ${title} median ${before.toFixed(2)} → ${
        during.toFixed(2)
      } ms ` +
        `= ${(during / before).toFixed(2)} times, ${errors} errors`,
    );
  }
}

async function keepRunning(service: ServiceTarget, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await sendAndLeave(service, ENDLESS, signal);
}

async function sendAndLeave(service: ServiceTarget, sql: string, signal: AbortSignal): Promise<void> {
  const request = service.query({ sql, params: [] });
  try {
    const response = await fetch(service.url + request.path, { ...fetchOptions(request), signal });
    await response.body?.cancel();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Reads of the same database, while somebody begins reads and leaves before they end. */
async function besideAbandoned(service: ServiceTarget): Promise<void> {
  const sql = await readThatTakes(service, ABANDONED.ms);
  const order = { url: service.url, requests: pointReads(service), ...BESIDE, seconds: options.seconds };
  const [calm, disturbed]: [LoadResult[], LoadResult[]] = [[], []];
  let cpuSeconds = 0;
  for (let round = 0; round < options.rounds; round++) {
    calm.push(await load(order));
    const stop = new AbortController();
    const before = processCpuSeconds(service.pid) ?? NaN;
    const leaving = leaveReads(service, sql, stop.signal);
    disturbed.push(await load(order));
    stop.abort();
    await leaving;
    cpuSeconds += (processCpuSeconds(service.pid) ?? NaN) - before;
  }
  const of = (list: LoadResult[], pick: (one: LoadResult) => number) => medianOf(list.map(pick)).toFixed(2);
  print(
    `beside reads of ${ABANDONED.ms} ms that are left after ${ABANDONED.leftAfterMs}: ${service.name} median ` +
      `${of(calm, (one) => one.p50Ms)} → ${of(disturbed, (one) => one.p50Ms)} ms, p99 ${
        of(calm, (one) => one.p99Ms)
      } → ` +
      `${of(disturbed, (one) => one.p99Ms)} ms, ${
        (cpuSeconds / options.rounds / options.seconds * 100).toFixed(0)
      } % of a processor`,
  );
}

async function leaveReads(service: ServiceTarget, sql: string, signal: AbortSignal): Promise<void> {
  const left: Promise<void>[] = [];
  while (!signal.aborted) {
    left.push(sendAndLeave(service, sql, AbortSignal.timeout(ABANDONED.leftAfterMs)));
    await pause(ABANDONED.everyMs);
  }
  await Promise.all(left);
}

/** A statement that takes about so long alone. */
async function readThatTakes(service: ServiceTarget, ms: number): Promise<string> {
  let rows = 20_000;
  for (let attempt = 0; attempt < 6; attempt++) {
    const sql = `${NUMBERS} WHERE i < ${rows}) SELECT count(*) FROM n`;
    const startedMs = performance.now();
    await sendOnce(service, service.query({ sql, params: [] }));
    rows = Math.round(rows * Math.min(4, ms / (performance.now() - startedMs)));
  }
  return `${NUMBERS} WHERE i < ${rows}) SELECT count(*) FROM n`;
}
