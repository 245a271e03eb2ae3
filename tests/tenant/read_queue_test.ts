// In which order the reads of one database start, when some callers have slow ones.
import { assert, assertEquals } from "@std/assert";
import { systemClock } from "../../lib/core/clock.ts";
import type { CallJob } from "../../lib/tenant/local/lanes/jobs.ts";
import { ReadQueue } from "../../lib/tenant/read_queue.ts";
import { SlowTurns, TURN_MS } from "../../lib/tenant/slow_turns.ts";
import { wireCall } from "../../lib/tenant/local/frames/wire.ts";
import { tenantCall } from "../contracts/tenant_store.ts";

const NOBODY = () => {};
const of = (key: string) => ({ namespaceId: "ns_1", key });
const NO_TURN = {
  hadTurnMs: () => null,
  beginTurn: () => {
    throw new TypeError("it may not begin");
  },
};
const ALL = { mayTry: () => true, mayTakeSlot: () => true, ...NO_TURN };
const NO_SLOT = { mayTry: () => true, mayTakeSlot: () => false, ...NO_TURN };

function jobOf(tokenId: string, sql: string): CallJob {
  const made = tenantCall(1, "read", [[sql]]);
  const call = { ...made, log: made.log && { ...made.log, tokenId } };
  return {
    ...{ call, wire: wireCall(call, systemClock), resolve: NOBODY, reject: NOBODY },
    ...{ queuedMs: 0, crashes: 0 },
  };
}

/** A queue with those reads, and them. */
function queueOf(...reads: readonly (readonly [tokenId: string, sql: string])[]) {
  const queue = new ReadQueue<CallJob>();
  const jobs = reads.map(([tokenId, sql]) => jobOf(tokenId, sql));
  for (const job of jobs) assertEquals(queue.add(job), true);
  return { queue, jobs };
}

const texts = (jobs: readonly CallJob[] = []) => jobs.map(({ call }) => call.statements[0]?.sql);

Deno.test("reads of callers without slow ones start together, in their order", () => {
  const { queue } = queueOf(["a", "1"], ["b", "2"], ["a", "3"]);
  assertEquals([queue.nextQuick(0), texts(queue.takeQuick(0))], ["others", ["1", "2", "3"]]);
  assertEquals([queue.nextQuick(0), queue.length, queue.hasSlow], ["none", 0, false]);
});

Deno.test("a caller with a slow read holds up nobody else, whatever its other texts are", () => {
  const { queue, jobs } = queueOf(["a", "slow"], ["a", "x"], ["b", "2"], ["a", "slow"], ["a", "y"]);
  const [slow] = jobs.slice(0, 1);
  queue.filter((job) => job !== slow);
  if (slow) queue.noteSlow(slow, 0);
  assertEquals(texts(queue.takeQuick(0)), ["2"]);
  assertEquals(queue.nextQuick(0), "none");
  // Without a slot the newest of its other texts may show that it is quick, one at a time; the slow text may not.
  const tried = [1, 2, 3].map(() => texts(queue.takeSlow(0, NO_SLOT)?.jobs));
  assertEquals(tried, [["y"], ["x"], []]);
  assertEquals(texts(queue.takeSlow(0, ALL)?.jobs), ["slow"]);
});

Deno.test("callers with slow reads take turns for the slots", () => {
  const { queue, jobs } = queueOf(["a", "s"], ["a", "s"], ["a", "s"], ["b", "s"], ["b", "s"]);
  for (const job of jobs) queue.noteSlow(job, 0);
  const tokens = [1, 2, 3, 4].map(() => queue.takeSlow(0, ALL)?.slow.tokenId);
  assertEquals(tokens, ["a", "b", "a", "b"]);
});

Deno.test("without a slot the caller is next that has had the turn least, with what has had it least", () => {
  const { queue, jobs } = queueOf(["a", "1"], ["a", "2"], ["b", "3"], ["c", "4"]);
  for (const job of jobs) queue.noteSlow(job, 0);
  const had = new Map([["a", 5], ["b", 9]]);
  const gates = {
    ...NO_SLOT,
    hadTurnMs: (tokenId: string | null) => tokenId === "c" ? null : had.get(tokenId ?? "") ?? 0,
    beginTurn: (tokenId: string | null) => new SlowTurns().begin(of(tokenId ?? ""), 0),
  };
  const [first] = queue.takeSlow(0, gates)?.jobs ?? [];
  if (first) queue.putBack([first]);
  assertEquals(texts(first ? [first] : []), ["1"]);
  assertEquals([...queue.slowWaiters(0)].map(({ slow }) => slow), ["new", "new", "new"]);
  assertEquals(texts(queue.takeSlow(0, gates)?.jobs), ["2"]);
  had.set("a", 10);
  assertEquals(queue.takeSlow(0, gates)?.slow.turn?.key, "b");
  assertEquals(queue.takeSlow(0, gates)?.slow.tokenId, "a");
  assertEquals(queue.takeSlow(0, gates), null);
});

