// What the lanes of one embedded database say of the work that waits in them, and what of it may run.
import { assert, assertEquals } from "@std/assert";
import { systemClock } from "../../lib/core/clock.ts";
import { plainFailure } from "../../lib/engine/engine_failure.ts";
import type { Level } from "../../lib/engine/guard.ts";
import { DatabaseLanes } from "../../lib/tenant/local/lanes/database_lanes.ts";
import type { Flight } from "../../lib/tenant/local/lanes/jobs.ts";
import { settleGroup } from "../../lib/tenant/local/pool/settle_group.ts";
import { wireCall } from "../../lib/tenant/local/frames/wire.ts";
import { logRow, noFigures } from "../../lib/tenant/log_columns.ts";
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

Deno.test("a file may be read outside its children until somebody replaces it, or waits to", () => {
  const lanes = new DatabaseLanes("db_1", "ns_1");
  addCalls(lanes, "read", 1);
  addCalls(lanes, "write", 1);
  assertEquals(lanes.mayLookUp, true, "whatever else waits reads what has been committed");
  lanes.held = true;
  assertEquals(lanes.mayLookUp, false);
  lanes.held = false;
  lanes.dropped = true;
  assertEquals(lanes.mayLookUp, false);
});

Deno.test("who reads while the slot is free lets go as soon as somebody gets it, and is not forgotten before", () => {
  const lanes = new DatabaseLanes("db_1", "ns_1");
  let letGo = 0;
  const reader = {
    letGo: () => {
      letGo++;
      lanes.writes.reader = null;
    },
  };
  lanes.writes.reader = reader;
  assertEquals([lanes.idle, letGo], [false, 0]);
  lanes.addTask({} as never, "write");
  assertEquals(letGo, 0, "a write that waits changes nothing yet");
  lanes.takeWork(0, 5);
  assertEquals([letGo, lanes.writes.reader], [1, null]);
});

