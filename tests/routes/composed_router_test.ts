// The router that makes one handler of all that a request matches, beside the framework's own way: both answer alike.
import { assert, assertEquals } from "@std/assert";
import { type Context, Hono } from "hono";
import type { Router } from "hono/router";
import { RegExpRouter } from "hono/router/reg-exp-router";
import { TrieRouter } from "hono/router/trie-router";
import { ComposedRouter } from "../../routes/composed_router.ts";
import type { Env } from "../../routes/http/env.ts";

type Routes = (app: Hono<Env>, note: (word: string) => void) => void;

const failureAnswer = (error: Error, c: Context<Env>) => c.json({ failed: error.message }, 500);

/** What a request comes to: its answer, and the words that its handlers have noted in their order. */
async function asked(app: Hono<Env>, notes: string[], path: string, method: string) {
  const answer = await Promise.resolve(app.request(path, { method })).then(
    async (answer) => [answer.status, [...answer.headers].sort(), await answer.text()],
    (error) => ["rejected", String(error)],
  );
  return [answer, notes.splice(0)];
}

/** Sends each request to both, and asserts that they answer alike, as `want` tells of the first request. */
async function assertAlike(
  routes: Routes,
  requests: readonly string[],
  want: readonly unknown[],
): Promise<void> {
  for (const makeRouter of [() => new RegExpRouter(), () => new TrieRouter()]) {
    const both = [true, false].map((isComposed) => {
      const inner = makeRouter() as Router<never>;
      const app = new Hono<Env>({ router: isComposed ? new ComposedRouter(inner, failureAnswer) : inner });
      app.onError(failureAnswer).notFound((c) => c.text(`nothing at ${c.req.path}`, 404));
      const notes: string[] = [];
      routes(app, (word) => void notes.push(word));
      return { app, notes };
    });
    for (const [at, request] of requests.entries()) {
      const [method = "", path = ""] = request.split(" ");
      const answers = await Promise.all(both.map(({ app, notes }) => asked(app, notes, path, method)));
      assertEquals(answers[0], answers[1], request);
      const [answer, notes] = answers[0] ?? [];
      if (at === 0) assertEquals([answer?.[0], answer?.at(-1), notes], want);
    }
  }
}

Deno.test("handlers run one inside the other, whether they wait or not", async () => {
  await assertAlike(
    (app, note) => {
      app.use(async (c, next) => {
        note("in");
        await next();
        note("out");
        c.res.headers.append("x-outer", String(c.res.status));
      });
      app.use((_c, next) => next());
      app.use("/a/*", (_c, next) => next().then(() => note("a is over")));
      app.get("/a/at-once", (c) => c.text("at once"), (_c, next) => next());
      app.get("/a/later", async (c) => c.text(await Promise.resolve("later"), 201, { "x-own": "1" }));
    },
    ["GET /a/at-once", "GET /a/later", "HEAD /a/later", "GET /a/none", "POST /a/later", "GET /"],
    [200, "at once", ["in", "a is over", "out"]],
  );
});

Deno.test("a failure is answered where it happens, and whoever waits goes on with that answer", async () => {
  await assertAlike(
    (app, note) => {
      app.use(async (c, next) => {
        await next();
        note(`${c.error?.message}`);
        c.res.headers.append("x-outer", "1");
      });
      app.use("/thrown/*", () => {
        throw new Error("thrown");
      });
      app.use("/late/*", async (_c, next) => {
        await next();
        throw new Error("late");
      });
      app.use("/text", () => Promise.reject("no error"));
      app.get("/handler", () => Promise.reject(new Error("handler")));
      app.get("/at-once", () => {
        throw new Error("at once");
      });
      app.get("/late/answer", (c) => c.text("never seen", 200, { "x-lost": "1" }));
      app.get("/thrown/answer", (c) => c.text("never reached"));
    },
    ["GET /handler", "GET /at-once", "GET /late/answer", "GET /late/none", "GET /thrown/answer", "GET /text"],
    [500, '{"failed":"handler"}', ["handler"]],
  );
});

Deno.test("the first answer counts, and nothing behind one that answers runs", async () => {
  await assertAlike(
    (app, note) => {
      app.use("/early/*", (c) => Promise.resolve(c.text("early")));
      app.use("/both/*", async (c, next) => {
        await next();
        return c.text("second");
      });
      app.use("/replaced/*", async (c, next) => {
        await next();
        c.res = c.text("replaced");
      });
      app.use("/twice/*", async (_c, next) => {
        await next();
        await next();
      });
      app.get("/early/x", (c) => {
        note("reached");
        return c.text("handler");
      });
      for (const path of ["/both/x", "/replaced/x", "/twice/x"] as const) {
        app.get(path, (c) => c.text("handler"));
      }
      app.get("/nothing", () => Promise.resolve() as never);
    },
    ["GET /early/x", "GET /both/x", "GET /replaced/x", "GET /twice/x", "GET /nothing"],
    [200, "early", []],
  );
});

Deno.test("parameters are found by their names, also where two paths mean different parts by one name", async () => {
  const seen = (c: Context<Env>) =>
    JSON.stringify([Object.entries(c.req.param()).sort(), c.req.param("ns" as never) ?? null]);
  await assertAlike(
    (app, note) => {
      app.use("/db/:ns/*", (c, next) => {
        note(c.req.param("ns"));
        return next();
      });
      app.use("/other/:ns/*", (c, next) => {
        note(c.req.param("ns"));
        return next();
      });
      app.get("/db/:ns/:db/query", (c) => c.text(seen(c)));
      app.get("/other/:db/:ns/x", (c) => c.text(seen(c)));
      app.get("/alone/:ns", (c) => c.text(seen(c)));
    },
    [
      "GET /db/a%2Fb/main/query",
      "GET /other/one/two/x",
      "GET /alone/%C3%A4",
      "GET /db/a/b/c",
    ],
    [200, '[[["db","main"],["ns","a/b"]],"a/b"]', ["a/b"]],
  );
});

Deno.test("a match is one handler, with the route of the request's own method", () => {
  const router = new ComposedRouter(new RegExpRouter(), failureAnswer);
  const app = new Hono<Env>({ router });
  app.use((_c, next) => next()).get("/x/:id", (c) => c.text("x"), (_c, next) => next());
  const [handlers] = router.match("GET", "/x/1");
  assertEquals(handlers.map(([[, { method, path }]]) => [method, path]), [["GET", "/x/:id"]]);
  assert(router.match("GET", "/x/2")[0] === handlers, "a route is composed once");
  assertEquals(router.match("GET", "/none")[0].map(([[, { method }]]) => method), ["ALL"]);
});
