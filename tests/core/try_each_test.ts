// Work on many things, of which some fail, several at a time.
import { assertEquals, assertRejects } from "@std/assert";
import { pause } from "../../lib/core/pause.ts";
import { tryEach } from "../../lib/core/try_each.ts";

Deno.test("each thing is worked on, no more at a time than asked for, and the first failure is told at the end", async () => {
  for (const atOnce of [1, 3, 20]) {
    const done: number[] = [];
    let now = 0;
    let most = 0;
    const work = async (thing: number) => {
      most = Math.max(most, ++now);
      await pause((thing * 7) % 5);
      now--;
      if (thing % 4 === 1) throw new RangeError(`${thing}`);
      done.push(thing);
    };
    await assertRejects(() => tryEach(Array(10).keys(), work, atOnce), /^RangeError/);
    assertEquals(done.toSorted((a, b) => a - b), [0, 2, 3, 4, 6, 7, 8]);
    assertEquals([most, now], [Math.min(atOnce, 10), 0]);
  }
});

Deno.test("where the list itself fails, what was begun has ended by then", async () => {
  const done: number[] = [];
  async function* things() {
    yield 1;
    yield 2;
    await Promise.resolve();
    throw new TypeError("the list");
  }
  const work = async (thing: number) => {
    await pause(5);
    done.push(thing);
  };
  await assertRejects(() => tryEach(things(), work, 5), /the list/);
  assertEquals(done, [1, 2]);
});
