// Which large answers may go to the runtime whole.
import { assertEquals } from "@std/assert";
import { Hono } from "hono";
import { BodyWatch } from "../../lib/guard/body_watch.ts";
import { wholeAnswer } from "../../routes/http/answers.ts";
import { arrivalOf, type Env } from "../../routes/http/env.ts";

Deno.test("a large answer is held as one in turn only for a request that can be none of HTTP/2", async () => {
  const inTurn: boolean[] = [];
  const holdAnswer = (_text: string, _owner: string, turn: boolean) => {
    inTurn.push(turn);
    return null;
  };
  const arrival = { requestId: "req_1", peer: null, bodyWatch: new BodyWatch(1) };
  const app = new Hono<Env>().get("/", (c) => {
    c.set("arrival", arrivalOf(arrival));
    return wholeAnswer(c, "x".repeat(100_000), { status: 200, headers: {} });
  });
  const ask = (init: RequestInit) => app.request("/", init, { holdAnswer });
  await ask({ headers: { host: "a", connection: "keep-alive" } });
  // Both may come by HTTP/2.
  await ask({ headers: { host: "a" } });
  await ask({});
  assertEquals(inTurn, [true, false, false]);
  await ask({ method: "HEAD" });
  assertEquals(inTurn.length, 3);
});
