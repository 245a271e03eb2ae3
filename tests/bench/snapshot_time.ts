// `deno run -A tests/bench/snapshot_time.ts [megabytes…]`: what a snapshot, a restore and a copy of an embedded database
// cost by its size, how long writes of the same database wait for a snapshot, and reads of another one for all of it.
// Default: 1, 100 and 1000 MB.
import { pause } from "../../lib/core/pause.ts";
import { configFromEnvironment } from "../../lib/config.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { newId } from "../../lib/core/ids.ts";
import { silentLog } from "../../lib/core/log.ts";
import { createLocalStore } from "../../lib/tenant/local/create_local_store.ts";
import { Tenant } from "../contracts/tenant_store.ts";
import { print } from "../testing/print.ts";

const SCHEMA = "CREATE TABLE t (id INTEGER PRIMARY KEY, a BLOB)";
const ROW_BYTES = 10_000;
const ROUNDS = 5;

const sizes = Deno.args.length > 0 ? Deno.args.map(Number) : [1, 100, 1000];
const folder = await Deno.makeTempDir({ prefix: "bench_snapshot_" });
const store = await createLocalStore({
  ...{ dataDirectory: folder, queryTimeoutMs: 600_000, logDays: 30, snapshotDays: 7 },
  ...{ clock: systemClock, log: silentLog },
  engineEnvironment: configFromEnvironment().engineEnvironment,
});
print(
  "| size | snapshot, ms | writes of it meanwhile, median / worst ms | restore, ms | copy, ms " +
    "| reads of another database meanwhile, median / worst ms |",
);
print("| --- | --- | --- | --- | --- | --- |");
for (const megabytes of sizes) await measure(megabytes);
await store.close();
await Deno.remove(folder, { recursive: true });

async function measure(megabytes: number): Promise<void> {
  const tenant = await Tenant.create(store, [SCHEMA]);
  const other = await Tenant.create(store, [SCHEMA]);
  await fill(tenant, megabytes);
  const waits: number[] = [];
  const watching = { on: true };
  const watcher = watch(waits, watching, () => other.rows("SELECT count(*) FROM t"));
  const snapshots: number[] = [];
  const writes: number[] = [];
  const writing = { on: true };
  const writer = watch(writes, writing, () => tenant.run("write", [["INSERT INTO t (a) VALUES ('x')"]]));
  for (let round = 0; round < ROUNDS; round++) {
    snapshots.push(await timed(() => tenant.database.takeSnapshot(`s${round}`)));
  }
  writing.on = watching.on = false;
  await Promise.all([watcher, writer]);
  const restore = await timed(() => tenant.database.restore("s0", { undoLabel: "undo" }));
  const copyId = newId("db", systemClock.now());
  const copy = await timed(() => store.copy(copyId, { databaseId: tenant.id, snapshot: null }));
  for (const id of [tenant.id, other.id, copyId]) await store.drop(id);
  print(
    `| ${megabytes} MB | ${median(snapshots)} | ${median(writes)} / ${Math.max(...writes)} | ${restore} ` +
      `| ${copy} | ${median(waits)} / ${Math.max(...waits)} |`,
  );
}

async function fill(tenant: Tenant, megabytes: number): Promise<void> {
  const rows = Math.ceil(megabytes * 1e6 / ROW_BYTES);
  for (let from = 0; from < rows; from += 2000) {
    await tenant.run("write", [[
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${
        Math.min(2000, rows - from)
      }) ` +
      `INSERT INTO t (a) SELECT randomblob(${ROW_BYTES}) FROM n`,
    ]]);
  }
}

async function watch(
  waits: number[],
  watching: { on: boolean },
  call: () => Promise<unknown>,
): Promise<void> {
  while (watching.on) {
    waits.push(await timed(call));
    await pause(2);
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return Math.round((performance.now() - startedMs) * 100) / 100;
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1] ?? 0;
}
