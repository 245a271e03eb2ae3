// What 50 endless reads of one token in one database do to point reads of others, in the same and in another database.
// Goal: medians at most three times the quiet ones, and no read above 500 ms. Run: deno run -A tests/bench/slow_neighbours.ts
import { print } from "../testing/print.ts";
import { callService, newToken, type ServiceWorld, serviceWorld } from "../testing/service_world.ts";

const ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
const SLOW_READS = 50;
const SECONDS = 4;
/** Milliseconds between two reads of one caller, and before the endless ones count as under way. */
const PAUSE_MS = 10;
const SETTLE_MS = 1000;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

interface Times {
  readonly medianMs: number;
  readonly worstMs: number;
  readonly failures: number;
}

async function pointReads(world: ServiceWorld, token: string, database: string): Promise<Times> {
  const times: number[] = [];
  let failures = 0;
  const endMs = performance.now() + SECONDS * 1000;
  while (performance.now() < endMs) {
    const startedMs = performance.now();
    const { status } = await callService({ ...world, token }, "SELECT a FROM t WHERE id = 5", database);
    times.push(performance.now() - startedMs);
    if (status !== 200) failures++;
    await pause(PAUSE_MS);
  }
  times.sort((a, b) => a - b);
  return { medianMs: times[times.length >> 1] ?? NaN, worstMs: times.at(-1) ?? NaN, failures };
}

async function measure(world: ServiceWorld, title: string): Promise<void> {
  const [one, two] = [await newToken(world, "read"), await newToken(world, "read")];
  const found = await Promise.all([pointReads(world, one, "main"), pointReads(world, two, "second")]);
  for (const [at, { medianMs, worstMs, failures }] of found.entries()) {
    const where = at === 0 ? "same database" : "another one";
    const ms = `median ${medianMs.toFixed(1)} ms, worst ${worstMs.toFixed(0)} ms`;
    print(`${title}, ${where}: ${ms}, ${failures} not answered 200`);
  }
}

if (import.meta.main) {
  await using world = await serviceWorld({ QUERY_TIMEOUT_MS: "20000" });
  const made = await fetch(`${world.service.url}/api/namespaces/acme/databases`, {
    method: "POST",
    headers: { authorization: `Bearer ${world.operatorKey}`, "content-type": "application/json" },
    body: JSON.stringify({ slug: "second" }),
  });
  await made.body?.cancel();
  for (const database of ["main", "second"]) {
    await callService(world, "CREATE TABLE t (id INTEGER PRIMARY KEY, a)", database);
    await callService(world, "INSERT INTO t VALUES (5, 'x')", database);
  }
  await measure(world, "quiet");
  const slow = await newToken(world, "read");
  // The end of the service ends them.
  for (let n = 0; n < SLOW_READS; n++) callService({ ...world, token: slow }, ENDLESS).catch(() => {});
  await pause(SETTLE_MS);
  await measure(world, "beside 50 endless reads");
}
