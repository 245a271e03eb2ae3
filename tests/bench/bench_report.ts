// The benchmark's figures as text: one table for throughput, one line for each further goal.
import type { Disturbance } from "./disturbance.ts";
import type { LoadResult } from "./load.ts";
import type { Machine } from "./machine.ts";
import type { ProcessMemory } from "./process_memory.ts";
import { type Ratio, ratioOf, ratioText } from "./verdict.ts";

/** `cpuMicros`: processor time of the server for each request; null: not known. */
export type Measured = LoadResult & { readonly cpuMicros?: number | null };

export interface CaseFigures {
  readonly name: string;
  readonly title: string;
  readonly goalOfBare: number | null;
  readonly goalOfSqld: number | null;
  readonly results: Readonly<Record<string, Measured>>;
  /** Requests a second in each round, by server. */
  readonly rates: Readonly<Record<string, readonly number[]>>;
}

export interface BenchFigures {
  readonly machine: Machine;
  /** Why nothing may be concluded from the run; empty where something may. */
  readonly disturbed: readonly string[];
  /** The part of all processors that others used while it was measured; null: not known. */
  readonly othersPart: number | null;
  readonly seconds: number;
  readonly rounds: number;
  readonly targets: readonly { readonly name: string; readonly note: string }[];
  readonly cases: readonly CaseFigures[];
  readonly halfLoad: Readonly<Record<string, Measured>> | null;
  readonly endless: Disturbance | null;
  readonly memory: readonly {
    readonly name: string;
    readonly idle: ProcessMemory | null;
    readonly afterLoad: ProcessMemory | null;
  }[];
}

const HALF_LOAD_P99_MS = 5;
const DISTURBED_FACTOR = 2;
const HEALTH_MS = 50;
const IDLE_BYTES = 150 * 1024 * 1024;

/** Lines of Markdown. */
export function benchReport(figures: BenchFigures): string[] {
  const { machine, seconds, rounds, targets, disturbed } = figures;
  const judged = disturbed.length === 0;
  return [
    `${machine.at}, commit ${machine.commit}`,
    `${machine.cores} cores (${machine.cpu}) shared with the load (${machine.load}), ${machine.memoryMb} MB, Linux ${machine.kernel}, ` +
    `Deno ${machine.deno}, SQLite ${machine.sqlite}`,
    `${rounds} rounds of ${seconds} s, medians; one round goes through all servers before the next case; ratios are of ` +
    "one round, with the least and the most",
    ...targets.map(({ name, note }) => `- ${name}: ${note}`),
    "",
    "| case | server | requests/s | p50 ms | p99 ms | CPU µs | errors | of bare | of sqld | of the other commit |",
    "|---|---|---|---|---|---|---|---|---|---|",
    ...figures.cases.flatMap((one) => caseLines(one, judged)),
    "",
    ...halfLoadLines(figures),
    ...endlessLines(figures.endless),
    ...figures.memory.map(({ name, idle, afterLoad }) =>
      `memory of ${name}: idle ${megabytes(idle)}, after the load ${megabytes(afterLoad)}` +
      (name === "service" && idle ? ` (goal: idle ≤ 150 MB ${mark(idle.uniqueBytes <= IDLE_BYTES)})` : "")
    ),
    judged
      ? `undisturbed: others used ${Math.round((figures.othersPart ?? 0) * 100)} % of the processors`
      : `DISTURBED, so nothing may be concluded: ${disturbed.join("; ")}`,
  ];
}

function caseLines(
  { title, results, rates, goalOfBare, goalOfSqld }: CaseFigures,
  judged: boolean,
): string[] {
  return Object.entries(results).map(([name, one]) => {
    const isService = name === "service";
    const cpu = one.cpuMicros ?? null;
    const against = (base: string, goal: number | null) =>
      name === base
        ? ""
        : ratio(ratioOf(rates[name] ?? [], rates[base] ?? []), judged && isService ? goal : null);
    const cells = [
      ...[title, name, whole(one.perSecond), one.p50Ms.toFixed(2), one.p99Ms.toFixed(2)],
      ...[cpu === null ? "" : whole(cpu), String(one.errors)],
      ...[
        against("bare", goalOfBare),
        against("sqld", goalOfSqld),
        isService ? against("against", null) : "",
      ],
    ];
    return `| ${cells.join(" | ")} |`;
  });
}

function ratio(found: Ratio | null, goal: number | null): string {
  if (found === null) return "";
  const text = ratioText(found);
  return goal === null ? text : `${text}, goal ${goal} ${mark(found.median >= goal)}`;
}

function halfLoadLines({ halfLoad }: BenchFigures): string[] {
  return Object.entries(halfLoad ?? {}).map(([name, one]) => {
    const goal = name === "service"
      ? ` (goal p99 ≤ ${HALF_LOAD_P99_MS} ms ${mark(one.p99Ms <= HALF_LOAD_P99_MS)})`
      : "";
    return `point reads at half load, ${name}: ${whole(one.perSecond)}/s, p50 ${one.p50Ms.toFixed(2)} ms, ` +
      `p99 ${one.p99Ms.toFixed(2)} ms${goal}`;
  });
}

function endlessLines(one: Disturbance | null): string[] {
  if (!one) return [];
  const factor = one.disturbedP50Ms / Math.max(one.calmP50Ms, 0.001);
  return [
    `beside an endless statement: median read of another database ${one.calmP50Ms.toFixed(2)} → ` +
    `${one.disturbedP50Ms.toFixed(2)} ms, ×${factor.toFixed(2)} (goal ≤ ${DISTURBED_FACTOR} ${
      mark(factor <= DISTURBED_FACTOR)
    }); ` +
    `/healthz median ${one.healthMedianMs.toFixed(1)} ms, worst ${one.healthWorstMs.toFixed(1)} ms ` +
    `(goal ≤ ${HEALTH_MS} ms ${mark(one.healthWorstMs <= HEALTH_MS)}); errors ${one.errors}`,
  ];
}

function megabytes(memory: ProcessMemory | null): string {
  if (!memory) return "unknown";
  const of = (bytes: number) => Math.round(bytes / 1024 / 1024);
  return `${of(memory.uniqueBytes)} MB (resident sums ${
    of(memory.residentBytes)
  } MB, ${memory.processes} processes)`;
}

function whole(value: number): string {
  return Math.round(value).toLocaleString("en");
}

function mark(reached: boolean): string {
  return reached ? "✓" : "✗";
}
