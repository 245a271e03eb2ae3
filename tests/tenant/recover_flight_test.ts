// What becomes of calls whose engine child ends between the answer and the commit, again and again.
import { assert, assertEquals } from "@std/assert";
import { systemClock } from "../../lib/core/clock.ts";
import { AppError } from "../../lib/core/errors.ts";
import { endedByWork } from "../../lib/tenant/local/pool/child_bounds.ts";
import type { LaneFlight } from "../../lib/tenant/local/pool/child_slot.ts";
import { DatabaseLanes } from "../../lib/tenant/local/lanes/database_lanes.ts";
import type { ChildRemains } from "../../lib/tenant/local/pool/engine_child.ts";
import type { WireOutcome } from "../../lib/tenant/local/child/wire_call.ts";
import { recoverFlight, returnFlight } from "../../lib/tenant/local/pool/recover_flight.ts";
import { wireCall } from "../../lib/tenant/local/frames/wire.ts";
import type { TenantOutcome } from "../../lib/tenant/tenant_store.ts";
import { tenantCall } from "../contracts/tenant_store.ts";

const NO_MS = {
  ...{ startedMs: 0, killedMs: 0, leftMs: null, begun: null, slow: null, heard: { count: 0, sinceMs: 0 } },
  seen: { call: 0, statement: 0, sinceMs: 0 },
};

/** The child was in the first statement of the frame's first call. */
const IN_FIRST = { progress: { call: 0, statement: 0 }, byWork: true };

/** Two calls that were answered and not kept. */
function world() {
  const lanes = new DatabaseLanes("db_1", "ns_1");
  const outcomes: (TenantOutcome | Error | null)[] = [null, null];
  for (const index of outcomes.keys()) {
    const call = tenantCall(1, "write", [["INSERT INTO t VALUES (1)"]]);
    const end = (outcome: TenantOutcome | Error) => {
      outcomes[index] = outcome;
    };
    lanes.addCall({
      ...{ call, wire: wireCall(call, systemClock), resolve: end, reject: end, queuedMs: 0, crashes: 0 },
    });
  }
  /** The child ends once more at the commit of what waits; how many calls had been taken along. */
  const endChild = (
    killed: LaneFlight["killed"],
    refused: readonly WireOutcome[] = [],
    remains: ChildRemains = IN_FIRST,
  ): number => {
    const work = lanes.takeWork(0, 0);
    assert(work?.kind === "write");
    const o = work.jobs.map((_, index) => refused[index] ?? { k: "ok", r: [], ms: 1 } as const);
    const answered = { reply: { t: "outcomes", o } as const, text: "" };
    recoverFlight({ lanes, work, frame: 1, ...NO_MS, answered, killed }, remains);
    const question = lanes.takeWork(0, 0);
    assert(question?.kind === "task");
    question.job.resolve({ reply: { t: "ids", ids: [] }, text: "" });
    return work.jobs.length;
  };
  const kinds = () =>
    outcomes.map((one) => {
      if (one instanceof AppError) return one.code;
      return one !== null && "ok" in one && one.ok === false ? one.failure.kind : one;
    });
  return { endChild, kinds };
}

Deno.test("a call that takes too long to commit is answered, its neighbour waits to run again", () => {
  const { endChild, kinds } = world();
  assertEquals(endChild("timeout"), 2);
  assertEquals(kinds(), ["timeout", null]);
  assertEquals(endChild("timeout"), 1);
  assertEquals(kinds(), ["timeout", "timeout"]);
});

Deno.test("a call whose commit was refused keeps that answer though its child ends behind it", () => {
  const { endChild, kinds } = world();
  const f = { kind: "foreign_key_violation", message: "", table: null, columns: [] } as const;
  endChild("timeout", [{ k: "failed", r: [], at: 0, f, ms: 0, w: [0, 0], unlogged: true }]);
  assertEquals(kinds(), ["foreign_key_violation", null]);
});

Deno.test("a call at whose commit two children end is answered, its neighbour waits to run again", () => {
  const { endChild, kinds } = world();
  // Once it is suspected it travels alone.
  assertEquals([endChild(null), endChild(null)], [2, 1]);
  assertEquals(kinds(), ["too_big", null]);
});

Deno.test("a call whose two children somebody else has ended at its commit is blamed for neither", () => {
  const { endChild, kinds } = world();
  const fromOutside = { ...IN_FIRST, byWork: false };
  assertEquals([endChild(null, [], fromOutside), endChild(null, [], fromOutside)], [2, 1]);
  assertEquals(kinds(), ["store_unavailable", null]);
});

