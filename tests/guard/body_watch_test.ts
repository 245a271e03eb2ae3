import { assertEquals, assertRejects } from "@std/assert";
import { BodyWatch } from "../../lib/guard/body_watch.ts";

Deno.test("BodyWatch passes a body on that arrives in time", async () => {
  const watch = new BodyWatch(2);
  const { promise, resolve } = Promise.withResolvers<string>();
  const watched = watch.watch(promise);
  watch.sweep();
  watch.sweep();
  resolve("body");
  assertEquals(await watched, "body");
  assertEquals(watch.pending, 0);
});

Deno.test("BodyWatch fails a slow body after its sweeps and leaves younger ones alone", async () => {
  const watch = new BodyWatch(2);
  const slow = watch.watch(new Promise(() => {}));
  watch.sweep();
  const { promise, resolve } = Promise.withResolvers<string>();
  const younger = watch.watch(promise);
  watch.sweep();
  watch.sweep();
  await assertRejects(() => slow, /did not arrive in time/);
  assertEquals(watch.pending, 1);
  resolve("body");
  assertEquals(await younger, "body");
});

Deno.test("BodyWatch turns a broken connection into an expected failure", async () => {
  const watch = new BodyWatch(2);
  await assertRejects(() => watch.watch(Promise.reject(new TypeError("broken pipe"))), /did not arrive/);
  assertEquals(watch.pending, 0);
});
