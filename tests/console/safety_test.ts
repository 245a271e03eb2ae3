// What protects the console whatever page is asked for: headers, hosts, the theme's cookie, names that want to be markup.
// Who gets in is held by pages_table_test.ts, sign-in by sign_in_test.ts.
import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { Hono } from "hono";
import { AppError } from "../../lib/core/errors.ts";
import { pageHeaders } from "../../routes/console/frame/csp.ts";
import { failurePage } from "../../routes/console/pages/failure.tsx";
import { pagesTable } from "../../routes/console/pages_table.ts";
import type { Env } from "../../routes/http/env.ts";
import { silentLog } from "../../lib/core/log.ts";
import { oneStore, testSteps } from "../testing/cases.ts";
import { secondApp } from "../replay/second_app.ts";
import { signIn, type TestPerson } from "../testing/person.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { member, type TestNamespace } from "../testing/test_namespace.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { openPage, sendForm } from "./open_page.ts";

const { run, test } = oneStore();
Deno.test("safety", run);

interface World {
  readonly app: StartedApp;
  readonly slug: string;
  readonly namespace: TestNamespace;
  readonly admin: TestPerson;
  readonly operator: TestPerson;
}

async function world(app: StartedApp, slug: string): Promise<World> {
  const namespace = await app.namespace(slug);
  const admin = await signIn(app, { role: "admin", namespace: slug });
  return { app, slug, namespace, admin, operator: await signIn(app, { role: "operator" }) };
}

/** Every GET whose address needs nothing but a namespace and its database. */
function pathsIn(slug: string): string[] {
  return pagesTable.filter(({ method }) => method === "GET")
    .map(({ path }) => path.replace(":ns", slug).replace(":db", "main"))
    .filter((path) => !path.includes(":") && path !== "/console");
}

const HOSTILE = [
  `<script>alert(1)</script>`,
  `"><img src=x onerror=alert(1)>`,
  `' onmouseover='alert(1)`,
  `javascript:alert(1)`,
  `</title></textarea><svg onload=alert(1)>`,
];

