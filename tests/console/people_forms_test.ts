// Forms about people take what the API takes, and nothing else.
import { assertEquals, assertMatch } from "@std/assert";
import { oneStore } from "../testing/cases.ts";
import { signIn } from "../testing/person.ts";
import { startApp } from "../testing/start_app.ts";
import { openPage, sendForm } from "./open_page.ts";

const { run, test } = oneStore();
Deno.test("people forms", run);

test("the form of an invitation takes the addresses that the API takes", async () => {
  await using app = await startApp();
  await app.namespace("acme");
  const person = await signIn(app, { role: "admin" });
  const long = `${"a".repeat(320)}@example.com`;
  for (const email of ["ada@example.com", "ada@x", "<b>@example.com", "ada", "ada@exa mple.com", "", long]) {
    const form = await sendForm(app, {
      path: "/console/acme/members",
      fields: { email, role: "viewer" },
      person,
    });
    const api = await app.request("POST", "/api/namespaces/acme/members", {
      token: app.operatorKey,
      body: { email: email.replace("ada@example.com", "bea@example.com"), role: "viewer" },
    });
    assertEquals(form.status, api.status, email);
    if (form.status !== 201) assertMatch(form.text, /Write an address such as/);
  }
});

test("the form of a passkey takes no longer name than the API", async () => {
  await using app = await startApp();
  await app.namespace("acme");
  const person = await signIn(app, { role: "admin" });
  const answer = JSON.stringify({ id: "unknown", response: {} });
  const send = async (name: string) => {
    const fields = { name, answer };
    return (await sendForm(app, { path: "/console/-/account/passkeys", fields, person })).text;
  };
  assertMatch(await send("a".repeat(101)), /Name it by the device/);
  assertMatch(await send(""), /Name it by the device/);
  assertMatch(await send("a".repeat(100)), /Use a passkey of this account/);
});

test("a page of a list of several counts what is on it, and not as if it were all", async () => {
  await using app = await startApp();
  const { mint } = await app.namespace("acme");
  const person = await signIn(app, { role: "viewer" });
  const about = async (path: string) => {
    const { text } = await openPage(app, path, person);
    const [, next] = /href="([^"]*after=[^"]*)"/.exec(text) ?? [];
    return { says: />(\d+ tokens?[^<]*)</.exec(text)?.[1], next };
  };
  assertEquals(await about("/console/acme/tokens"), { says: "1 token", next: undefined });
  for (let made = 0; made < 102; made++) await mint("read");
  const first = await about("/console/acme/tokens");
  assertEquals(first.says, "100 tokens on this page");
  assertEquals((await about(first.next ?? "")).says, "3 tokens on this page");
});

test("a form that strangers send is not shown again as a page that is many times as long", async () => {
  await using app = await startApp();
  await app.namespace("acme");
  const path = "/console/-/sign-in";
  const answerTo = async (fields: Record<string, string>) => {
    const { status, text } = await sendForm(app, {
      path,
      fields: { password: "p", ...fields },
      person: null,
    });
    return { status, isShort: text.length < 200_000 };
  };
  // Each of these characters takes six in a page, and the form stands there more than once.
  const quotes = '"'.repeat(100_000);
  assertEquals(await answerTo({ to: "/console/acme", typed: quotes }), { status: 401, isShort: true });
  for (const name of ["namespace", "email", "next"]) {
    assertEquals(await answerTo({ [name]: quotes }), { status: 400, isShort: true }, name);
  }
  const waiting = await app.request("POST", "/console/acme/db/main/sql", {
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      origin: new URL(app.deps.baseUrl).origin,
    },
    body: `sql=${'"'.repeat(3_000_000)}`,
  });
  assertEquals([waiting.status, waiting.text.length < 200_000], [401, true]);
});

test("a form of more fields than any page has is refused before it is read", async () => {
  await using app = await startApp();
  await app.namespace("acme");
  const person = await signIn(app, { role: "viewer" });
  const send = (path: string, body: string) =>
    app.request("POST", path, {
      headers: { ...person.headers, "content-type": "application/x-www-form-urlencoded" },
      body,
    });
  const many = "a=1&".repeat(20_000);
  for (const path of ["/console/-/sign-in", "/console/-/invite/none", "/console/-/account/password"]) {
    const { status, text } = await send(path, many);
    assertEquals(status, 400, path);
    assertMatch(text, /Send at most 20000 fields/);
  }
  const asked = await send("/console/-/prove", `to=/console&typed=${encodeURIComponent(many)}`);
  assertEquals(asked.text.includes('value="a=1'), false);
});