Deno.test("a child has ended by its work where it ended itself, or where the system ended it while it was large", () => {
  const MB = 1024 * 1024;
  assertEquals([endedByWork("SIGTRAP", 80 * MB), endedByWork("SIGABRT", NaN)], [true, true]);
  assertEquals([endedByWork("SIGKILL", 400 * MB), endedByWork("SIGKILL", 80 * MB)], [true, false]);
  assertEquals([endedByWork("SIGTERM", 80 * MB), endedByWork("SIGKILL", NaN)], [false, false]);
  assertEquals(endedByWork(null, 400 * MB), false);
});

Deno.test("a question whose child is ended for others' sake is asked once more, a change is not", () => {
  const lanes = new DatabaseLanes("db_1", "ns_1");
  const refusals: string[] = [];
  const begin = (request: { op: "schema" | "create"; db: string }) =>
    lanes.putBackTask({
      ...{ request, resolve: () => {}, queuedMs: 0, crashes: 0 },
      reject: (error) => refusals.push(error instanceof AppError ? error.code : "unknown"),
    }, "write");
  const endChild = (): boolean => {
    const work = lanes.takeWork(0, 0);
    if (work === null) return false;
    recoverFlight({ lanes, work, frame: 1, ...NO_MS, answered: null, killed: "busy" }, {
      progress: null,
      byWork: false,
    });
    return true;
  };
  begin({ op: "schema", db: "db_1" });
  assertEquals([endChild(), refusals], [true, []]);
  assertEquals([endChild(), refusals], [true, ["database_busy"]]);
  assertEquals(endChild(), false);
  begin({ op: "create", db: "db_1" });
  assertEquals([endChild(), refusals], [true, ["database_busy", "database_busy"]]);
  assertEquals(endChild(), false);
});

Deno.test("a question whose children somebody else ends is asked again, one that ends them itself once more only", () => {
  const lanes = new DatabaseLanes("db_1", "ns_1");
  const refusals: string[] = [];
  const begin = () =>
    lanes.putBackTask({
      ...{ request: { op: "schema", db: "db_1" }, resolve: () => {}, queuedMs: 0, crashes: 0 },
      reject: (error) => refusals.push(error instanceof AppError ? error.code : "unknown"),
    }, "read");
  const endChild = (byWork: boolean): boolean => {
    const work = lanes.takeWork(0, 0);
    if (work === null) return false;
    recoverFlight({ lanes, work, frame: 1, ...NO_MS, answered: null, killed: null }, {
      progress: null,
      byWork,
    });
    return true;
  };
  begin();
  for (let ended = 0; ended < 8; ended++) assertEquals([endChild(false), refusals], [true, []]);
  assertEquals([endChild(true), refusals], [true, ["store_unavailable"]]);
  begin();
  assertEquals([endChild(true), endChild(true), endChild(true)], [true, true, false]);
  assertEquals(refusals, ["store_unavailable", "store_unavailable"]);
});

Deno.test("a position that an earlier call has left behind names no statement that the call does not have", () => {
  const lanes = new DatabaseLanes("db_1", "ns_1");
  const outcomes: TenantOutcome[] = [];
  const one = ["INSERT INTO t VALUES (1)"] as const;
  const call = { ...tenantCall(1, "write", [one, one, one]), atomic: true };
  const end = (outcome: TenantOutcome | Error) => void ("ok" in outcome && outcomes.push(outcome));
  lanes.addCall({
    ...{ call, wire: wireCall(call, systemClock), resolve: end, reject: end, queuedMs: 0, crashes: 0 },
  });
  const work = lanes.takeWork(0, 0);
  assert(work);
  const flight = { lanes, work, frame: 1, ...NO_MS, answered: null, killed: "memory" } as const;
  recoverFlight(flight, { progress: { call: 0, statement: 499 }, byWork: false });
  assertEquals(outcomes.map((one) => one.ok === false && one.failedIndex), [2]);
});

Deno.test("a task that needs the database for itself is begun again when its child could not start, before all else", () => {
  const lanes = new DatabaseLanes("db_1", "ns_1");
  const task = (op: "restore" | "schema") => ({
    ...{ request: { op, db: "db_1" } as never, resolve: () => {}, reject: () => {}, queuedMs: 0, crashes: 0 },
  });
  lanes.addTask(task("schema"), "write");
  lanes.held = true;
  lanes.addTask(task("restore"), "exclusive");
  const begun = () => {
    const work = lanes.takeWork(0, 0);
    return work?.kind === "task" ? { work, op: work.job.request.op } : null;
  };
  const first = begun();
  assertEquals([first?.op, begun()], ["restore", null]);
  assert(first);
  returnFlight({ lanes, work: first.work, frame: 1, ...NO_MS, answered: null, killed: null });
  assertEquals([begun()?.op, begun()], ["restore", null]);
  lanes.held = false;
  assertEquals(begun()?.op, "schema");
});
