// What namespaces may have the operator's language model asked, over HTTP as an app asks: it costs the operator money.
import { assert, assertEquals } from "@std/assert";
import { usage } from "../money/money_world.ts";
import { type PublishedApp, publishedApp } from "../published/publish.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";

const question = { body: { question: "Tell me a joke" } };

/** A server that never answers with a statement, and how often it was asked. `held`: it answers when that has ended. */
interface StandIn extends AsyncDisposable {
  readonly url: string;
  asked: number;
  held: Promise<void>;
  /** It waits for nothing when it was asked more often. */
  most: number;
}

function standIn(): StandIn {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    await request.body?.cancel();
    model.asked++;
    if (model.asked <= model.most) await model.held;
    return Response.json({ choices: [{ message: { content: "Two rows walk into a bar" } }] });
  });
  const model: StandIn = {
    url: `http://127.0.0.1:${server.addr.port}/v1`,
    asked: 0,
    held: Promise.resolve(),
    most: 16,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
  return model;
}

async function askWorld(
  { url }: StandIn,
  settings: Record<string, string> = {},
  clock = new TurnableClock(),
): Promise<PublishedApp> {
  const world = await publishedApp({ clock, settings: { ASK_URL: url, ...settings } });
  await world.put({
    ...{ slug: "ask", kind: "ask", method: "POST", sql: "", output: "answer" },
    input: [{ name: "question", type: "text", required: true, maxLength: 500 }],
    askConfig: { allowedTables: ["item"] },
  });
  return world;
}

Deno.test("a question is paid before the model is asked, whatever comes of it, and nobody is asked for who cannot pay", async () => {
  await using model = standIn();
  await using world = await askWorld(model);
  const { app, acme } = world;
  const requests = async () => {
    await app.deps.query.meter.tick();
    return [...(await usage(app, acme)).values()].reduce((sum, one) => sum + one.requests, 0);
  };
  // The first question reads the schema.
  assertEquals((await world.call("ask", question)).body.code, "ask_refused");
  const before = await requests();
  for (let n = 0; n < 3; n++) assertEquals((await world.call("ask", question)).status, 422);
  assertEquals([model.asked, await requests() - before], [4, 3]);
  const capped = await app.request("PATCH", `/api/namespaces/${acme.slug}`, {
    token: app.operatorKey,
    body: { monthlyCapUsd: 0 },
  });
  assertEquals(capped.status, 200, capped.text);
  const { status, body } = await world.call("ask", question);
  assertEquals([status, body.code, model.asked], [402, "monthly_cap_reached", 4]);
});

Deno.test("a namespace has the model asked ASK_PER_DAY times in a day, and is told when it may ask again", async () => {
  await using model = standIn();
  const clock = new TurnableClock();
  await using world = await askWorld(model, { ASK_PER_DAY: "2" }, clock);
  for (let n = 0; n < 2; n++) assertEquals((await world.call("ask", question)).status, 422);
  const { status, body, headers } = await world.call("ask", question);
  assertEquals([status, body.code, model.asked], [429, "rate_limited", 2]);
  const waitSec = Number(headers.get("retry-after"));
  assert(waitSec > 0 && waitSec <= 86_400, String(waitSec));
  clock.turn(waitSec * 1000);
  assertEquals([(await world.call("ask", question)).status, model.asked], [422, 3]);
});

Deno.test("sixteen questions of a namespace are with the model at once; those beyond are refused, and nothing waits for them", async () => {
  await using model = standIn();
  await using world = await askWorld(model);
  const { promise, resolve: answer } = Promise.withResolvers<void>();
  assertEquals((await world.call("ask", question)).status, 422);
  model.held = promise;
  model.asked = 0;
  const asking = Array.from({ length: 20 }, () => world.call("ask", question));
  try {
    // The others wait for the model, so only the four can have been answered.
    assertEquals(await firstOf(4, asking.map(refusal)), Array(4).fill([503, "ask_unavailable", "5"]));
  } finally {
    answer();
  }
  const codes = (await Promise.all(asking)).map(({ body }) => body.code);
  assertEquals(codes.filter((code) => code === "ask_unavailable").length, 4);
  assertEquals([codes.filter((code) => code === "ask_refused").length, model.asked], [16, 16]);
  assertEquals((await world.call("ask", question)).body.code, "ask_refused");
});

/** What the first so many answer. */
function firstOf<Answer>(count: number, asking: readonly Promise<Answer>[]): Promise<Answer[]> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer[]>();
  const answers: Answer[] = [];
  for (const one of asking) {
    one.then((answer) => {
      answers.push(answer);
      if (answers.length === count) resolve([...answers]);
    }, reject);
  }
  return promise;
}

async function refusal(asking: ReturnType<PublishedApp["call"]>): Promise<unknown[]> {
  const { status, body, headers } = await asking;
  return [status, body.code, headers.get("retry-after")];
}
