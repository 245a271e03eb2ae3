// Steps whose request or answer is a file: which answers are kept, and what becomes of streams that nobody reads to their end.
import { assertEquals } from "@std/assert";
import { Hono } from "hono";
import type { Context } from "hono";
import { BodyWatch } from "../../lib/guard/body_watch.ts";
import { Replays } from "../../lib/control/replays.ts";
import { arrivalOf, type Env } from "../../routes/http/env.ts";
import { wholeAnswer } from "../../routes/http/answers.ts";
import { planOfFiles } from "../../routes/middleware/plan_of_files.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";

const MAX_BYTES = 100;
const headers = { "plan-key": "plan", "plan-step": "1" };
const place = { namespaceId: "ns_1", namespaceSlug: "acme" };
const target = { ...place, databaseId: "db_1", databaseSlug: "main", branchRef: "main" };
const token = { ...place, kind: "token", tokenId: "tok_1", name: "t", scopes: [], expiresAt: null } as const;

type Handler = (c: Context<Env>) => Promise<Response>;

/** Calls a step that is answered by `handler`; the numbers are those of its runs. */
async function withSteps(
  handler: Handler,
  body: (call: (init?: RequestInit) => Promise<Response>, runs: () => number) => Promise<void>,
): Promise<void> {
  using kv = await Deno.openKv(":memory:");
  const clock = new TurnableClock();
  let runs = 0;
  const app = new Hono<Env>().use(async (c, next) => {
    c.set("arrival", arrivalOf({ requestId: "req_1", peer: null, bodyWatch: new BodyWatch(1) }));
    c.set("target", { ...target, role: "admin" });
    c.set("token", { ...token, role: "admin" });
    await next();
    assertEquals(c.get("arrival").wholeAnswer === c.res, c.res.headers.has("x-whole"));
  }).use(planOfFiles({ replays: new Replays(kv, clock), clock, maxBytes: MAX_BYTES }));
  app.all("*", (c) => {
    runs++;
    return handler(c);
  });
  const call = async (init: RequestInit = {}) =>
    await app.request("/v1/db/acme/main/import", { method: "POST", headers, ...init });
  await body(call, () => runs);
}

/** A stream of so many pieces of ten bytes, and whether somebody has cancelled it. */
function pieces(count: number) {
  const told = { cancelled: false };
  let left = count;
  const stream = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (left-- > 0) controller.enqueue(new Uint8Array(10).fill(65));
      else controller.close();
    },
    cancel: () => {
      told.cancelled = true;
    },
  }, { highWaterMark: 0 });
  return { stream, told };
}

const readAll = async (c: Context<Env>) => (await new Response(c.get("upload")).bytes()).length;

Deno.test("an answer up to the bound is kept, and a longer one comes whole and is made anew", async () => {
  for (const [length, isKept] of [[MAX_BYTES, true], [MAX_BYTES + 1, false]] as const) {
    await withSteps(async (c) => {
      await readAll(c);
      return wholeAnswer(c, "x".repeat(length), { status: 200, headers: { "x-whole": "1" } });
    }, async (call, runs) => {
      for (let again = 0; again < 2; again++) {
        const answer = await call({ body: pieces(3).stream });
        assertEquals([answer.status, (await answer.text()).length], [200, length]);
        assertEquals(answer.headers.get("plan-replayed"), isKept && again > 0 ? "true" : null);
      }
      assertEquals(runs(), isKept ? 1 : 2);
    });
  }
});

Deno.test("what is no 200, and what was answered without reading the file, is not kept", async () => {
  const answers: Handler[] = [
    async (c) => c.json({ read: await readAll(c) }, 202),
    async (c) => c.json({ read: await readAll(c) }, 409),
    (c) => Promise.resolve(c.json({})),
  ];
  for (const answer of answers) {
    await withSteps(answer, async (call, runs) => {
      for (let again = 0; again < 2; again++) await (await call({ body: pieces(3).stream })).body?.cancel();
      assertEquals(runs(), 2);
    });
  }
});

Deno.test("a file that nobody reads is read no further, and an answer that nobody reads is made no further", async () => {
  const file = pieces(1000);
  await withSteps((c) => Promise.resolve(c.json({}, 400)), async (call) => {
    await (await call({ body: file.stream })).body?.cancel();
  });
  assertEquals(file.told.cancelled, true);
  const made = pieces(1000);
  await withSteps((c) => Promise.resolve(c.body(made.stream)), async (call) => {
    const answer = await call();
    assertEquals(made.told.cancelled, false);
    await answer.body?.cancel();
  });
  assertEquals(made.told.cancelled, true);
});
