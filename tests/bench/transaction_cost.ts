// `deno run -A tests/bench/transaction_cost.ts`: what transactions over several requests cost others: writes and reads a
// second of eight callers beside none, an idle, a reading and a held one, and how long the first write waits for the lease.
// Then how many short transactions one caller makes, beside single writes. `short`: only that.
import { configFromEnvironment } from "../../lib/config.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { silentLog } from "../../lib/core/log.ts";
import { createLocalStore } from "../../lib/tenant/local/create_local_store.ts";
import type { TenantTransaction } from "../../lib/tenant/tenant_store.ts";
import { Tenant, tenantCall } from "../contracts/tenant_store.ts";
import { print } from "../testing/print.ts";
import { median } from "./median.ts";

const SCHEMA = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)";
const CALLERS = 8;
const ROUND_MS = 2000;
const ROUNDS = 5;

const folder = await Deno.makeTempDir({ prefix: "bench_transactions_" });
const store = await createLocalStore({
  ...{ dataDirectory: folder, queryTimeoutMs: 60_000, logDays: 30, snapshotDays: 7 },
  ...{ clock: systemClock, log: silentLog },
  engineEnvironment: configFromEnvironment().engineEnvironment,
});
const tenant = await Tenant.create(store, [SCHEMA]);
const other = await Tenant.create(store, [SCHEMA]);
const { schemaVersion } = await tenant.database.inspect([]);
const insert = tenantCall(schemaVersion, "write", [["INSERT INTO t (a) VALUES ('x')"]]);
const select = tenantCall(schemaVersion, "read", [["SELECT * FROM t WHERE id = 1"]]);

if (Deno.args[0] !== "short") {
  print("| beside | writes a second | reads a second |");
  print("| --- | --- | --- |");
  await compare();
  await waitForLease();
}
await shortOnes();
await store.close();
await Deno.remove(folder, { recursive: true });

/** The situations take turns, because the machine is not as fast at any time. */
async function compare(): Promise<void> {
  const situations: Record<string, () => Promise<TenantTransaction | null>> = {
    "none": () => Promise.resolve(null),
    "one without a statement": () => Promise.resolve(begin(tenant)),
    "one that has read": async () => {
      const reading = tenant.database.begin({ mode: "deferred", tokenId: "tok_1" });
      await reading.run(select);
      return reading;
    },
    "one that holds another database's slot": async () => {
      const holding = begin(other);
      await holding.run(insert);
      return holding;
    },
  };
  const rates = new Map<string, { readonly writes: number[]; readonly reads: number[] }>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, open] of Object.entries(situations)) {
      const found = rates.get(name) ?? { writes: [], reads: [] };
      rates.set(name, found);
      for (const [kind, call] of [["writes", insert], ["reads", select]] as const) {
        const transaction = await open();
        found[kind].push(await rate(() => tenant.database.run(fresh(call))));
        if (transaction?.lost === null) await transaction.rollback();
      }
    }
  }
  for (const [name, { writes, reads }] of rates) print(`| ${name} | ${median(writes)} | ${median(reads)} |`);
}

async function waitForLease(): Promise<void> {
  const holding = begin(tenant);
  await holding.run(fresh(insert));
  const beganMs = performance.now();
  const reading = timed(() => tenant.database.run(fresh(select)));
  await tenant.database.run(fresh(insert));
  const writeMs = Math.round(performance.now() - beganMs);
  print(
    `\nBeside one that holds the slot and sleeps: a write waits ${writeMs} ms, a read ${await reading} ms.`,
  );
}

async function shortOnes(): Promise<void> {
  const perSecond = await rate(async () => {
    const one = begin(tenant);
    await one.run(fresh(select));
    await one.run(fresh(insert));
    await one.commit();
  }, 1);
  const single = await rate(() => tenant.database.run(fresh(insert)), 1);
  print(`Writes of one caller, each by itself: ${single} a second.`);
  print(`Short transactions of one caller (a read, a write, a commit on the disk): ${perSecond} a second.`);
}

function begin({ database }: Tenant): TenantTransaction {
  return database.begin({ mode: "immediate", tokenId: "tok_1" });
}

/** The same call as if it were made now: its log row has an id of its own. */
function fresh({ level, statements }: typeof insert): typeof insert {
  return tenantCall(schemaVersion, level, statements.map(({ sql }) => [sql] as const));
}

async function rate(work: () => Promise<unknown>, callers = CALLERS): Promise<number> {
  const endMs = performance.now() + ROUND_MS;
  let count = 0;
  await Promise.all(Array.from({ length: callers }, async () => {
    while (performance.now() < endMs) {
      await work();
      count++;
    }
  }));
  return Math.round(count / ROUND_MS * 1000);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const beganMs = performance.now();
  await work();
  return Math.round(performance.now() - beganMs);
}
