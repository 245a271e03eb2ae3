// How people get in and out: by password, by the operator key, by links, and what happens to a form whose session has
// ended or is old. Passkeys need a browser: tests/browser/console_people_test.ts.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { authenticateSession } from "../../lib/access/authenticate_session.ts";
import { addMember } from "../../lib/services/people/manage_members.ts";
import { addPasskey, beginPasskey } from "../../lib/services/people/use_passkeys.ts";
import { ownPath } from "../../routes/console/frame/own_path.ts";
import type { ApiAnswer } from "../testing/call_api.ts";
import { oneStore, testSteps } from "../testing/cases.ts";
import { signIn } from "../testing/person.ts";
import { SoftwarePasskey } from "../testing/software_passkey.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { openPage, sendForm } from "./open_page.ts";

const { run, test } = oneStore();
Deno.test("sign in", run);

const PASSWORD = "otter lamp velvet harbour";

/** The path of a new link, for somebody who is not there yet. */
async function linkFor({ deps }: StartedApp, namespaceSlug: string, email: string): Promise<string> {
  const ctx = { ...deps, caller: { kind: "operator" } as const };
  const { inviteUrl } = await addMember(ctx, { namespaceSlug, email, role: "admin" });
  return new URL(inviteUrl).pathname;
}

/** What a browser sends of the cookie that an answer sets. */
function cookieOf({ headers }: ApiAnswer): string {
  const cookie = headers.getSetCookie().find((one) => one.startsWith("cubby="))?.split(";")[0];
  assert(cookie !== undefined && cookie.length > 20, "no session");
  return cookie;
}

/** The hidden field of a page. */
function hidden(page: ApiAnswer, name: string): string {
  const value = new RegExp(`name="${name}" value="([^"]*)"`).exec(page.text)?.[1];
  assert(value !== undefined, `${name} in ${page.text}`);
  return value.replaceAll("&amp;", "&").replaceAll("&#39;", "'").replaceAll("&quot;", '"');
}

interface World {
  readonly app: StartedApp;
  readonly slug: string;
  readonly email: string;
}

async function member(app: StartedApp, slug: string): Promise<World> {
  await app.namespace(slug);
  const email = `ada@${slug}.example`;
  const path = await linkFor(app, slug, email);
  const come = await sendForm(app, { path, fields: { name: "Ada", password: PASSWORD }, person: null });
  assertEquals([come.status, come.headers.get("location")], [303, `/console/${slug}`]);
  return { app, slug, email };
}

const enter = ({ app, slug, email }: World, more: Record<string, string> = {}) =>
  sendForm(app, {
    path: "/console/-/sign-in",
    fields: { namespace: slug, email, password: PASSWORD, ...more },
    person: null,
  });

