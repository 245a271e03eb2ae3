// What endless reads in one database do to point reads of others, in the same and in another database, and to writes in
// the same one. Goal: medians at most three times the quiet ones, and no read above 500 ms, on a quiet machine: the load
// is printed with each line. Run: deno run -A tests/bench/slow_neighbours.ts [--sqld]
import { print } from "../testing/print.ts";
import { callService, newToken, type ServiceWorld, serviceWorld } from "../testing/service_world.ts";
import { startSharedSqld } from "../testing/shared_sqld.ts";
import { pause } from "../../lib/core/pause.ts";
import { ENDLESS } from "../testing/endless.ts";

const POINT_READ = "SELECT a FROM t WHERE id = 5";
const WRITE = "UPDATE t SET a = 'y' WHERE id = 5";
const SLOW_READS = 50;
const SECONDS = 4;
/** Milliseconds between two calls of one caller, and before the endless ones count as under way. */
const PAUSE_MS = 10;
const SETTLE_MS = 1000;
interface SlowCase {
  readonly title: string;
  readonly tokens: number;
  /** Each read has a text of its own. */
  readonly distinct: boolean;
}

const CASES: readonly SlowCase[] = [
  { title: `${SLOW_READS} endless reads of one text`, tokens: 1, distinct: false },
  { title: `${SLOW_READS} endless reads of different texts`, tokens: 1, distinct: true },
  { title: `six tokens with ${SLOW_READS} each`, tokens: 6, distinct: true },
];

/** Calls one after the other, and says how long they took. */
async function repeat(world: ServiceWorld, sql: string, database: string): Promise<string> {
  const times: number[] = [];
  let failures = 0;
  const endMs = performance.now() + SECONDS * 1000;
  while (performance.now() < endMs) {
    const startedMs = performance.now();
    const { status } = await callService(world, sql, database);
    times.push(performance.now() - startedMs);
    if (status !== 200) failures++;
    await pause(PAUSE_MS);
  }
  times.sort((a, b) => a - b);
  const medianMs = times[times.length >> 1] ?? NaN;
  return `median ${medianMs.toFixed(1)} ms, worst ${
    (times.at(-1) ?? NaN).toFixed(0)
  } ms, ${failures} not 200`;
}

async function measure(world: ServiceWorld, title: string, readers: readonly string[]): Promise<void> {
  const [same, other, write] = await Promise.all([
    repeat({ ...world, token: readers[0] ?? "" }, POINT_READ, "main"),
    repeat({ ...world, token: readers[1] ?? "" }, POINT_READ, "second"),
    repeat({ ...world, token: readers[2] ?? "" }, WRITE, "main"),
  ]);
  print(`${title} (load ${Deno.loadavg()[0]?.toFixed(1)})`);
  print(`  reads of the same database: ${same}\n  of another one: ${other}\n  writes: ${write}`);
}

async function run(settings: Readonly<Record<string, string>>, cases: readonly SlowCase[]): Promise<void> {
  for (const [at, { title, tokens, distinct }] of cases.entries()) {
    await using world = await serviceWorld({ QUERY_TIMEOUT_MS: "20000", ...settings });
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
    const readers = await Promise.all([1, 2, 3].map(() => newToken(world, "admin")));
    const neighbours = await Promise.all(Array.from({ length: tokens }, () => newToken(world, "read")));
    if (at === 0) await measure(world, "quiet", readers);
    for (const [token, name] of neighbours.entries()) {
      const slow = { ...world, token: name };
      for (let n = 0; n < SLOW_READS; n++) {
        const sql = distinct ? ENDLESS.replace("(*)", `(*) + ${token * SLOW_READS + n}`) : ENDLESS;
        // The end of the service ends them.
        callService(slow, sql).catch(() => {});
      }
    }
    await pause(SETTLE_MS);
    await measure(world, title, readers);
  }
}

if (import.meta.main) {
  if (!Deno.args.includes("--sqld")) await run({}, CASES);
  const sqld = await startSharedSqld();
  if (sqld) {
    print("\nTenants in sqld:");
    const { TEST_TENANTS_URL: url = "", TEST_TENANTS_TOKEN: token = "", TEST_TENANTS_JWT_KEY: key = "" } =
      sqld.env;
    try {
      await run({ TENANTS_URL: url, TENANTS_TOKEN: token, TENANTS_JWT_KEY: key }, CASES);
    } finally {
      await sqld.stop();
    }
  }
  Deno.exit(0);
}