Deno.test("writeTurn changes with each holder of the write slot, and is null while somebody holds it", () => {
  const lanes = new DatabaseLanes("db_1", "ns_1");
  const turns = [lanes.writeTurn];
  addCalls(lanes, "read", 1);
  start(lanes);
  assertEquals(lanes.writeTurn, turns[0], "a read changes nothing");
  addCalls(lanes, "write", 1);
  assertEquals(lanes.writeTurn, turns[0], "neither does a write that waits");
  const writing = start(lanes);
  assertEquals(lanes.writeTurn, null);
  lanes.flights.delete(writing);
  turns.push(lanes.writeTurn);
  lanes.addLease({ resolve: () => {}, reject: () => {}, writerWaits: () => {} });
  lanes.grantLease();
  assertEquals(lanes.writeTurn, null);
  lanes.writes.lease = null;
  turns.push(lanes.writeTurn);
  lanes.flights.clear();
  lanes.held = true;
  lanes.addTask({} as never, "exclusive");
  const replacing = start(lanes);
  assertEquals(lanes.writeTurn, null);
  lanes.flights.delete(replacing);
  turns.push(lanes.writeTurn, new DatabaseLanes("db_1", "ns_1").writeTurn);
  assertEquals(
    [turns.includes(null), new Set(turns).size],
    [false, 5],
    "new lanes begin with a new number",
  );
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

/** Starts what may start, as a child would have it. */
function start(lanes: DatabaseLanes, longMs = 0, atOnce = 1): Flight {
  const work = lanes.takeWork(0, longMs, atOnce);
  assert(work);
  const flight: Flight = {
    work,
    frame: 1,
    startedMs: 0,
    answered: null,
    killed: null,
    killedMs: 0,
    leftMs: null,
    begun: null,
    slow: null,
    heard: { count: 0, sinceMs: 0 },
    seen: { call: 0, statement: 0, sinceMs: 0 },
  };
  lanes.flights.add(flight);
  return flight;
}

Deno.test("of a database's writes one group runs at a time, and reads run beside it", () => {
  const lanes = new DatabaseLanes("db_1", "ns_1");
  addCalls(lanes, "write", 1);
  const writing = start(lanes);
  addCalls(lanes, "write", 1);
  assertEquals([writing.work.kind, lanes.startable(0, 0)], ["write", null]);
  addCalls(lanes, "read", 1);
  assertEquals(start(lanes).work.kind, "read");
  assertEquals(lanes.startable(0, 0), null);
  lanes.flights.delete(writing);
  assertEquals(start(lanes).work.kind, "write");
});

Deno.test("a read whose text was long runs beside another one at once, but not beside two", () => {
  const lanes = new DatabaseLanes("db_1", "ns_1");
  const longMs = 3;
  addCalls(lanes, "read", 1);
  const [known] = lanes.reads.takeQuick(0);
  assert(known);
  addCalls(lanes, "read", 1);
  const first = start(lanes, longMs);
  addCalls(lanes, "read", 1);
  assertEquals(lanes.startable(0, longMs), null, "nobody knows that it is long");
  lanes.reads.charge(known, 5, 0);
  lanes.flights.delete(first);
  addCalls(lanes, "read", 2);
  start(lanes, longMs);
  start(lanes, longMs);
  assertEquals([lanes.startable(0, longMs), lanes.reads.length], [null, 1]);
});

Deno.test("where two groups of reads may be under way at once, each has half of what waits, and a third one waits", () => {
  const lanes = new DatabaseLanes("db_1", "ns_1");
  const sizes: number[] = [];
  const take = () => {
    const flight = start(lanes, 3, 2);
    sizes.push(flight.work.kind === "task" ? 0 : flight.work.jobs.length);
    return flight;
  };
  addCalls(lanes, "read", 9);
  const first = take();
  take();
  addCalls(lanes, "read", 6);
  assertEquals([lanes.startable(0, 3, 2), lanes.startable(0, 3)], [null, null]);
  lanes.flights.delete(first);
  assertEquals(lanes.startable(0, 3), null, "others wait for the child");
  take();
  assertEquals(sizes, [5, 4, 6]);
  addCalls(lanes, "write", 1);
  addCalls(lanes, "read", 1);
  lanes.flights.clear();
  assertEquals(start(lanes, 3, 2).work.kind, "write", "reads and writes take turns");
});

Deno.test("many reads that take a child less than the service travel in one group", () => {
  const lanes = new DatabaseLanes("db_1", "ns_1");
  addCalls(lanes, "read", 11);
  assertEquals(lanes.pace.groups(lanes.reads.length), 2);
  addCalls(lanes, "read", 1);
  assertEquals(lanes.pace.groups(lanes.reads.length), 1);
  for (let group = 0; group < 20; group++) lanes.pace.note(2, 20);
  assertEquals(lanes.pace.groups(lanes.reads.length), 2);
  for (let group = 0; group < 20; group++) lanes.pace.note(0.4, 20);
  assertEquals(lanes.pace.groups(lanes.reads.length), 1);
});

Deno.test("log rows that travelled with a group of writes wait again when nothing of the group was committed", () => {
  const { lanes, work, lastId } = writesBeside(1);
  assertEquals([work.logRows.length, lanes.log.length], [1, 0]);
  const f = plainFailure("full", "");
  settleGroup(lanes, work, { reply: { t: "failed", f }, text: "" });
  assert(lanes.log.take(10).some((row) => row[0] === lastId));
});

Deno.test("a group of writes takes a few log rows along, and none where many wait", () => {
  for (const [rows, taken] of [[64, 64], [65, 0]] as const) {
    assertEquals(writesBeside(rows).work.logRows.length, taken);
  }
});

/** A group of writes that has started while log rows of reads waited. */
function writesBeside(logRows: number) {
  const lanes = new DatabaseLanes("db_1", "ns_1");
  let lastId = "";
  for (let row = 0; row < logRows; row++) {
    const { log } = tenantCall(1, "read", [["SELECT 1"]]);
    assert(log);
    lanes.log.add(logRow({ ...log, ...noFigures }));
    lastId = log.id;
  }
  addCalls(lanes, "write", 1);
  const { work } = start(lanes);
  assert(work.kind === "write");
  return { lanes, work, lastId };
}