testSteps("the ways into the console", member, {
  "a name that somebody has pointed at this machine gets no page, and nobody may frame the answer": async (
    { app },
  ) => {
    const rebound = await openPage(app, "/console/-/sign-in", null, { host: "evil.example" });
    assertEquals([rebound.status, rebound.headers.get("x-frame-options")], [421, "DENY"]);
    assertMatch(rebound.headers.get("content-security-policy") ?? "", /default-src 'none'/);
    assertMatch(rebound.headers.get("content-type") ?? "", /^text\/plain/);
  },
  "a link counts once, and looking at it uses nothing up": async ({ app, slug }) => {
    const path = await linkFor(app, slug, "bob@example.com");
    for (let look = 0; look < 2; look++) {
      const page = await openPage(app, path, null);
      assertEquals(page.status, 200);
      assertMatch(page.text, /bob@example\.com/);
    }
    const weak = await sendForm(app, { path, fields: { password: "password12" }, person: null });
    assertEquals(weak.status, 400);
    assertMatch(weak.text, /role="alert"|class="wrong"/);
    const form = { path, fields: { password: PASSWORD }, person: null };
    assertEquals((await sendForm(app, form)).status, 303);
    assertEquals([(await sendForm(app, form)).status, (await openPage(app, path, null)).status], [404, 404]);
  },

  "who is signed in already comes in by a link and signs in anew, which ends the session of before": async (
    world,
  ) => {
    const { app, slug } = world;
    const operator = await signIn(app, { role: "operator" });
    const path = await linkFor(app, slug, "first@example.com");
    const fields = { password: PASSWORD };
    // As the forms of both pages are: they know nothing of a session.
    const send = (form: { path: string; fields: Record<string, string> }, cookie: string, more = {}) =>
      sendForm(app, { ...form, person: null, headers: { cookie, ...more } });
    const forged = await send({ path, fields }, operator.cookie, { origin: "https://evil.example" });
    assertEquals(forged.status, 403);
    assertMatch((await openPage(app, path, operator)).text, /signed in here as Operator/);
    const come = await send({ path, fields }, operator.cookie);
    assertEquals([come.status, come.headers.get("location")], [303, `/console/${slug}`], come.text);
    assertEquals((await openPage(app, "/console/-/namespaces", operator)).status, 302);
    const typed = { namespace: slug, email: world.email, password: PASSWORD };
    const again = await send({ path: "/console/-/sign-in", fields: typed }, cookieOf(come));
    assertEquals([again.status, again.headers.get("location")], [303, `/console/${slug}`]);
    const account = (cookie: string) => openPage(app, "/console/-/account", null, { cookie });
    assertMatch((await account(cookieOf(again))).text, /Ada<small>/);
    assertEquals((await account(cookieOf(come))).status, 302);
    // What is done by a session still carries its word.
    assertEquals((await send({ path: "/console/-/sign-out", fields: {} }, cookieOf(again))).status, 403);
  },

  "a member signs in by password and is led to the page that was asked for": async (world) => {
    const asked = await openPage(world.app, `/console/${world.slug}/usage?span=week`, null);
    assertEquals(asked.status, 302);
    const signInPath = asked.headers.get("location") ?? "";
    const page = await openPage(world.app, signInPath, null);
    assertEquals(hidden(page, "next"), `/console/${world.slug}/usage?span=week`);
    assertMatch(page.text, new RegExp(`name="namespace"[^>]* value="${world.slug}"`));
    const answer = await enter(world, { next: hidden(page, "next") });
    assertEquals([answer.status, answer.headers.get("location")], [
      303,
      `/console/${world.slug}/usage?span=week`,
    ]);
    const inside = await openPage(world.app, `/console/${world.slug}`, null, { cookie: cookieOf(answer) });
    assertEquals(inside.status, 200);
    assertMatch(inside.text, /Ada<small>ada@/);
    const first = await openPage(world.app, "/console", null, { cookie: cookieOf(answer) });
    assertEquals([first.status, first.headers.get("location")], [302, `/console/${world.slug}`]);
  },

  "the session's cookie is not for scripts, not for other sites' requests, and new at each sign-in": async (
    world,
  ) => {
    const [first, second] = [await enter(world), await enter(world)];
    const set = first.headers.getSetCookie().join("\n");
    for (const part of ["HttpOnly", "Path=/", "SameSite=Lax", "Max-Age="]) assert(set.includes(part), set);
    assert(cookieOf(first) !== cookieOf(second));
  },

  "a wrong password, an unknown address and an unknown namespace are answered alike, and what was typed stays":
    async (
      { app, slug, email },
    ) => {
      const texts: string[] = [];
      for (const [namespace, address] of [[slug, email], [slug, "nobody@example.com"], ["nowhere", email]]) {
        const fields = { namespace: `${namespace}`, email: `${address}`, password: "not the password" };
        const answer = await sendForm(app, { path: "/console/-/sign-in", fields, person: null });
        assertEquals(answer.status, 401);
        assertMatch(answer.text, new RegExp(`name="email"[^>]* value="${address}"`));
        assert(!answer.text.includes("not the password"));
        texts.push(/<div class="notice bad"[^]*?<\/div><\/div>/.exec(answer.text)?.[0] ?? "none");
      }
      assertEquals(new Set(texts).size, 1);
      assertMatch(texts[0] ?? "", /Check what you have typed/);
    },

  "a page of another namespace asks whoever belongs to both to sign in there, and leads back": async (
    world,
  ) => {
    const { app, slug, email } = world;
    const other = await member(app, `${slug}-other`);
    const cookie = cookieOf(await enter(other));
    const asked = `/console/${slug}/usage?span=week`;
    const page = await openPage(app, asked, null, { cookie });
    assertEquals(page.status, 403);
    assertMatch(page.text, new RegExp(`name="namespace"[^>]* value="${slug}"`));
    const fields = { namespace: slug, email, password: PASSWORD, next: hidden(page, "next") };
    const path = "/console/-/sign-in";
    const entered = await sendForm(app, { path, fields, person: null, headers: { cookie } });
    assertEquals([entered.status, entered.headers.get("location")], [303, asked]);
  },

  "a sign-in leads nowhere but into the console": async (world) => {
    const { headers } = await enter(world, { next: "//evil.example" });
    assertEquals(headers.get("location"), `/console/${world.slug}`);
  },

  "the operator comes in with the key, and nobody with another one": async ({ app }) => {
    const page = await openPage(app, "/console/-/sign-in?by=key", null);
    assertMatch(page.text, /name="operatorKey"/);
    const path = "/console/-/sign-in/key";
    const wrong = await sendForm(app, { path, fields: { operatorKey: "cub_op_wrong" }, person: null });
    assertEquals(wrong.status, 401);
    assert(!wrong.text.includes("cub_op_wrong"));
    const right = await sendForm(app, { path, fields: { operatorKey: app.operatorKey }, person: null });
    assertEquals([right.status, right.headers.get("location")], [303, "/console"]);
    const list = await openPage(app, "/console/-/namespaces", null, { cookie: cookieOf(right) });
    assertEquals(list.status, 200);
    assert(!app.logLines.join("\n").includes(app.operatorKey));
  },

  "a sign-out ends the session everywhere and tells the browser to forget": async (world) => {
    const person = await signIn(world.app, { role: "viewer", namespace: world.slug });
    const out = await sendForm(world.app, { path: "/console/-/sign-out", fields: {}, person });
    assertEquals([out.status, out.headers.get("location")], [303, `/console/-/sign-in?ns=${world.slug}`]);
    assertEquals(out.headers.get("clear-site-data"), '"cache"');
    assertMatch(out.headers.getSetCookie().join(), /^cubby=;.*Max-Age=0/);
    assertEquals((await openPage(world.app, `/console/${world.slug}`, person)).status, 302);
  },

  "a form whose session has ended is kept over the sign-in, and sent by another click": async (world) => {
    const { app, slug } = world;
    const fields = { name: "for the <b>shop</b>", role: "read", password: "not kept" };
    const path = `/console/${slug}/tokens`;
    const ended = await sendForm(app, { path, fields: { ...fields, csrf: "of before" }, person: null });
    assertEquals(ended.status, 401);
    assert(!ended.text.includes("not kept") && !ended.text.includes("of before"));
    const waiting = { to: hidden(ended, "to"), typed: hidden(ended, "typed") };
    assertEquals(waiting.to, path);
    // Who comes in by the key has typed as much: the form for it is on the same page, with the same behind it.
    assertMatch(
      ended.text,
      /action="[^"]*\/sign-in\/key"(?:(?!<\/form>)[^])*name="typed"[^]*name="operatorKey"/,
    );
    const back = await enter(world, { ...waiting, next: path });
    assertEquals(back.status, 200);
    assertEquals(hidden(back, "name"), "for the &lt;b&gt;shop&lt;/b&gt;");
    const sent = await sendForm(app, {
      path: hidden(back, "csrf") === "" ? "none" : path,
      fields: { csrf: hidden(back, "csrf"), name: "shop", role: hidden(back, "role") },
      headers: { cookie: cookieOf(back) },
      person: null,
    });
    assertEquals(sent.status, 201);
  },

  "a form of a page that was opened before another sign-in is kept, and sent by another click": async (
    world,
  ) => {
    const { app, slug } = world;
    const [before, now] = [cookieOf(await enter(world)), cookieOf(await enter(world))];
    const old = await openPage(app, `/console/${slug}`, null, { cookie: before });
    const path = `/console/${slug}/databases`;
    const send = (fields: Record<string, string>, more = {}) =>
      sendForm(app, { path, fields, person: null, headers: { cookie: now, ...more } });
    const fields = { csrf: hidden(old, "csrf"), slug: "kept", name: "Kept" };
    const forged = await send(fields, { origin: "https://evil.example" });
    assertEquals([forged.status, /name="csrf"[^>]*>[^]*name="slug"/.test(forged.text)], [403, false]);
    const back = await send(fields);
    assertEquals([back.status, hidden(back, "slug")], [403, "kept"]);
    assertMatch(back.text, new RegExp(`action="${path}"`));
    const sent = await send({ ...fields, csrf: hidden(back, "csrf") });
    assertEquals(sent.status, 303, sent.text);
  },

  "what waits behind a sign-in goes nowhere but into the console": async (world) => {
    const back = await enter(world, { to: "https://evil.example/", typed: "a=1" });
    assertMatch(back.text, /action="\/console" method="post"/);
    assert(!back.text.includes("evil.example"));
  },
}, test);

