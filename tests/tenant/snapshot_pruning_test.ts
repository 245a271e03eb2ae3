// What the log is told where snapshots cannot be pruned.
import { assertEquals } from "@std/assert";
import { systemClock } from "../../lib/core/clock.ts";
import { newId } from "../../lib/core/ids.ts";
import { SnapshotPruning } from "../../lib/tenant/local/files/snapshot_pruning.ts";
import { makeFolder, snapshotFolder } from "../../lib/tenant/local/files/tenant_paths.ts";

Deno.test("a pruning that fails is told with the database and the reason", async () => {
  const tenants = await Deno.makeTempDir();
  const databaseId = newId("db", systemClock.now());
  await makeFolder(tenants, databaseId);
  await Deno.writeTextFile(snapshotFolder(tenants, databaseId), "no folder");
  const told: unknown[] = [];
  const log = (...line: unknown[]) => void told.push(line);
  const pruning = new SnapshotPruning({ tenants, clock: systemClock, log, keepMs: 0 });
  pruning.prune(databaseId);
  await pruning.close();
  assertEquals(told, [["warn", "snapshots_not_pruned", { databaseId, reason: "NotADirectory" }]]);
  await Deno.remove(tenants, { recursive: true });
});