testSteps("what protects the console", world, {
  "every page says what a browser may load, run and keep, by a word of its own": async (
    { app, slug, operator },
  ) => {
    const nonces = new Set<string>();
    const paths = pathsIn(slug);
    for (const path of paths) {
      // Its form may lead out, to a client: tests/oauth/attacks_test.ts looks at it.
      if (path === "/console/-/connect") continue;
      const { status, headers, text } = await openPage(app, path, operator);
      // Whoever is signed in already is led on from the sign-in.
      if (status === 302) continue;
      assertEquals(status, 200, path);
      const policy = headers.get("content-security-policy") ?? "";
      const nonce = /script-src 'nonce-([\w-]{22})' 'strict-dynamic'/.exec(policy)?.[1] ?? "";
      assertNotEquals(nonce, "", path);
      assert(!nonces.has(nonce), path);
      nonces.add(nonce);
      assertMatch(
        policy,
        /^default-src 'none';.* form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
      );
      assert(!/unsafe|\*|http:|data:/.test(policy), policy);
      for (const tag of text.match(/<(?:script|style)\b[^>]*>/g) ?? []) {
        assert(tag.includes(`nonce="${nonce}"`), `${path}: ${tag}`);
      }
      assertEquals(text.match(/\sstyle="|\son[a-z]+="|href="javascript:|\shx-on|js:/gi), null, path);
      const one = (name: string) => headers.get(name);
      assertEquals(
        [
          one("cache-control"),
          one("x-frame-options"),
          one("cross-origin-opener-policy"),
          one("referrer-policy"),
        ],
        ["no-store", "DENY", "same-origin", "same-origin"],
        path,
      );
      assertEquals([one("cross-origin-resource-policy"), one("x-content-type-options")], [
        "same-origin",
        "nosniff",
      ]);
    }
    assert(nonces.size > 5);
  },

  "a failure and an answer to a form have the same headers": async ({ app, slug, admin }) => {
    const answers = [
      await openPage(app, `/console/${slug}/nothing/here`, admin),
      await sendForm(app, { path: `/console/${slug}/tokens`, fields: {}, person: admin }),
      await sendForm(app, { path: `/console/${slug}/tokens`, fields: {}, person: admin, csrf: "" }),
    ];
    assertEquals(answers.map(({ status }) => status), [404, 400, 403]);
    for (const { headers } of answers) {
      assertMatch(headers.get("content-security-policy") ?? "", /^default-src 'none'/);
      assertEquals(headers.get("x-content-type-options"), "nosniff");
      assertEquals(headers.get("cache-control"), "no-store");
    }
  },

  "under another host there is no console, and under a number it is led to a name": async (
    { app, slug, admin },
  ) => {
    const asked = (host: string, path = `/console/${slug}?a=b`) => openPage(app, path, admin, { host });
    for (
      const host of [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "10.0.0.7",
        "evil:8000",
      ]
    ) {
      assertEquals((await asked(host)).status, 421, host);
    }
    for (const [host, name] of [["127.0.0.1:8000", "localhost:8000"], ["[::1]:9", "localhost:9"]] as const) {
      const answer = await asked(host);
      assertEquals([answer.status, answer.headers.get("location")], [
        302,
        `http://${name}/console/${slug}?a=b`,
      ]);
    }
    assertEquals((await asked("localhost:8000")).status, 200);
    const form = { path: `/console/${slug}/tokens`, fields: { name: "a", role: "read" }, person: admin };
    assertEquals((await sendForm(app, { ...form, headers: { host: "evil.example" } })).status, 421);
  },

  "the operator is told where a proxy names the caller and nobody heeds it": async (
    { app, admin, slug, operator },
  ) => {
    const by = { "x-forwarded-for": "203.0.113.7" };
    const warned = async (path: string, person: TestPerson, headers: Record<string, string>) => {
      const { status, text } = await openPage(app, path, person, headers);
      assertEquals(status, 200);
      return text.includes("TRUST_PROXY");
    };
    assertEquals(await warned("/console/-/namespaces", operator, by), true);
    assertEquals(await warned("/console/-/namespaces", operator, {}), false);
    assertEquals(await warned(`/console/${slug}`, admin, by), false);
    await using proxied = await startApp({ settings: { TRUST_PROXY: "1" } });
    const there = await openPage(
      proxied,
      "/console/-/namespaces",
      await signIn(proxied, { role: "operator" }),
      by,
    );
    assertEquals([there.status, there.text.includes("TRUST_PROXY")], [200, false]);
  },

  "assets are kept for good under an address that changes with them, small, and by their type": async (
    { app, slug, admin },
  ) => {
    const page = await openPage(app, `/console/${slug}`, admin);
    const css = /href="([^"]+console\.css)"/.exec(page.text)?.[1] ?? "";
    const packed = await app.app.request(css, { headers: { "accept-encoding": "gzip, br" } });
    assertEquals(packed.headers.get("cache-control"), "public, max-age=31536000, immutable");
    assertEquals([packed.headers.get("content-encoding"), packed.headers.get("vary")], [
      "gzip",
      "accept-encoding",
    ]);
    const size = (await packed.bytes()).length;
    assert(size < 12_000, `${size}`);
    const plain = await openPage(app, css, null);
    assertEquals([plain.status, plain.headers.get("content-encoding")], [200, null]);
    assertMatch(plain.text, /@layer tokens/);
    const old = await openPage(app, css.replace(/assets\/\w+/, "assets/0000"), null);
    assertEquals([old.status, old.headers.get("cache-control")], [200, "public, max-age=60"]);
    assertEquals((await openPage(app, css.replace("console.css", "nothing.js"), null)).status, 404);
  },

  "the script of a page is at most 40 kB on its way": async ({ app, slug, admin }) => {
    const page = await openPage(app, `/console/${slug}`, admin);
    const prefix = /href="([^"]+)console\.css"/.exec(page.text)?.[1] ?? "";
    let total = 0;
    for (const name of ["htmx.js", "start.ts", "copy.ts", "times.ts", "passkey.ts"]) {
      const asset = await app.app.request(prefix + name, { headers: { "accept-encoding": "gzip" } });
      assertEquals([asset.status, asset.headers.get("content-encoding")], [200, "gzip"], name);
      total += (await asset.bytes()).length;
    }
    assert(total <= 40_000, `${total}`);
  },

  "names that want to be markup are text on every page": async (
    { app, slug, namespace, admin, operator },
  ) => {
    for (const [at, name] of HOSTILE.entries()) {
      const body = { name: name.slice(0, 200), role: "read" };
      const made = await app.request("POST", `/api/namespaces/${slug}/tokens`, {
        token: namespace.token,
        body,
      });
      assertEquals(made.status, 201, name);
      const renamed = await app.request("PATCH", `/api/namespaces/${slug}`, {
        token: namespace.token,
        body: { name },
      });
      assertEquals(renamed.status, 200);
      const database = { slug: `db-${at}`, name };
      const path = `/api/namespaces/${slug}/databases`;
      assertEquals((await app.request("POST", path, { token: namespace.token, body: database })).status, 201);
    }
    for (const path of pathsIn(slug)) {
      const { text } = await openPage(app, path, operator);
      assertEquals(
        text.match(/<script>alert|<img src=x|<svg onload|\sonmouseover='|href="javascript:/),
        null,
        path,
      );
    }
    const tokens = await openPage(app, `/console/${slug}/tokens`, admin);
    assert(tokens.text.includes("&lt;script&gt;alert(1)&lt;/script&gt;"));
  },

  "what a form sends is text when it comes back": async ({ app, slug, admin }) => {
    for (const value of HOSTILE) {
      const back = await sendForm(app, {
        path: `/console/${slug}/databases`,
        fields: { slug: value, name: value },
        person: admin,
      });
      assertEquals(back.status, 400);
      assert(!back.text.includes(value) || value.startsWith("javascript"), value);
    }
  },

  "a theme is remembered by the browser, for the console only": async ({ app, slug, admin }) => {
    const choose = (theme: string, back: string) =>
      sendForm(app, { path: "/console/-/theme", fields: { theme, back }, person: admin });
    const dark = await choose("dark", `/console/${slug}/usage`);
    assertEquals([dark.status, dark.headers.get("location")], [303, `/console/${slug}/usage`]);
    assertMatch(
      dark.headers.getSetCookie().join(),
      /^cubby_theme=dark; .*Path=\/console; HttpOnly; SameSite=Lax$/,
    );
    const cookie = `${admin.cookie}; cubby_theme=dark`;
    assertMatch(
      (await openPage(app, `/console/${slug}`, null, { cookie })).text,
      /<html lang="en" data-theme="dark"/,
    );
    const odd = `${admin.cookie}; cubby_theme="><script>`;
    assert(!(await openPage(app, `/console/${slug}`, null, { cookie: odd })).text.includes("data-theme"));
    assertEquals((await choose("system", "//evil.example")).headers.get("location"), "/console");
  },
}, test);