test("what cannot be taken back asks an old session for a proof, and is done behind it", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  const { email, slug } = await member(app, "acme");
  const signedIn = await enter({ app, slug, email });
  const cookie = cookieOf(signedIn);
  const page = await openPage(app, "/console/acme/tokens", null, { cookie });
  const csrf = hidden(page, "csrf");
  const send = (path: string, fields: Record<string, string>) =>
    sendForm(app, { path, fields: { csrf, ...fields }, headers: { cookie }, person: null });
  clock.turn(16 * 60_000);
  const asked = await send("/console/acme/tokens", { name: "backend", role: "read" });
  assertEquals(asked.status, 403);
  assertMatch(asked.text, /Confirm that it is you/);
  assertMatch(asked.text, /<main class="alone"/);
  assert(!asked.text.includes("with a passkey"), "Ada has none");
  const changing = await send("/console/-/account/password", { password: "a new secret of mine" });
  assertEquals([hidden(changing, "to"), hidden(changing, "typed")], ["/console/-/account/password", ""]);
  const waiting = { to: hidden(asked, "to"), typed: hidden(asked, "typed") };
  const wrong = await send("/console/-/prove", { ...waiting, password: "wrong one, sorry" });
  assertEquals(wrong.status, 401);
  assertEquals(hidden(wrong, "typed"), waiting.typed);
  assertMatch(wrong.text, /neither the password nor a passkey of this account/);
  const done = await send("/console/-/prove", { ...waiting, password: PASSWORD });
  assertEquals(done.status, 201);
  assertMatch(done.text, /cub_live_/);
  // The scripts of what is shown once may run: they have the button that copies it.
  const nonce = /<script[^>]* nonce="([^"]+)"/.exec(done.text)?.[1] ?? "none";
  assertMatch(done.headers.get("content-security-policy") ?? "", new RegExp(`'nonce-${nonce}'`));
  assertEquals((await send("/console/acme/tokens", { name: "another", role: "read" })).status, 201);
  const names = await openPage(app, "/console/acme/tokens", null, { cookie });
  assertEquals(names.text.match(/>backend</g)?.length, 1);
});

