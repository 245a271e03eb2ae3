import { assertEquals, assertRejects } from "@std/assert";
import { BodyWatch } from "../../lib/guard/body_watch.ts";

function same<Body>(body: Body): Body {
  return body;
}

Deno.test("BodyWatch passes a body on that arrives in time", async () => {
  const watch = new BodyWatch(2);
  const { promise, resolve } = Promise.withResolvers<string>();
  const watched = watch.watch(promise, same);
  watch.sweep();
  watch.sweep();
  resolve("body");
  assertEquals(await watched, "body");
  assertEquals(watch.pending, 0);
});

Deno.test("BodyWatch fails a slow body after its sweeps and leaves younger ones alone", async () => {
  const watch = new BodyWatch(2);
  const slow = watch.watch(new Promise(() => {}), same);
  watch.sweep();
  const { promise, resolve } = Promise.withResolvers<string>();
  const younger = watch.watch(promise, same);
  watch.sweep();
  watch.sweep();
  await assertRejects(() => slow, /did not arrive in time/);
  assertEquals(watch.pending, 1);
  resolve("body");
  assertEquals(await younger, "body");
});

Deno.test("BodyWatch asks once more about the caller of a body that a sweep has come before, and makes nothing of it without leave", async () => {
  for (const late of [false, true]) {
    const watch = new BodyWatch(2);
    const { promise, resolve } = Promise.withResolvers<string>();
    const made: string[] = [];
    const leave = () => {
      made.push("asked");
      throw new Error("revoked");
    };
    const watched = watch.watch(promise, (body) => void made.push(body), { late: leave });
    if (late) watch.sweep();
    resolve("body");
    if (late) await assertRejects(() => watched, /revoked/);
    else await watched;
    assertEquals(made, [late ? "asked" : "body"]);
  }
});

Deno.test("BodyWatch turns a broken connection into an expected failure", async () => {
  const watch = new BodyWatch(2);
  await assertRejects(
    () => watch.watch(Promise.reject(new TypeError("broken pipe")), same),
    /did not arrive/,
  );
  assertEquals(watch.pending, 0);
});

Deno.test("BodyWatch gives what is made of a body, or the error of making it", async () => {
  const watch = new BodyWatch(2);
  assertEquals(await watch.watch(Promise.resolve("body"), (body) => body.length), 4);
  const failing = () => {
    throw new RangeError("no such text");
  };
  await assertRejects(() => watch.watch(Promise.resolve("body"), failing), /no such text/);
  assertEquals(watch.pending, 0);
});

Deno.test("a stop waits for each body that is on its way, one that was refused and still arrives counted once", async () => {
  const watch = new BodyWatch(2);
  const bodies = [1, 2, 3].map(() => Promise.withResolvers<string>());
  const [first, ...others] = bodies.map(({ promise }) => watch.watch(promise, same));
  const stopping = watch.arrived();
  let hasStopped = false;
  void stopping.then(() => hasStopped = true);
  assertEquals(watch.endFirst(), true);
  await assertRejects(() => first ?? Promise.resolve(), /service/);
  bodies[0]?.resolve("late");
  bodies[1]?.resolve("body");
  await others[0];
  await Promise.resolve();
  assertEquals([hasStopped, watch.pending], [false, 1]);
  bodies[2]?.resolve("body");
  assertEquals(await others[1], "body");
  await stopping;
});

Deno.test("BodyWatch lets a body that keeps coming take four times as long, and one that trickles no longer than others", async () => {
  const watch = new BodyWatch(2);
  const bodies = ["steady", "trickling", "for ever"].map((address) => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const arriving = { receivedBytes: 0, address };
    return { arriving, resolve, watched: watch.watch(promise, same, { arriving }) };
  });
  const [steady, trickling, forEver] = bodies;
  const sweep = (times: number) => {
    for (let time = 0; time < times; time++) {
      for (const body of bodies) body.arriving.receivedBytes += body === trickling ? 4096 : 8192;
      watch.sweep();
    }
  };
  sweep(3);
  await assertRejects(async () => await trickling?.watched, /did not arrive in time/);
  sweep(4);
  assertEquals(watch.pending, 2);
  steady?.resolve("body");
  assertEquals(await steady?.watched, "body");
  sweep(2);
  await assertRejects(async () => await forEver?.watched, /did not arrive in time/);
  assertEquals(watch.pending, 0);
});

Deno.test("BodyWatch has patience with eight bodies of an address, with 64 in all, and with no other during a stop", async () => {
  const watch = new BodyWatch(2);
  const ended: string[] = [];
  const begin = (address: string) => {
    const arriving = { receivedBytes: 1_000_000, address };
    watch.watch(new Promise(() => {}), same, { arriving }).catch(() => ended.push(address));
  };
  const sweepAll = async () => {
    for (let time = 0; time < 3; time++) watch.sweep();
    await Promise.resolve();
  };
  for (let body = 0; body < 10; body++) begin("one");
  await sweepAll();
  assertEquals([watch.pending, ended], [8, ["one", "one"]]);
  for (let body = 0; body < 60; body++) begin(`other ${body}`);
  await sweepAll();
  assertEquals([watch.pending, ended.length], [64, 6]);
  // The one that has been on its way for longest is one of these.
  watch.endFirst();
  await Promise.resolve();
  assertEquals([watch.pending, ended.at(-1)], [63, "one"]);
  begin("late");
  const stopping = watch.arrived();
  await sweepAll();
  // A stop lets no other on, and waits for those that have been, but for those whose time is over: the seven of one address.
  assertEquals([watch.pending, ended.at(-1)], [56, "late"]);
  while (watch.endFirst());
  await stopping;
});