Deno.test("a turn is over when somebody waits who has had a second less of it, or a new read of its caller after a second", () => {
  const turns = new SlowTurns();
  const first = turns.begin(of("a"), 0);
  const isOver = (key: string, isNew: boolean, nowMs: number) =>
    turns.isOver(first, [{ ...of(key), isNew }], nowMs);
  assertEquals([isOver("b", false, TURN_MS - 1), isOver("b", false, TURN_MS)], [false, true]);
  assertEquals([isOver("a", false, TURN_MS), isOver("a", true, TURN_MS)], [false, true]);
  assertEquals([turns.isOver(first, [], 9 * TURN_MS), turns.hadMs("a")], [false, 9 * TURN_MS]);
  // What never ends holds up no caller that came later, until that one has had it as long.
  const second = turns.begin(of("b"), 9 * TURN_MS);
  const until = (nowMs: number) => turns.isOver(second, [{ ...of("a"), isNew: true }], nowMs);
  assertEquals([until(18 * TURN_MS), until(19 * TURN_MS)], [false, true]);
  turns.begin(of("c"), 100 * TURN_MS);
  assertEquals([turns.hadMs("a"), turns.hadMs("b")], [0, 0]);
});

Deno.test("a read of some seconds ends in one of its turns beside an endless one that came with it", () => {
  const turns = new SlowTurns();
  const [long, endless] = [{ key: "a", had: 0, longestMs: 0 }, { key: "b", had: 0, longestMs: 0 }];
  let nowMs = 0;
  for (let n = 0; n < 8; n++) {
    const [one, other] = turns.hadMs("a") <= turns.hadMs("b") ? [long, endless] : [endless, long];
    const sinceMs = nowMs;
    const turn = turns.begin(of(one.key), nowMs, ++one.had);
    do nowMs += 100; while (!turns.isOver(turn, [{ ...of(other.key), isNew: false }], nowMs));
    one.longestMs = Math.max(one.longestMs, nowMs - sinceMs);
  }
  assert(long.longestMs >= 8 * TURN_MS, String(long.longestMs));
});

Deno.test("twenty tokens of a namespace have the turn together for as long as one token of another", () => {
  const turns = new SlowTurns();
  const many = Array.from({ length: 20 }, (_, n) => ({ namespaceId: "ns_many", key: `m${n}`, isNew: false }));
  const waiting = [...many, { namespaceId: "ns_one", key: "o", isNew: false }];
  const order: string[] = [];
  for (let nowMs = 0, n = 0; n < 6; n++) {
    const next = waiting.find((one) => !turns.comesLater(one, waiting)) ?? waiting[0];
    if (!next) break;
    order.push(next.key);
    const turn = turns.begin(next, nowMs);
    do nowMs += 100; while (!turns.isOver(turn, waiting.filter((one) => one !== next), nowMs));
  }
  assertEquals(order, ["m0", "o", "m1", "m2", "o", "m3"]);
});

Deno.test("how long somebody has had the turn is forgotten where none begins too, and of at most ten thousand callers", () => {
  const turns = new SlowTurns();
  turns.add(of("a"), 5, 0);
  turns.add(of("b"), 5, 60_001);
  assertEquals([turns.hadMs("a"), turns.hadMs("b")], [0, 5]);
  for (let n = 0; n < 10_000; n++) turns.add(of(`c${n}`), 5, 60_002);
  assertEquals([turns.hadMs("b"), turns.hadMs("c0"), turns.hadMs("c9999")], [0, 5, 5]);
});

Deno.test("who has had the turn alone for an hour waits no hour for it beside somebody who comes then", () => {
  const turns = new SlowTurns();
  turns.add(of("a"), 3_600_000, 0);
  const turn = turns.begin(of("b"), 0);
  const isOver = (nowMs: number) => turns.isOver(turn, [{ ...of("a"), isNew: false }], nowMs);
  assertEquals([isOver(32 * TURN_MS), isOver(33 * TURN_MS)], [false, true]);
});

