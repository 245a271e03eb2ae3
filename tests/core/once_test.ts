// once(): made at its first use, for all, and again behind a failure.
import { assertEquals, assertRejects } from "@std/assert";
import { once } from "../../lib/core/once.ts";

Deno.test("once() makes the value for all who ask, and makes it again where it has failed", async () => {
  let made = 0;
  const get = once(() => ++made === 1 ? Promise.reject(new Error("the first")) : Promise.resolve(made));
  const both = [get(), get()];
  for (const one of both) await assertRejects(() => one, /the first/);
  assertEquals(await Promise.all([get(), get()]), [2, 2]);
  assertEquals(await get(), 2);
});
