// `deno run -A tests/bench/archive_cost.ts [rounds] [seconds]`: inserts at 32 connections with the archive on beside the same
// service with it off, in turns, what either takes of the processor, and how long the archive needs to catch up.
import { pause } from "../../lib/core/pause.ts";
import { print } from "../testing/print.ts";
import { benchCases, fillTables } from "./bench_cases.ts";
import { chooseLoad } from "./load.ts";
import { ownCpuSeconds, processCpuSeconds } from "./process_cpu.ts";
import { type ServiceTarget, serviceTarget } from "./service_target.ts";
import { medianOf } from "./verdict.ts";

const ROUNDS = Number(Deno.args[0] ?? 5);
const SECONDS = Number(Deno.args[1] ?? 5);
const CAUGHT_UP_MS = 60_000;
const NEARLY_MS = 1500;

interface Run {
  readonly perSecond: number;
  readonly p99Ms: number;
  /** Microseconds of the processor a call: of the service, and of its children. */
  readonly serviceUs: number;
  readonly childrenUs: number;
}

const { load } = await chooseLoad();
const insert = benchCases.find(({ name }) => name === "insert-32");
if (!insert) throw new TypeError("the case has another name");
const objects = await Deno.makeTempDir({ prefix: "bench_archive_" });
const targets = {
  off: await serviceTarget(),
  on: await serviceTarget(null, { ARCHIVE_URL: `file:${objects}` }),
};
const runs: { readonly off: Run[]; readonly on: Run[] } = { off: [], on: [] };
try {
  for (const target of Object.values(targets)) await fillTables(target, target.query);
  for (const target of Object.values(targets)) await measure(target, 2);
  for (let round = 0; round < ROUNDS; round++) {
    // Who is second finds the machine as the first has left it, so they take turns in that too.
    for (const name of round % 2 === 0 ? ["off", "on"] as const : ["on", "off"] as const) {
      runs[name].push(await measure(targets[name], SECONDS));
      if (name === "on") await caughtUp();
    }
    const ratio = (runs.on.at(-1)?.perSecond ?? NaN) / (runs.off.at(-1)?.perSecond ?? NaN);
    print(
      `round ${round + 1}: on ${line(runs.on.at(-1))}; off ${line(runs.off.at(-1))}; ${ratio.toFixed(2)}`,
    );
  }
  const ratios = runs.on.map(({ perSecond }, at) => perSecond / (runs.off[at]?.perSecond ?? NaN)).sort();
  print(
    `on / off: median ${medianOf(ratios).toFixed(3)}, from ${ratios.at(0)?.toFixed(3)} to ${
      ratios.at(-1)?.toFixed(3)
    }`,
  );
  for (const [name, list] of Object.entries(runs)) {
    const of = (pick: (run: Run) => number) => medianOf(list.map(pick));
    print(
      `${name}: ${of((run) => run.perSecond).toFixed(0)}/s, p99 ${of((run) => run.p99Ms).toFixed(1)} ms, ` +
        `${of((run) => run.serviceUs).toFixed(1)} µs of the service and ` +
        `${of((run) => run.childrenUs).toFixed(1)} µs of children an insert`,
    );
  }
} finally {
  for (const target of Object.values(targets)) await target.stop();
  await Deno.remove(objects, { recursive: true });
}

function line(run: Run | undefined): string {
  if (!run) return "";
  return `${run.perSecond.toFixed(0)}/s (${run.serviceUs.toFixed(0)} + ${run.childrenUs.toFixed(0)} µs)`;
}

async function measure(target: ServiceTarget, seconds: number): Promise<Run> {
  const requests = insert?.requests(target) ?? [];
  const before = [ownCpuSeconds(target.pid), processCpuSeconds(target.pid) ?? NaN] as const;
  const result = await load({ url: target.url, requests, connections: 32, seconds });
  if (result.errors > 0) throw new Error(`${result.errors} inserts failed`);
  const own = ownCpuSeconds(target.pid) - before[0];
  const all = (processCpuSeconds(target.pid) ?? NaN) - before[1];
  const { perSecond, p99Ms } = result;
  const us = (seconds: number) => seconds * 1e6 / result.requests;
  return { perSecond, p99Ms, serviceUs: us(own), childrenUs: us(all - own) };
}

/** Waits until nearly all that was written is in the archive: else it would be a part of the other's run. */
async function caughtUp(): Promise<void> {
  const endedMs = Date.now();
  const { path, headers } = targets.on.query({ sql: "SELECT 1", params: [] });
  const url = `${targets.on.url}${path.replace(/query$/, "archive")}`;
  for (;;) {
    const { archivedUntil } = (await (await fetch(url, { headers })).json()).data;
    if (Date.parse(archivedUntil) > endedMs - NEARLY_MS) return;
    if (Date.now() - endedMs > CAUGHT_UP_MS) throw new Error("the archive does not catch up");
    await pause(100);
  }
}