Deno.test("a caller is among the others again when none of its reads was slow for ten seconds", () => {
  const { queue, jobs } = queueOf(["a", "s"]);
  const [job] = queue.takeQuick(0);
  if (job) queue.noteSlow(job, 0);
  queue.add(jobOf("a", "2"));
  assertEquals([queue.nextQuick(9_999), queue.nextQuick(10_000)], ["none", "others"]);
  assertEquals([texts(queue.takeQuick(10_000)), queue.hasSlow, jobs.length], [["2"], false, 1]);
});

Deno.test("a text that has run quickly in its slot is tried with others again", () => {
  const { queue, jobs } = queueOf(["a", "s"]);
  const [job] = queue.takeQuick(0);
  if (!job) throw new Error("it did not start");
  queue.noteSlow(job, 0);
  queue.forget(job);
  queue.add(jobOf("a", "s"));
  assertEquals(texts(queue.takeSlow(1, NO_SLOT)?.jobs), ["s"]);
  assertEquals(jobs.length, 1);
});

Deno.test("a caller whose reads keep children busy comes after the others, in frames of its own", () => {
  const { queue, jobs } = queueOf(["a", "1"], ["a", "2"], ["b", "3"], ["c", "4"]);
  const [first, , third] = jobs;
  if (first) queue.charge(first, 40, 0);
  if (third) queue.charge(third, 10, 0);
  assertEquals([queue.nextQuick(0), texts(queue.takeQuick(0))], ["others", ["4"]]);
  assertEquals([queue.nextQuick(0), texts(queue.takeQuick(0))], ["busy", ["3"]]);
  for (const text of ["1", "2"]) {
    assertEquals([queue.nextQuick(0), texts(queue.takeQuick(0))], ["busy", [text]]);
  }
});

Deno.test("of several reads a part may start, of a few all do", () => {
  const { queue } = queueOf(["a", "1"], ["b", "2"], ["a", "3"], ["b", "4"], ["a", "5"], ["b", "6"]);
  assertEquals([queue.takeQuick(0, 2), queue.takeQuick(0, 2)].map(texts), [["1", "2", "3"], ["4", "5", "6"]]);
});

Deno.test("a read whose text was long travels alone, until one of that text was short", () => {
  const { queue, jobs: [first] } = queueOf(["a", "long"], ["a", "x"], ["a", "y"], ["a", "long"], [
    "a",
    "long",
  ]);
  const take = () => {
    const jobs = queue.takeQuick(0);
    return [texts(jobs), jobs[0]?.lasts ?? false];
  };
  if (first) queue.charge(first, 5, 0);
  assertEquals([take(), take(), take()], [[["long"], true], [["x", "y"], false], [["long"], true]]);
  if (first) queue.noteShort(first);
  queue.add(jobOf("a", "z"));
  assertEquals(take(), [["long", "z"], false]);
});

Deno.test("a long read that is put back may travel with others", () => {
  const { queue, jobs: [first] } = queueOf(["a", "long"]);
  if (!first) throw new Error("there is none");
  queue.charge(first, 5, 0);
  assertEquals(queue.takeQuick(0)[0]?.lasts, true);
  queue.putBack([first]);
  assertEquals(queue.nextQuick(1000), "others");
  assertEquals([texts(queue.takeQuick(1000)), first.lasts], [["long"], false]);
});

Deno.test("a caller that kept a child busy for long comes after the others for a second at most", () => {
  const { queue, jobs } = queueOf(["a", "1"], ["a", "2"]);
  const [first] = jobs;
  if (first) queue.charge(first, 60_000, 0);
  assertEquals([queue.nextQuick(999), queue.nextQuick(1000)], ["busy", "others"]);
});

Deno.test("what was taken back from beside a slow read travels with its caller's only", () => {
  const { queue, jobs } = queueOf(["a", "1"], ["b", "2"], ["a", "3"]);
  queue.filter(() => false);
  for (const job of jobs) job.again = true;
  queue.putBack(jobs);
  assertEquals([texts(queue.takeQuick(0)), texts(queue.takeQuick(0))], [["1", "3"], ["2"]]);
});

Deno.test("a caller with slow reads fills no queue: its thousand and first that waits is refused", () => {
  const { queue, jobs: [job] } = queueOf(["a", "s"]);
  if (job) queue.noteSlow(job, 0);
  const taken = Array.from({ length: 1000 }, (_, n) => queue.add(jobOf("a", `${n}`)));
  assertEquals(taken.filter((one) => !one).length, 1);
  assertEquals(queue.add(jobOf("b", "2")), true);
});
