// How many approvals of a namespace wait, and whether one has changed: told without reading any of them.
import { assertEquals, assertNotEquals } from "@std/assert";
import { APPROVAL_MS, Approvals, MOST_WAITING } from "../../lib/control/approvals.ts";
import { MAX_OPEN_APPROVALS } from "../../lib/core/limits.ts";
import { newId } from "../../lib/core/ids.ts";
import type { ApprovalRecord } from "../../lib/store/write_records.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";

Deno.test("approvals that wait are counted up to a bound, and not after a decision or their deadline", async () => {
  const kv = await Deno.openKv(":memory:");
  try {
    const clock = new TurnableClock();
    const approvals = new Approvals(kv, clock);
    const counted = async () => [await approvals.countWaiting("ns_a"), await approvals.countWaiting("ns_b")];
    assertEquals([await approvals.markOf("ns_a"), ...await counted()], ["none", 0, 0]);
    const first = recordAt(clock.now());
    await approvals.add(first);
    const held = await approvals.markOf("ns_a");
    assertEquals(await counted(), [1, 0]);
    const looked = await approvals.move(first, "pending", { look: 1 });
    const shown = await approvals.markOf("ns_a");
    assertEquals(await counted(), [1, 0]);
    await approvals.move(looked ?? first, "pending", { state: "approved" });
    assertEquals(await counted(), [0, 0]);
    const marks = new Set(["none", held, shown, await approvals.markOf("ns_a")]);
    assertEquals(marks.size, 4);
    for (let more = 0; more < MOST_WAITING + 5; more++) {
      await approvals.add({ ...recordAt(clock.now()), databaseId: `db_${more % 2}` });
    }
    assertEquals(await counted(), [MOST_WAITING, 0]);
    clock.turn(APPROVAL_MS);
    assertEquals(await counted(), [0, 0]);
    assertNotEquals(await approvals.markOf("ns_a"), "none");
    assertEquals(await approvals.markOf("ns_b"), "none");
  } finally {
    kv.close();
  }
});

Deno.test("additions at the same moment do not make each other count again, and those of two processes stay within the bound", async () => {
  const kv = await Deno.openKv(":memory:");
  let commits = 0;
  const atomic = kv.atomic.bind(kv);
  kv.atomic = () => {
    const operation = atomic();
    const commit = operation.commit.bind(operation);
    operation.commit = () => (commits++, commit());
    return operation;
  };
  try {
    const clock = new TurnableClock();
    const [one, other] = [new Approvals(kv, clock), new Approvals(kv, clock)];
    const half = MAX_OPEN_APPROVALS / 2;
    const add = (to: Approvals) => to.add(recordAt(clock.now()));
    const alone = await Promise.all(Array.from({ length: half }, () => add(one)));
    assertEquals([new Set(alone), commits], [new Set(["added"]), half]);
    const both = await Promise.all(Array.from({ length: half + 10 }, (_, at) => add(at % 2 ? one : other)));
    assertEquals(both.filter((one) => one === "too_many").length, 10);
    assertEquals(both.filter((one) => one === "added").length, half);
  } finally {
    kv.close();
  }
});

function recordAt(now: number): ApprovalRecord {
  return {
    id: newId("apv", now),
    tokenHash: crypto.randomUUID(),
    namespaceId: "ns_a",
    databaseId: "db_a",
    databaseSlug: "main",
    branchRef: "main",
    requestedBy: "tok_a",
    state: "pending",
    hits: [],
    affectedRows: 1,
    tolerance: 0,
    createdAt: now,
    expiresAt: now + APPROVAL_MS,
    decidedAt: null,
    reason: null,
    pieces: 1,
  };
}
