import { assertEquals, assertRejects } from "@std/assert";
import { FASTER, untilCommitted } from "../../lib/store/until_committed.ts";

Deno.test("untilCommitted() answers what the first attempt in which nobody was faster answers", async () => {
  let count = 0;
  assertEquals(await untilCommitted(() => Promise.resolve(++count < 3 ? FASTER : null)), null);
  assertEquals(count, 3);
});

Deno.test("untilCommitted() gives up when others are faster every time", async () => {
  let count = 0;
  const attempt = () => {
    count++;
    return Promise.resolve(FASTER);
  };
  await assertRejects(() => untilCommitted<null>(attempt), /meter_unreachable|again/i);
  assertEquals(count, 64);
});

Deno.test("untilCommitted() makes no second attempt behind an error", async () => {
  let count = 0;
  const attempt = () => {
    count++;
    return Promise.reject(new RangeError("no attempt"));
  };
  await assertRejects(() => untilCommitted<null>(attempt), /no attempt/);
  assertEquals(count, 1);
});