test("who has only a passkey is asked for no password", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  await app.namespace();
  const person = await signIn(app, { role: "admin" });
  const signedIn = await authenticateSession(app.deps, person.secret, { now: true });
  assert(signedIn);
  const ctx = { ...app.deps.people, caller: signedIn.caller };
  const passkey = await SoftwarePasskey.in({ origin: "http://localhost", rpId: "localhost" });
  await addPasskey(ctx, { name: "Laptop", answer: await passkey.make(await beginPasskey(ctx)) });
  clock.turn(16 * 60_000);
  const fields = { name: "backend", role: "read" };
  const asked = await sendForm(app, { path: "/console/acme/tokens", fields, person });
  assertMatch(asked.text, /Confirm with a passkey/);
  assert(!/<input[^>]* type="password"/.test(asked.text), asked.text);
});

test("settings keep their cap without a proof, and another cap asks for one", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  const { email, slug } = await member(app, "acme");
  const cookie = cookieOf(await enter({ app, slug, email }));
  const page = await openPage(app, "/console/acme/settings", null, { cookie });
  const csrf = hidden(page, "csrf");
  const send = (path: string, fields: Record<string, string>) =>
    sendForm(app, { path, fields: { csrf, ...fields }, headers: { cookie }, person: null });
  clock.turn(16 * 60_000);
  const named = await send("/console/acme/settings", { name: "Acme Limited", monthlyCapUsd: "" });
  assertEquals([named.status, named.headers.get("location")], [303, "/console/acme/settings?saved"]);
  const asked = await send("/console/acme/settings", { name: "Acme Limited", monthlyCapUsd: "25" });
  assertMatch(asked.text, /Confirm that it is you/);
  const waiting = { to: hidden(asked, "to"), typed: hidden(asked, "typed") };
  const done = await send("/console/-/prove", { ...waiting, password: PASSWORD });
  assertEquals([done.status, done.headers.get("location")], [303, "/console/acme/settings?saved"], done.text);
  assertMatch((await openPage(app, "/console/acme/settings", null, { cookie })).text, /value="25"/);
});

