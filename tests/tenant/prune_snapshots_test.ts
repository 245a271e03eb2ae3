// Which snapshots stay when there are more than are kept.
import { assertEquals } from "@std/assert";
import { HOUR_MS } from "../../lib/core/clock.ts";
import { pruneSnapshots } from "../../lib/tenant/snapshots.ts";

const NOW_MS = 1_000 * HOUR_MS;
const BOUNDS = { nowMs: NOW_MS, keepMs: 168 * HOUR_MS };

/** `auto` or a label, and how many seconds ago. */
function snapshot(name: string, ageSec: number) {
  return {
    label: `${name}-${ageSec}`,
    createdAt: NOW_MS - ageSec * 1000,
    sizeBytes: 1,
    automatic: name === "auto",
  };
}

function many(name: string, count: number, ageSec: (n: number) => number) {
  return Array.from({ length: count }, (_, n) => snapshot(name, ageSec(n)));
}

function droppedOf(snapshots: readonly ReturnType<typeof snapshot>[]): string[] {
  const { kept, dropped } = pruneSnapshots(snapshots, BOUNDS);
  assertEquals(kept, snapshots.filter((one) => !dropped.includes(one)));
  return dropped.map(({ label }) => label);
}

Deno.test("fifty snapshots stay, in the order in which they were given, and what is too old goes", () => {
  const fifty = many("auto", 50, (n) => n);
  assertEquals(droppedOf(fifty), []);
  assertEquals(droppedOf([...fifty, snapshot("mine", 169 * 3600)]), ["mine-608400"]);
});

Deno.test("automatic ones in the middle of a burst go first, then the oldest, and labelled ones stay", () => {
  const apart = many("auto", 47, (n) => n * 3600);
  const burst = [70, 30, 10].map((sec) => snapshot("auto", 20 * 3600 + sec));
  assertEquals(droppedOf([snapshot("mine", 500_000), ...burst, ...apart]), ["auto-72030"]);
  assertEquals(droppedOf([snapshot("mine", 500_000), ...many("auto", 51, (n) => n * 3600)]), [
    "auto-176400",
    "auto-180000",
  ]);
});

Deno.test("of two that follow each other the first goes before the oldest that stands alone", () => {
  const alone = many("auto", 48, (n) => (n + 1) * 3600);
  const pair = [snapshot("auto", 30 * 3600 + 1800), snapshot("auto", 30 * 3600 + 1820)];
  assertEquals(droppedOf([...alone, ...pair, snapshot("mine", 500_000)]), ["auto-109820"]);
});

Deno.test("the first of a burst stays, however many follow it and however many have labels", () => {
  const burst = many("auto", 200, (n) => 100 + n / 10);
  const first = snapshot("auto", 130);
  const labelled = many("mine", 200, (n) => n / 10);
  const dropped = droppedOf([...many("auto", 5, (n) => 3600 * (n + 1)), first, ...burst, ...labelled]);
  assertEquals(dropped.length, 406 - 50);
  assertEquals(dropped.includes(first.label), false);
  const alone = snapshot("mine", 500_000);
  assertEquals(droppedOf([alone, first, ...labelled]).includes(alone.label), false);
});

Deno.test("where twenty automatic ones have places, labelled ones go, and the newest ten automatic ones stay", () => {
  const labelled = many("mine", 50, (n) => 1000 + n);
  assertEquals(droppedOf([snapshot("auto", 0), ...labelled]), ["mine-1048"]);
  assertEquals(
    droppedOf([...many("auto", 20, (n) => n), ...labelled]).sort(),
    [
      ...many("auto", 9, (n) => 10 + n),
      ...many("mine", 11, (n) => 1038 + n),
    ].map(({ label }) => label).sort(),
  );
  const spread = many("auto", 25, (n) => n * 3600);
  const others = many("mine", 40, (n) => 1000 + n * 3600);
  assertEquals(
    droppedOf([...spread, ...others]).sort(),
    [...spread.slice(20), ...others.slice(30)].map(({ label }) => label).sort(),
  );
});

Deno.test("labelled ones take every place that automatic ones leave", () => {
  assertEquals(droppedOf(many("mine", 52, (n) => n)), ["mine-49", "mine-50"]);
  assertEquals(droppedOf([...many("mine", 47, (n) => n), ...many("auto", 3, (n) => 100 + n)]), []);
});

Deno.test("those of a clock that has been put back go before what is taken afterwards, whatever they are called", () => {
  for (const name of ["auto", "mine"]) {
    const ahead = many(name, 50, (n) => -(n + 1) * 3600);
    for (const taken of ["auto", "mine"]) {
      assertEquals(droppedOf([snapshot(taken, 0), ...ahead]), [`${name}--3600`], `${name} ${taken}`);
    }
  }
  const ahead = many("auto", 45, (n) => -(n + 1) * 3600);
  const since = many("auto", 20, (n) => n * 120);
  const dropped = droppedOf([...since, ...ahead]);
  assertEquals(dropped.length, 15);
  assertEquals(dropped.filter((label) => !label.startsWith("auto--")), []);
});
