// What an Idempotency-Key costs an insert, and what a stored answer costs beside running its call:
// `deno run -A tests/bench/replay_bench.ts [--seconds N] [--rounds N]`. Goals: ≥ 0.6 of an insert without a key, and a
// replay faster than the run.
import { print } from "../testing/print.ts";
import { fillTables } from "./bench_cases.ts";
import { benchOptions } from "./bench_options.ts";
import { type BenchRequest, type BenchTarget, sendOnce } from "./bench_target.ts";
import { keyedLoad } from "./keyed_load.ts";
import { chooseLoad } from "./load.ts";
import { median } from "./median.ts";
import { serviceTarget } from "./service_target.ts";

interface Measure {
  readonly name: string;
  /** Requests per second. */
  readonly run: (seconds: number) => Promise<number>;
}

const GOAL = 0.6;
const SMALL = "insert";
const LARGE = "read of 1000 rows";
const options = benchOptions(Deno.args, []);
const { name: by, load } = await chooseLoad();
const target = await serviceTarget();
try {
  await fillTables(target, target.query);
  report(await measured(await prepare(target)));
} finally {
  await target.stop();
}

/** Interleaved, so that drift of the machine hits all alike. */
async function measured(measures: readonly Measure[]): Promise<Map<string, number>> {
  const runs = measures.map(({ name }) => ({ name, values: [] as number[] }));
  for (let round = 0; round < options.rounds; round++) {
    for (const [at, { run }] of measures.entries()) {
      await run(1);
      runs[at]?.values.push(await run(options.seconds));
    }
  }
  return new Map(runs.map(({ name, values }) => [name, median(values)]));
}

/** Answers that are to be replayed are stored here. */
async function prepare(service: BenchTarget): Promise<Measure[]> {
  const { url } = service;
  const insert = service.query({
    sql: "INSERT INTO entries(note, number) VALUES (?, ?)",
    params: ["note", 1],
  });
  const read = service.query({ sql: "SELECT id, name, price, stock FROM items LIMIT 1000", params: [] });
  const run = crypto.randomUUID();
  const stored = (request: BenchRequest, key: string): BenchRequest => ({
    ...request,
    headers: { ...request.headers, "idempotency-key": `${run}-${key}` },
  });
  const same = (name: string, request: BenchRequest, connections: number): Measure => ({
    name: `${name}, ${connections}`,
    run: async (seconds) => {
      const { perSecond, errors } = await load({ url, requests: [request], connections, seconds });
      if (errors > 0) throw new Error(`${errors} requests of ${name} failed`);
      return perSecond;
    },
  });
  // Both make a header for every request, so that the work of the load is the same.
  const each = (name: string, header: string, connections: number): Measure => ({
    name: `${name}, ${connections}`,
    run: (seconds) => keyedLoad({ url, request: insert, header, connections, seconds }, by),
  });
  const [replayedInsert, replayedRead] = [stored(insert, "insert"), stored(read, "read")];
  for (const request of [replayedInsert, replayedRead]) await sendOnce(service, request);
  return [
    ...[8, 32].flatMap((connections) => [
      each(SMALL, "x-no-key", connections),
      each(`keyed ${SMALL}`, "idempotency-key", connections),
    ]),
    same(`replayed ${SMALL}`, replayedInsert, 8),
    same(LARGE, read, 8),
    same(`replayed ${LARGE}`, replayedRead, 8),
  ];
}

function report(results: ReadonlyMap<string, number>): void {
  const of = (name: string) => results.get(name) ?? 0;
  print(
    `${navigator.hardwareConcurrency} cores shared with the load (${by}), medians of ${options.rounds} × ${options.seconds} s`,
  );
  for (const [name, value] of results) print(`${name}: ${Math.round(value).toLocaleString("en")}/s`);
  for (const connections of [8, 32]) {
    const share = of(`keyed ${SMALL}, ${connections}`) / of(`${SMALL}, ${connections}`);
    print(
      `keyed of plain, ${connections} connections: ${share.toFixed(2)} (goal ${GOAL} ${mark(share >= GOAL)})`,
    );
  }
  for (const name of [SMALL, LARGE]) {
    const factor = of(`replayed ${name}, 8`) / of(`${name}, 8`);
    print(`replay of ${name} beside running it: ×${factor.toFixed(2)} (goal > 1 ${mark(factor > 1)})`);
  }
}

function mark(reached: boolean): string {
  return reached ? "✓" : "✗";
}