test("a failure before anybody knows who asks stays what it is", async () => {
  const app = new Hono<Env>();
  app.onError(failurePage({ baseUrl: "http://localhost", log: silentLog, pageBehind: () => null }));
  app.use(pageHeaders({ secure: true }));
  app.use(() => Promise.reject(new AppError("meter_unreachable")));
  const answer = await app.request("/console");
  assertEquals([answer.status, answer.headers.get("content-type")], [429, "text/plain; charset=utf-8"]);
  assertEquals(
    ["content-security-policy", "cache-control"].map((name) => answer.headers.get(name)),
    ["default-src 'none'; frame-ancestors 'none'", "no-store"],
  );
  await answer.body?.cancel();
});

test("what cannot be taken back takes a sign-in of the last 15 minutes, from every form", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  const { database, token, setup, id: tokenId } = await app.namespace();
  await setup("CREATE TABLE t (a)");
  const made = async (path: string, body: object) => {
    const answer = await app.request("POST", path, { token, body });
    assertEquals(Math.floor(answer.status / 100), 2, answer.text);
    return answer;
  };
  await made(`${database.path}/claim_branch`, { purpose: "a test", ref: "pr-1" });
  await made(`${database.path}/snapshots`, { label: "kept" });
  const api = "/api/namespaces/acme";
  const webhook = await made(`${api}/databases/main/webhooks`, {
    ...{ url: "https://receiver.example/", events: ["change"] },
  });
  const viewer = await signIn(app, { role: "viewer" });
  const admin = await signIn(app, { role: "admin" });
  const hooks = `db/main/webhooks/${member(webhook, "id")}`;
  const forms: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    "db/main/branches": { purpose: "another", ref: "pr-2", ttlSec: "3600", role: "write" },
    "db/main/branches/pr-1/merge": { mode: "data", onConflict: "abort", seen: "a".repeat(64) },
    "db/main/branches/pr-1/reset": {},
    "db/main/branches/pr-1/delete": { confirm: "pr-1" },
    "db/main/snapshots/kept/restore": { digest: "" },
    "db/main/delete": { confirm: "main" },
    "db/main/webhooks": { url: "https://receiver.example/", events: "change" },
    [`${hooks}/secret`]: {},
    [`${hooks}/enabled`]: { enabled: "no" },
    [`${hooks}/delete`]: {},
    "tokens": { name: "another", role: "read" },
    [`tokens/${tokenId}/revoke`]: {},
    "members": { email: "another@example.com", role: "viewer" },
    [`members/${viewer.id}/role`]: { role: "editor" },
    [`members/${viewer.id}/link`]: {},
    [`members/${viewer.id}/remove`]: {},
    "settings": { name: "acme", monthlyCapUsd: "5" },
  };
  clock.turn(16 * 60_000);
  const asked = [];
  for (const [path, fields] of Object.entries(forms)) {
    const { status, text } = await sendForm(app, { path: `/console/acme/${path}`, fields, person: admin });
    asked.push(`${path} ${status} ${text.includes("Confirm that it is you")}`);
  }
  assertEquals(asked, Object.keys(forms).map((path) => `${path} 403 true`));
  assertEquals((await app.request("GET", "/v1/me", { token })).status, 200);
});

test("a session that another process has ended changes nothing from that moment on", async () => {
  await using app = await startApp();
  await using other = secondApp(app);
  await app.namespace();
  const ended = async () => {
    const person = await signIn(app, { role: "admin" });
    assertEquals((await openPage(app, "/console/acme", person)).status, 200);
    const path = `/api/me/sessions/${person.sessionId}`;
    assertEquals((await other.request("DELETE", path, { headers: person.headers })).status, 200);
    return person;
  };
  const fields = { name: "late", role: "read" };
  const form = { path: "/console/acme/tokens", fields, person: await ended() };
  assertEquals((await sendForm(app, form)).status, 401);
  const { headers } = await ended();
  const answer = await app.request("POST", "/api/namespaces/acme/tokens", { headers, body: fields });
  assertEquals([answer.status, answer.body.code], [401, "session_ended"]);
});