test("a new password ends every other session, and the page stays signed in", async () => {
  await using app = await startApp();
  const { email, slug } = await member(app, "acme");
  const [here, elsewhere] = [await enter({ app, slug, email }), await enter({ app, slug, email })];
  const page = await openPage(app, "/console/-/account", null, { cookie: cookieOf(here) });
  assertMatch(page.text, /this one/);
  const answer = await sendForm(app, {
    path: "/console/-/account/password",
    fields: { csrf: hidden(page, "csrf"), password: "walnut anchor silk meadow" },
    headers: { cookie: cookieOf(here) },
    person: null,
  });
  assertEquals([answer.status, answer.headers.get("location")], [303, "/console/-/account?done=password"]);
  const statuses: number[] = [];
  for (const cookie of [cookieOf(answer), cookieOf(here), cookieOf(elsewhere)]) {
    statuses.push((await openPage(app, "/console/-/account", null, { cookie })).status);
  }
  assertEquals(statuses, [200, 302, 302]);
});

test("the page of the account ends one session, or all but its own", async () => {
  await using app = await startApp();
  const { email, slug } = await member(app, "acme");
  const cookies: string[] = [];
  for (let n = 0; n < 4; n++) cookies.push(cookieOf(await enter({ app, slug, email })));
  const [cookie = "", ...others] = cookies;
  const page = await openPage(app, "/console/-/account", null, { cookie });
  const ends = [...page.text.matchAll(/action="(\/console\/-\/account\/sessions\/[^"/]+\/end)"/g)];
  const send = (path: string) =>
    sendForm(app, { path, fields: { csrf: hidden(page, "csrf") }, headers: { cookie }, person: null });
  const left = async () => {
    const statuses = others.map(async (one) =>
      (await openPage(app, "/console/-/account", null, { cookie: one })).status
    );
    return (await Promise.all(statuses)).filter((status) => status === 200).length;
  };
  const [, one = ""] = ends.at(0) ?? [];
  assertEquals((await send(one)).status, 303);
  assertEquals(await left(), 2);
  assertEquals((await send("/console/-/account/sessions/end-others")).status, 303);
  assertEquals(await left(), 0);
  assertEquals((await openPage(app, "/console/-/account", null, { cookie })).status, 200);
});

test("a path that a request names leads on only where browsers stay in the console", () => {
  const outside = [
    ...["https://evil.example/", "//evil.example", "/\\evil.example", "/console//evil.example"],
    ...["/console/../docs", "/console/%2e%2e/docs", "/console/a\\b", "/console/\tx", "javascript:alert(1)"],
    ...[
      "/consoleevil",
      "/docs",
      "console",
      "/console/%2f%2fevil.example",
      "/console/x\r\nLocation: /evil",
      "",
    ],
  ];
  assertEquals(outside.map(ownPath), outside.map(() => "/console"));
  const inside = ["/console", "/console/acme", "/console/acme/tokens?after=1", "/console/-/account?a=//b"];
  assertEquals(inside.map(ownPath), inside);
});

test("where BASE_URL is https the cookie is this host's and TLS's alone, and browsers stay with TLS", async () => {
  await using app = await startApp({ settings: { BASE_URL: "https://db.example.com" } });
  const { email, slug } = await member(app, "acme");
  const signedIn = await enter({ app, slug, email });
  assertEquals(signedIn.status, 303, signedIn.text);
  const set = signedIn.headers.getSetCookie().join("\n");
  for (const part of [/^__Host-cubby=/, /; Secure/, /; HttpOnly/, /; Path=\//]) assertMatch(set, part);
  assertEquals(signedIn.headers.get("strict-transport-security"), "max-age=31536000");
});
