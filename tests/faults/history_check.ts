// Strict serialisability of a history of appends and reads: every list at its end tells the order of its appends, each read
// tells where it stood, and with the times of calls that makes an order of all calls, or a circle where there is none.

/** What a call did to one list: appended a value that nobody else appends, or read all of it. */
export type Step =
  | { readonly list: number; readonly appends: number }
  | { readonly list: number; reads: readonly number[] | null };

/** One call, or one transaction. */
export interface HistoryCall {
  readonly name: string;
  readonly steps: readonly Step[];
  readonly startMs: number;
  /** Infinity: nobody knows when it ended, or whether it has. */
  endMs: number;
  /** `unknown`: all of it was done, or nothing. */
  outcome: "done" | "refused" | "unknown";
}

/** What is wrong, in words; `lists`: what each holds at the end. */
export function historyFaults(
  calls: readonly HistoryCall[],
  lists: ReadonlyMap<number, readonly number[]>,
): string[] {
  const faults: string[] = [];
  const makers = new Map<number, HistoryCall>();
  for (const call of calls) for (const value of appended(call)) makers.set(value, call);
  const there = new Set<number>();
  for (const value of [...lists.values()].flat()) {
    const maker = makers.get(value);
    if (there.has(value)) faults.push(`${value} is there twice, of ${maker?.name}`);
    if (maker === undefined || maker.outcome === "refused") {
      faults.push(`${value} is there, of ${maker?.name}`);
    }
    there.add(value);
  }
  for (const call of calls) {
    const values = appended(call);
    const kept = values.filter((value) => there.has(value)).length;
    if (call.outcome === "done" && kept < values.length) faults.push(`lost: ${told(call)}`);
    if (call.outcome === "unknown" && kept > 0 && kept < values.length) faults.push(`torn: ${told(call)}`);
  }
  const happened = calls.filter((call) =>
    call.outcome === "done" ||
    (call.outcome === "unknown" && appended(call).some((value) => there.has(value)))
  );
  const edges = edgesOf(happened, { makers, lists, faults });
  return [...faults, ...circles(happened, edges)];
}

function appended({ steps }: HistoryCall): number[] {
  return steps.flatMap((step) => "appends" in step ? [step.appends] : []);
}

function told(call: HistoryCall): string {
  return JSON.stringify(call);
}

interface Found {
  readonly makers: ReadonlyMap<number, HistoryCall>;
  readonly lists: ReadonlyMap<number, readonly number[]>;
  readonly faults: string[];
}

/** Which calls come after each call. Behind the calls stand moments: the ends of calls, in their order. */
function edgesOf(calls: readonly HistoryCall[], { makers, lists, faults }: Found): Set<number>[] {
  const numbers = new Map(calls.map((call, number) => [call, number]));
  const ends = calls.filter(({ endMs }) => endMs < Infinity).sort((a, b) => a.endMs - b.endMs);
  const edges = Array.from({ length: calls.length + ends.length }, () => new Set<number>());
  const comesBefore = (first: HistoryCall | undefined, then: HistoryCall | undefined) => {
    const [from, to] = [first && numbers.get(first), then && numbers.get(then)];
    if (from !== undefined && to !== undefined && from !== to) edges[from]?.add(to);
  };
  for (const [at, call] of ends.entries()) {
    edges[numbers.get(call) ?? -1]?.add(calls.length + at);
    if (at > 0) edges[calls.length + at - 1]?.add(calls.length + at);
  }
  for (const [number, { startMs }] of calls.entries()) {
    const last = ends.findLastIndex(({ endMs }) => endMs < startMs);
    if (last >= 0) edges[calls.length + last]?.add(number);
  }
  for (const values of lists.values()) {
    for (const [at, value] of values.entries()) {
      comesBefore(makers.get(values[at - 1] ?? NaN), makers.get(value));
    }
  }
  for (const call of calls) {
    for (const step of call.steps) {
      if ("appends" in step || step.reads === null) continue;
      const { reads } = step;
      const values = lists.get(step.list) ?? [];
      if (reads.some((value, at) => values[at] !== value)) {
        faults.push(`read what never was: ${told(call)}, in the end ${values}`);
        continue;
      }
      comesBefore(makers.get(reads.at(-1) ?? NaN), call);
      comesBefore(call, makers.get(values[reads.length] ?? NaN));
    }
  }
  return edges;
}

/** What is left when all that has nothing before it is taken away again and again is part of a circle, or behind one. */
function circles(calls: readonly HistoryCall[], edges: readonly ReadonlySet<number>[]): string[] {
  const before = edges.map(() => 0);
  for (const targets of edges) for (const to of targets) before[to] = (before[to] ?? 0) + 1;
  const free = [...before.keys()].filter((number) => before[number] === 0);
  for (let from = free.pop(); from !== undefined; from = free.pop()) {
    for (const to of edges[from] ?? []) {
      const left = (before[to] ?? 0) - 1;
      before[to] = left;
      if (left === 0) free.push(to);
    }
  }
  const left = calls.filter((_, number) => (before[number] ?? 0) > 0);
  return left.length === 0
    ? []
    : [`no order of all calls; the first without one: ${left.slice(0, 4).map(told)}`];
}
