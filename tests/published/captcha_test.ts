// Captchas: the embedded proof of work, and providers behind siteverify.
import { assert, assertEquals } from "@std/assert";
import { solveChallenge } from "altcha-lib";
import { deriveKey } from "altcha-lib/algorithms/web/pbkdf2";
import { oneStore } from "../testing/cases.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { type PublishedApp, publishedApp } from "./publish.ts";

const { run, test } = oneStore();
Deno.test("captcha", run);

/** What the widget submits for a fresh challenge of the endpoint. */
async function solved(world: PublishedApp, slug: string): Promise<string> {
  const { status, text } = await world.call(`${slug}/captcha`);
  assertEquals(status, 200, text);
  const challenge = JSON.parse(text);
  assertEquals(challenge.parameters.algorithm, "PBKDF2/SHA-256");
  const solution = await solveChallenge({ challenge, deriveKey });
  return btoa(JSON.stringify({ challenge, solution }));
}

const withToken = (token: string) => ({ headers: { "x-captcha-token": token } });

test("a solved challenge counts once, at its endpoint, in its time", async () => {
  const clock = new TurnableClock();
  await using world = await publishedApp({ clock });
  await world.put({ slug: "item", captcha: true });
  await world.put({ slug: "other", captcha: true });
  const [first, second] = [await solved(world, "item"), await solved(world, "item")];
  assertEquals((await world.call("other?id=1", withToken(first))).body.code, "captcha_failed");
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => world.call("item?id=1", withToken(first))),
  );
  assertEquals(answers.map(({ status }) => status).sort(), [200, 403, 403, 403, 403, 403, 403, 403]);
  clock.turn(11 * 60_000);
  assertEquals((await world.call("item?id=1", withToken(second))).status, 403);
});

test("without a token, with a forged or an unsolved one: 403", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "item", captcha: true });
  const good = JSON.parse(atob(await solved(world, "item")));
  const forged = (change: (token: typeof good) => void): string => {
    const copy = structuredClone(good);
    change(copy);
    return btoa(JSON.stringify(copy));
  };
  const tokens = [
    "",
    "nonsense",
    btoa("null"),
    btoa("[]"),
    "A".repeat(20_000),
    forged((token) => token.solution.counter++ && (token.solution.derivedKey = "00".repeat(32))),
    forged((token) => token.challenge.parameters.expiresAt += 3600),
    forged((token) => token.challenge.parameters.cost = 1),
    forged((token) => delete token.challenge.parameters.keySignature),
    forged((token) => token.challenge.signature = "00".repeat(32)),
    forged((token) => token.challenge.parameters.data.endpoint = "other"),
    forged((token) => token.challenge.parameters.algorithm = "SHA-256"),
  ];
  for (const token of tokens) {
    const answer = await world.call("item?id=1", withToken(token));
    assertEquals([answer.status, answer.body.code], [403, "captcha_failed"], token.slice(0, 80));
  }
  const { body } = await world.call("item?id=1");
  assertEquals([body.code, body.error], [
    "captcha_failed",
    "Solve what GET item/captcha gives, and send the token as X-Captcha-Token",
  ]);
  assertEquals((await world.call("item?id=1", withToken(btoa(JSON.stringify(good))))).status, 200);
});

test("a token of 8 KiB is looked at, and a longer one is not", async () => {
  const { asked, options } = withProvider("turnstile", () => Response.json({ success: true }));
  await using provided = await publishedApp(options);
  await provided.put({ slug: "item", captcha: true });
  for (const [length, status] of [[8192, 200], [8193, 403]] as const) {
    assertEquals((await provided.call("item?id=1", withToken("t".repeat(length)))).status, status);
  }
  assertEquals(asked.length, 1);
  await using world = await publishedApp();
  await world.put({ slug: "item", captcha: true });
  for (const [length, status] of [[8196, 403], [8192, 200]] as const) {
    const payload = atob(await solved(world, "item"));
    const token = btoa(payload.padEnd(length / 4 * 3));
    assertEquals([token.length, (await world.call("item?id=1", withToken(token))).status], [length, status]);
  }
});

test("the captcha comes after the rate limit and before the input", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "item", captcha: true, rateLimit: { perDay: 1 } });
  assertEquals((await world.call("item?nonsense")).status, 403);
  assertEquals((await world.call("item?nonsense")).status, 429);
});

test("endpoints that ask for no captcha, drafts and unknown ones hand out no challenge", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "open" });
  await world.put({ slug: "draft", captcha: true }, "draft");
  await world.put({ slug: "paused", captcha: true }, "paused");
  for (const [slug, status] of [["open", 404], ["draft", 404], ["none", 404], ["paused", 503]] as const) {
    assertEquals((await world.call(`${slug}/captcha`)).status, status, slug);
  }
});

/** An app whose captcha provider answers as told. */
function withProvider(provider: string, answer: (form: URLSearchParams) => Response | Promise<Response>) {
  const asked: string[] = [];
  const settings = { CAPTCHA_PROVIDER: provider, CAPTCHA_SITE_KEY: "site", CAPTCHA_SECRET: "s3cret" };
  const standIn: typeof fetch = async (input, init) => {
    asked.push(String(input));
    return await answer(new URLSearchParams(await new Response(init?.body ?? null).text()));
  };
  return { asked, options: { settings, fetch: standIn } };
}

test("siteverify: the provider's word counts", async () => {
  for (
    const [provider, host] of [
      ["turnstile", "challenges.cloudflare.com"],
      ["hcaptcha", "api.hcaptcha.com"],
      ["recaptcha", "www.google.com"],
    ] as const
  ) {
    const { asked, options } = withProvider(provider, (form) => {
      assertEquals([form.get("secret"), form.get("sitekey")], ["s3cret", "site"]);
      return Response.json({ success: form.get("response") === "good" });
    });
    await using world = await publishedApp(options);
    await world.put({ slug: "item", captcha: true });
    assertEquals(JSON.parse((await world.call("item/captcha")).text), { provider, siteKey: "site" });
    assertEquals((await world.call("item?id=1", withToken("good"))).status, 200);
    assertEquals((await world.call("item?id=1", withToken("bad"))).body.code, "captcha_failed");
    assertEquals(asked.map((address) => new URL(address).host), [host, host]);
  }
});

test("siteverify: a provider that is down, wrong or refuses our key is 503, never a pass", async () => {
  const answers: (() => Response)[] = [
    () => {
      throw new TypeError("connection refused");
    },
    () => new Response("oops", { status: 502 }),
    () => Response.json({ success: true }, { status: 500 }),
    () => new Response("<html>"),
    () => Response.json({ success: "true" }),
    () => Response.json(null),
    () => Response.json({ success: false, "error-codes": ["invalid-input-secret"] }),
  ];
  for (const answer of answers) {
    const { options } = withProvider("turnstile", answer);
    await using world = await publishedApp(options);
    await world.put({ slug: "item", captcha: true });
    const refused = await world.call("item?id=1", withToken("any"));
    assertEquals([refused.status, refused.body.code], [503, "captcha_unavailable"]);
    assert(refused.headers.has("retry-after"));
  }
});

test("what a captcha guards is kept by no cache, and says so whatever its owner has saved", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "item", captcha: true, cacheSec: 3600 });
  const { status, headers } = await world.call("item?id=1", withToken(await solved(world, "item")));
  assertEquals([status, headers.get("cache-control")], [200, "no-store"]);
});
