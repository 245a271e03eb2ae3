// What the lanes of one embedded database say of the work that waits in them.
import { assertEquals } from "@std/assert";
import { systemClock } from "../../lib/core/clock.ts";
import type { Level } from "../../lib/engine/guard.ts";
import { DatabaseLanes } from "../../lib/tenant/local/database_lanes.ts";
import { wireCall } from "../../lib/tenant/local/wire.ts";
import { tenantCall } from "../contracts/tenant_store.ts";

function addCalls(lanes: DatabaseLanes, level: Level, count: number): void {
  for (let added = 0; added < count; added++) {
    const call = tenantCall(1, level, [["SELECT 1"]]);
    const nothing = () => {};
    lanes.addCall({
      ...{
        call,
        wire: wireCall(call, systemClock),
        resolve: nothing,
        reject: nothing,
        queuedMs: 0,
        crashes: 0,
      },
    });
  }
}

Deno.test("a read waits for company unless the group before it was one call as well", () => {
  const lanes = new DatabaseLanes("db_1", "ns_1");
  addCalls(lanes, "read", 1);
  assertEquals(lanes.isLoneRead, false, "nobody is known to be alone");
  lanes.takeWork(0, 0);
  addCalls(lanes, "read", 1);
  assertEquals(lanes.isLoneRead, true);
  addCalls(lanes, "read", 1);
  assertEquals(lanes.isLoneRead, false, "two wait");
  lanes.takeWork(0, 0);
  addCalls(lanes, "read", 1);
  assertEquals(lanes.isLoneRead, false, "two were sent together");
});

Deno.test("a write waits for company, and so does a read beside one", () => {
  const lanes = new DatabaseLanes("db_1", "ns_1");
  addCalls(lanes, "read", 1);
  lanes.takeWork(0, 0);
  addCalls(lanes, "write", 1);
  assertEquals(lanes.isLoneRead, false);
  addCalls(lanes, "read", 1);
  assertEquals(lanes.isLoneRead, false);
});
