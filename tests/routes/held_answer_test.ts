// Which large answers may go to the runtime whole, whose they are, and how many long ones of a namespace are made at a time.
import { assertEquals } from "@std/assert";
import { Hono } from "hono";
import { BodyWatch } from "../../lib/guard/body_watch.ts";
import { wholeAnswer } from "../../routes/http/answers.ts";
import { arrivalOf, type Env } from "../../routes/http/env.ts";
import { sendLongAnswer } from "../../routes/http/long_answer.ts";

const peer: Deno.NetAddr = { transport: "tcp", hostname: "192.0.2.1", port: 1 };
const arrival = () => arrivalOf({ requestId: "req_1", peer, bodyWatch: new BodyWatch(1) });

/** What was asked of the connection. */
interface Held {
  readonly owner: string;
  readonly inTurn: boolean;
}

function heldApp(length = 100_000) {
  const held: Held[] = [];
  const expected: number[] = [];
  const connection: Env["Bindings"] = {
    holdAnswer: (text, owner, inTurn) => {
      held.push({ owner, inTurn });
      return owner === "whole" ? null : { body: new Blob([text]).stream(), sizeBytes: text.length };
    },
    expectLargeAnswer: (bytes) => void expected.push(bytes),
  };
  const app = new Hono<Env>().use(async (c, next) => {
    c.set("arrival", arrival());
    await next();
  });
  const answer = (c: Parameters<typeof wholeAnswer>[0]) =>
    wholeAnswer(c, "x".repeat(length), { status: 200, headers: { "content-type": "text/plain" } });
  app.get("/", answer).get("/of/:ns", answer);
  app.get("/plan/:ns/:kept", (c) => {
    c.set("plan", { key: "k", requestHash: "h" });
    if (c.req.param("kept") === "1") c.set("storedForPlan", true);
    return answer(c);
  });
  const ask = (path: string, init: RequestInit = {}) => app.request(path, init, connection);
  return { held, expected, ask };
}

Deno.test("a large answer is held as one in turn only for a request that can be none of HTTP/2", async () => {
  const { held, ask } = heldApp();
  await ask("/of/acme", { headers: { host: "a", connection: "keep-alive" } });
  // Both may come by HTTP/2.
  await ask("/of/acme", { headers: { host: "a" } });
  await ask("/of/acme");
  assertEquals(held.map(({ inTurn }) => inTurn), [true, false, false]);
  await ask("/of/acme", { method: "HEAD" });
  assertEquals(held.length, 3);
});

Deno.test("a large answer is its namespace's, else its client's, and tells its length where it is sent in pieces", async () => {
  const { held, expected, ask } = heldApp();
  for (const [path, length] of [["/of/acme", "100000"], ["/", "100000"], ["/of/whole", null]] as const) {
    const answer = await ask(path);
    assertEquals([answer.headers.get("content-length"), (await answer.text()).length], [length, 100_000]);
  }
  assertEquals(held.map(({ owner }) => owner), ["acme", "192.0.2.1", "whole"]);
  assertEquals(expected, []);
});

Deno.test("of an answer above a megabyte the connection is told that its client may take long", async () => {
  const { expected, ask } = heldApp(1024 * 1024 + 1);
  await (await ask("/of/acme")).body?.cancel();
  assertEquals(expected, [1024 * 1024 + 1]);
});

Deno.test("the answer of a step is held only where it is kept elsewhere: it is read once more", async () => {
  const { held, ask } = heldApp();
  await ask("/plan/acme/0");
  assertEquals(held, []);
  await (await ask("/plan/acme/1")).body?.cancel();
  assertEquals(held.length, 1);
});

Deno.test("long answers of a namespace are made one after the other, each when the one before is on its way no more", async () => {
  const done: string[] = [];
  const settled = [
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
  ];
  let asked = 0;
  const app = new Hono<Env>().get("/:ns/:name", (c) => {
    c.set("arrival", arrival());
    const { ns, name } = c.req.param();
    const text = () => {
      done.push(name);
      return Promise.resolve(name);
    };
    return sendLongAnswer(c, { namespaceSlug: ns, headers: { "content-type": "text/plain" }, text });
  });
  const ask = (path: string) =>
    app.request(path, {}, { answersSettled: () => settled[asked++]?.promise ?? Promise.resolve() });
  const answers = ["/acme/first", "/acme/second", "/other/third"].map(ask);
  settled[1]?.resolve();
  // That of another namespace waits for neither.
  assertEquals(await (await answers[2])?.text(), "third");
  assertEquals(done, ["third"]);
  settled[0]?.resolve();
  await answers[0];
  assertEquals(done, ["third", "first"]);
  settled[2]?.resolve();
  await answers[1];
  assertEquals(done, ["third", "first", "second"]);
});
