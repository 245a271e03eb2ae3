// `deno run -A tests/bench/garbage.ts [--seconds N] [--only reads,inserts] [--against COMMIT]`: what calls at half load leave to
// V8's collector, as its trace tells. Garbage among the young objects costs a scavenge of half a millisecond for each 27 MB; what
// comes among the old ones, a mark-compact each time that they have grown by 40 %, of 30 to 50 ms in which calls take 20 ms.
import { print } from "../testing/print.ts";
import { benchCases, fillTables } from "./bench_cases.ts";
import { benchOptions } from "./bench_options.ts";
import { checkOut } from "./checkout.ts";
import { chooseLoad } from "./load.ts";
import { type ServiceTarget, serviceTarget } from "./service_target.ts";

const CASES = { reads: "read-32", inserts: "insert-8" };
const ROOT = new URL("../../", import.meta.url).pathname;
/** Milliseconds that a connection waits between two calls: some half load, where each turn of the event loop has few calls. */
const PAUSE_MS = 2;
const TRACED = { DENO_V8_FLAGS: "--trace-gc" };
const MB = 1024 * 1024;

/** One collection: its milliseconds since the start, and megabytes of the heap before and behind it. */
interface Collection {
  readonly atMs: number;
  readonly isScavenge: boolean;
  readonly from: number;
  readonly to: number;
}

const options = benchOptions(Deno.args, Object.keys(CASES));
const { load } = await chooseLoad();
const against = options.against === null ? null : await checkOut(ROOT, options.against);
const services = [
  await serviceTarget(null, TRACED),
  ...against ? [await serviceTarget(against, TRACED)] : [],
];
try {
  for (const service of services) await fillTables(service, service.query);
  for (const [title, name] of Object.entries(CASES)) {
    if (options.only.length > 0 && !options.only.includes(title)) continue;
    for (const service of services) await measure(service, title, name);
  }
} finally {
  for (const service of services) await service.stop();
  await against?.remove();
}

async function measure(service: ServiceTarget, title: string, name: string): Promise<void> {
  const found = benchCases.find((one) => one.name === name);
  if (found === undefined) throw new TypeError(`no case ${name}`);
  const { connections } = found;
  const order = {
    ...{ url: service.url, requests: found.requests(service), connections, pauseMs: PAUSE_MS },
    seconds: options.seconds,
  };
  // A service that has just been started compiles itself first, which makes garbage of its own.
  for (let round = 0; round < 2; round++) await load(order);
  const sinceMs = collectionsOf(service).at(-1)?.atMs ?? 0;
  const { requests } = await load(order);
  const kept = collectionsOf(service);
  if (!kept.some(({ atMs }) => atMs <= sinceMs)) {
    throw new RangeError("--seconds is more than the trace keeps");
  }
  const all = kept.filter(({ atMs }) => atMs > sinceMs);
  const scavenges = all.filter(({ isScavenge }) => isScavenge);
  const young = scavenges.reduce((sum, { from, to }) => sum + from - to, 0);
  print(
    `${title}: ${service.name} ${(young * MB / requests / 1000).toFixed(1)} kB a call, ` +
      `${(oldGrowth(all) * MB / requests).toFixed(0)} bytes of it among the old objects; ` +
      `${(scavenges.length / options.seconds).toFixed(1)} scavenges a second, ` +
      `${all.length - scavenges.length} mark-compacts in ${options.seconds} s`,
  );
}

/** Megabytes that came between two scavenges and were there behind the second; where a mark-compact came between, nobody knows. */
function oldGrowth(all: readonly Collection[]): number {
  let grown = 0;
  for (const [at, { isScavenge, to }] of all.entries()) {
    const before = all[at - 1];
    if (isScavenge && before?.isScavenge) grown += to - before.to;
  }
  return grown;
}

/** Those that are still in what the service's output keeps, some 300. */
function collectionsOf(service: ServiceTarget): Collection[] {
  const lines = service.output().matchAll(
    /(\d+) ms: (.*?) ([\d.]+) \([\d.]+\) -> ([\d.]+) \([\d.]+\) MB/g,
  );
  return [...lines].map(([, atMs, kind, from, to]) => ({
    ...{ atMs: Number(atMs), isScavenge: kind?.startsWith("Scavenge") ?? false },
    ...{ from: Number(from), to: Number(to) },
  }));
}
