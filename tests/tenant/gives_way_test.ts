// When work of an engine child counts as slow, so that it gives way to others that wait.
import { assert, assertEquals } from "@std/assert";
import { type LaneFlight, newFlight } from "../../lib/tenant/local/pool/child_slot.ts";
import { DatabaseLanes } from "../../lib/tenant/local/lanes/database_lanes.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { noteTimes } from "../../lib/tenant/local/pool/child_shares.ts";
import { takeBackBehind } from "../../lib/tenant/local/pool/read_train.ts";
import { wireCall } from "../../lib/tenant/local/frames/wire.ts";
import { tenantCall } from "../contracts/tenant_store.ts";
import { givesUp, givesWay } from "../../lib/tenant/local/pool/gives_way.ts";
import { SlowTurns } from "../../lib/tenant/slow_turns.ts";
import type { ChildReport } from "../../lib/tenant/local/pool/progress_files.ts";

/** Others wait for every child, and no slot for slow work is free. */
const crowded = {
  waiting: new Set<DatabaseLanes>(),
  setApart: () => {},
  shares: {
    mayTakeSlot: () => false,
    mayGoWithoutSlot: () => false,
    noteSlowTry: () => {},
    isShort: () => true,
    turns: new SlowTurns(),
  },
};

const inspection = {
  ...{
    request: { op: "inspect", db: "db_1", statements: [], foreignKeysOff: false } as const,
    queuedMs: 0,
    crashes: 0,
  },
  ...{ resolve: () => {}, reject: () => {} },
};

function aFlight(): LaneFlight {
  const work = { kind: "task", job: inspection, lane: "read" } as const;
  return newFlight({
    ...{ lanes: new DatabaseLanes("db_1", "ns_1"), work, frame: 1, slow: null, startedMs: 0 },
  });
}

/** Asks of a statement that is being understood: its child has reported so often, and taken so much processor time. */
function understanding(): (nowMs: number, count: number, cpuMs: number) => boolean {
  const flight = aFlight();
  return (nowMs, count, cpuMs) => {
    const report: ChildReport = {
      count,
      cpuMs: count === 0 ? NaN : cpuMs,
      residentBytes: 1,
      writtenBytes: 0,
      progress: null,
    };
    return givesWay(crowded, flight, report, nowMs);
  };
}

Deno.test("a child that is still starting gives way to nobody, however long the start takes", () => {
  const asked = understanding();
  assertEquals([30, 1_100, 9_000].map((nowMs) => asked(nowMs, 0, 0)), [false, false, false]);
  // What its start took is not what the work takes.
  assertEquals([asked(9_100, 1, 90), asked(9_200, 2, 110), asked(10_000, 3, 130)], [false, false, false]);
  assertEquals(asked(10_100, 4, 131), true);
});

Deno.test("what takes 50 ms of processor time gives way, or a second", () => {
  const busy = understanding();
  assertEquals([busy(30, 1, 70), busy(60, 2, 119), busy(80, 3, 120)], [false, false, true]);
  const waiting = understanding();
  assertEquals([waiting(30, 1, 70), waiting(1_029, 50, 71), waiting(1_030, 51, 71)], [false, false, true]);
});

Deno.test("a statement whose caller has gone may end by itself for a while, unless somebody waits for its child", () => {
  const roomy = { shares: { ...crowded.shares, isShort: () => false } };
  const left = aFlight();
  assertEquals([40, 90, 139].map((nowMs) => givesUp(roomy, left, true, nowMs)), [false, false, false]);
  assertEquals(givesUp(roomy, left, true, 140), true);
  // A call behind it, whose caller waits, has its own time.
  const next = aFlight();
  assertEquals(givesUp(roomy, next, true, 40), false);
  assertEquals(givesUp(crowded, next, false, 60), false);
  assertEquals([130, 229, 230].map((nowMs) => givesUp(roomy, next, true, nowMs)), [false, false, true]);
  assertEquals(givesUp(crowded, aFlight(), true, 40), true);
});

Deno.test("a slow read makes its caller slow where it is answered, and nobody where it was taken back", () => {
  for (const takenBack of [false, true]) {
    for (const told of ["by its outcome", "while it runs"]) {
      const lanes = new DatabaseLanes("db_1", "ns_1");
      const call = tenantCall(1, "read", [["SELECT 1"]]);
      lanes.addCall({ ...inspection, call, wire: wireCall(call, systemClock) });
      const work = lanes.takeWork(0, 0);
      assert(work?.kind === "read");
      const flight = newFlight({ lanes, work, frame: 1, slow: null, startedMs: 0 });
      lanes.flights.add(flight);
      if (takenBack) takeBackBehind({ behind: [flight] }, new Set());
      // What waits to run elsewhere is not what is looked at here.
      lanes.reads.filter(() => false);
      if (told === "by its outcome") noteTimes(flight, work.jobs, [{ k: "ok", r: [], ms: 40 }], 40);
      else {
        const progress = { call: 0, statement: 0 };
        const ends = [1, 60].map((cpuMs, at) =>
          givesWay(
            crowded,
            flight,
            { count: at, cpuMs, residentBytes: 1, writtenBytes: 0, progress },
            30 + at * 60,
          )
        );
        assertEquals(ends, [false, !takenBack]);
      }
      assertEquals(lanes.reads.hasSlow, !takenBack, told);
    }
  }
});
