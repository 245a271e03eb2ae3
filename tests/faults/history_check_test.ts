// The check of histories by itself: it takes what has an order, and finds what a database without one would do.
import { assertEquals, assertMatch } from "@std/assert";
import { type HistoryCall, historyFaults, type Step } from "./history_check.ts";

function call(startMs: number, endMs: number, steps: Step[], more: Partial<HistoryCall> = {}): HistoryCall {
  return { name: "a call", steps, startMs, endMs, outcome: "done", ...more };
}

const append = (list: number, value: number): Step => ({ list, appends: value });
const read = (list: number, ...reads: number[]): Step => ({ list, reads });

function found(calls: HistoryCall[], lists: Record<number, number[]>): string {
  return historyFaults(calls, new Map(Object.entries(lists).map(([list, values]) => [Number(list), values])))
    .join();
}

Deno.test("a history that has an order is taken, whatever overlaps and whatever has no answer", () => {
  const calls = [
    call(0, 10, [append(1, 1)]),
    call(5, 15, [read(1)]),
    call(12, 20, [append(1, 2), append(2, 3)]),
    call(12, 20, [read(1, 1), read(2)]),
    call(21, Infinity, [append(1, 4)], { outcome: "unknown" }),
    call(21, Infinity, [append(1, 5)], { outcome: "unknown" }),
    call(30, 40, [read(1, 1, 2, 4)]),
    call(30, 40, [append(1, 6)], { outcome: "refused" }),
  ];
  assertEquals(found(calls, { 1: [1, 2, 4], 2: [3] }), "");
});

Deno.test("what is lost, twice, torn or refused and there all the same is found", () => {
  const one = [call(0, 1, [append(1, 1)])];
  assertMatch(found(one, { 1: [] }), /^lost/);
  assertMatch(found(one, { 1: [1, 1] }), /^1 is there twice/);
  assertMatch(found([call(0, 1, [append(1, 1)], { outcome: "refused" })], { 1: [1] }), /^1 is there/);
  const torn = call(0, Infinity, [append(1, 1), append(1, 2)], { outcome: "unknown" });
  assertMatch(found([torn], { 1: [1] }), /^torn/);
  assertMatch(found([...one, call(0, 1, [read(1, 2)])], { 1: [1] }), /^read what never was/);
});

Deno.test("a read that is too old, two reads that contradict each other and a write skew are found", () => {
  const late = [call(0, 10, [append(1, 1)]), call(11, 12, [read(1)])];
  assertMatch(found(late, { 1: [1] }), /^no order/);
  const crossed = [
    call(0, 10, [append(1, 1)]),
    call(0, 10, [append(2, 2)]),
    call(0, 10, [read(1, 1), read(2)]),
    call(0, 10, [read(1), read(2, 2)]),
  ];
  assertMatch(found(crossed, { 1: [1], 2: [2] }), /^no order/);
  const skew = [call(0, 10, [read(1), append(2, 2)]), call(0, 10, [read(2), append(1, 1)])];
  assertMatch(found(skew, { 1: [1], 2: [2] }), /^no order/);
});
