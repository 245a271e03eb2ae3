// The documentation as the service serves it.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { DocSearch } from "../../routes/docs/doc_search.ts";
import { Library } from "../../routes/docs/library.ts";
import { docPages } from "../../routes/docs/pages.ts";
import { operationsOf } from "../endpoints/documented_requests.ts";
import { oneStore } from "../testing/cases.ts";
import { startApp } from "../testing/start_app.ts";
import { apiTables, docFile, tableUnder } from "./doc_files.ts";

const { run, test } = oneStore();
Deno.test("the documentation as the service serves it", run);

test("every page is there as HTML and as Markdown, and may be held for a minute", async () => {
  await using app = await startApp();
  for (const { slug, ...named } of docPages) {
    const title = slug === "readme" ? "Cubby" : named.title;
    const page = await app.request("GET", `/docs/${slug}`);
    assertEquals(page.status, 200);
    assertMatch(page.headers.get("content-type") ?? "", /^text\/html/);
    assertEquals(page.headers.get("cache-control"), "public, max-age=60");
    assert(page.text.includes(`<h1>${title}</h1>`), slug);
    const markdown = await app.request("GET", `/docs/${slug}.md`);
    assertEquals(markdown.status, 200);
    assertMatch(markdown.headers.get("content-type") ?? "", /^text\/markdown/);
    assert(markdown.text.startsWith(`# ${title}\n`), slug);
  }
});

test("an address with a slash at its end leads to the one without, with its question", async () => {
  await using app = await startApp();
  for (
    const [typed, location] of [
      ["/docs/", "/docs"],
      ["/docs/?q=restore", "/docs?q=restore"],
      ["/docs/agents/", "/docs/agents"],
      ["/docs/api/", "/docs/api"],
      ["/docs/%2F%2Felse.example/", "/docs/%2F%2Felse.example"],
    ] as const
  ) {
    const { status, headers } = await app.request("GET", typed);
    assertEquals([status, headers.get("location")], [301, location]);
  }
});

test("a page that has not changed is not sent again", async () => {
  await using app = await startApp();
  for (const path of ["/docs", "/docs/security", "/docs/security.md", "/llms.txt", "/docs/assets/docs.css"]) {
    const first = await app.request("GET", path);
    const tag = first.headers.get("etag") ?? "";
    assertMatch(tag, /^"[0-9a-f]+"$/);
    const again = await app.request("GET", path, { headers: { "If-None-Match": tag } });
    assertEquals([again.status, again.text], [304, ""], path);
    const weak = await app.request("GET", path, { headers: { "If-None-Match": `"other", W/${tag}` } });
    assertEquals(weak.status, 304, path);
  }
});

test("no page has a script, a style or a handler of its own inside, and the browser is told to run none", async () => {
  await using app = await startApp();
  const paths = [
    "/docs",
    "/docs?q=%3Cscript%3E",
    "/docs/api",
    ...docPages.map(({ slug }) => `/docs/${slug}`),
  ];
  for (const path of paths) {
    const { headers, text } = await app.request("GET", path);
    const policy = headers.get("content-security-policy") ?? "";
    assertMatch(policy, /default-src 'none'; script-src 'self'; style-src 'self';/);
    assert(!policy.includes("unsafe"), policy);
    assertEquals(
      text.match(/<script(?![^>]* src="\/docs\/assets\/)[^>]*>|<style|\sstyle="|\son\w+="|javascript:/g),
      null,
    );
  }
});

test("the search finds sections by their words, in any form, and shows where", async () => {
  await using app = await startApp();
  const asked: readonly [question: string, href: string][] = [
    ["sign-up password", "/docs/endpoints#sign-up-and-log-in"],
    ["publish an endpoint, merge a branch in five minutes", "/docs/readme#five-things"],
    ["idempotency key", "#exactly-once"],
    ["price of reads", "/docs/money"],
    ["FLOOD_PER_10S", "/docs/configuration#variables"],
    ["storage_full", "/docs/errors#error-codes"],
  ];
  for (const [question, href] of asked) {
    const { status, text } = await app.request("GET", `/docs?q=${encodeURIComponent(question)}`);
    assertEquals(status, 200);
    const hits = [...text.matchAll(/<li><a href="([^"]+)"[^]*?<\/li>/g)].filter(([hit]) =>
      hit.includes("<p>")
    );
    assert(
      hits.slice(0, 3).some(([, found = ""]) => found.includes(href)),
      `${question}: ${hits.map(([, one]) => one)}`,
    );
    assert(text.includes("<mark>"), question);
  }
  const none = await app.request("GET", "/docs?q=xyzzyplugh");
  assert(none.text.includes("Nothing was found"));
});

test("the first search, for which all pages are read, lets other requests have their turns", async () => {
  const library = new Library("http://example");
  let [turns, isMade] = [0, false];
  const others = (async () => {
    for (; !isMade; turns++) await setImmediate();
  })();
  const pages = await library.readAll();
  const read = turns;
  const search = await DocSearch.of(pages);
  isMade = true;
  await others;
  assert(read >= pages.length / 2, `${read} turns while pages are read`);
  const sections = pages.flatMap((one) => one.sections).length;
  assert(turns - read >= sections / 20, `${turns - read} turns for ${sections} sections`);
  assert(search.search("token").length > 0);
});

test("what is searched for is shown as text, whatever it is, and cut", async () => {
  await using app = await startApp();
  const { status, text } = await app.request(
    "GET",
    `/docs?q=${encodeURIComponent('"><script>alert(1)</script>')}`,
  );
  assertEquals(status, 200);
  assert(!text.includes("<script>alert"));
  const long = await app.request("GET", `/docs?q=${"a".repeat(4000)}`);
  assertEquals(long.status, 200);
  assert(!long.text.includes("a".repeat(101)));
});

test("an unknown page is 404 and names those that may have been meant", async () => {
  await using app = await startApp();
  const { status, headers, text } = await app.request("GET", "/docs/aproval");
  assertEquals([status, headers.get("cache-control")], [404, "no-store"]);
  assert(text.includes('href="/docs/approvals"'));
  for (
    const path of [
      "/docs/aproval.md",
      "/docs/..%2F..%2Fdeno.json",
      "/docs/__proto__",
      "/docs/assets/__proto__",
    ]
  ) {
    assertEquals((await app.request("GET", path)).status, 404, path);
  }
});

test("an asset with its version may be held for good, and without it for a minute", async () => {
  await using app = await startApp();
  const { text } = await app.request("GET", "/docs/api");
  const assets = [...text.matchAll(/(?:src|href)="(\/docs\/assets\/[^"]+)"/g)].map(([, path = ""]) => path);
  assertEquals(assets.length, 7);
  for (const path of assets) {
    const pinned = await app.request("GET", path);
    assertEquals([pinned.status, pinned.headers.get("cache-control")], [
      200,
      "public, max-age=31536000, immutable",
    ]);
    const plain = await app.request("GET", path.replace(/\?.*/, ""));
    assertEquals([plain.status, plain.headers.get("cache-control")], [200, "public, max-age=60"]);
  }
});

test("llms.txt names the Markdown of every page by its whole address", async () => {
  await using app = await startApp();
  const { status, text } = await app.request("GET", "/llms.txt");
  assertEquals(status, 200);
  assertMatch(text, /^# Cubby\n\n> .+\n/);
  for (const { slug } of docPages) assert(text.includes(`](http://127.0.0.1/docs/${slug}.md): `), slug);
});

test("examples name the address of the service that shows them", async () => {
  await using app = await startApp();
  for (const path of ["/docs/readme", "/docs/readme.md"]) {
    const { text } = await app.request("GET", path);
    assert(!text.includes("127.0.0.1:8000") && text.includes("http://127.0.0.1/v1/db/demo/demo"), path);
  }
});

test("the tables of the HTTP API name all that a call takes, with a ? what may be left out", async () => {
  await using app = await startApp();
  const operations = operationsOf((await app.request("GET", "/openapi.json")).text);
  const page = await docFile("routes/docs/http-api.md");
  const rows = Object.entries(apiTables).flatMap(([heading, prefix]) =>
    tableUnder(page, heading).map(([call = "", takes = ""]) => {
      const [, method, path = ""] = /`([A-Z]+) (\/[^`]*)`/.exec(call) ?? [];
      return { method, path: (prefix + path).replace(/(.)\/$/, "$1").replace(/:(\w+)/g, "{$1}"), takes };
    })
  );
  let compared = 0;
  for (const { method, path, takes } of rows) {
    const operation = operations.find((one) => one.method === method && one.path === path);
    // What a rule or a specification holds stands elsewhere.
    if (operation === undefined || /a specification|the fields|those/.test(takes)) continue;
    const { properties = {}, required = [] }: {
      readonly properties?: object;
      readonly required?: readonly string[];
    } = operation.requestBody?.content["application/json"]?.schema ?? {};
    const inQuery = operation.parameters?.filter((one) => one.in === "query") ?? [];
    const isNeeded = new Map([
      ...Object.keys(properties).map((name) => [name, required.includes(name)] as const),
      ...inQuery.map((one) => [one.name, one.required === true] as const),
    ]);
    // One of two that is needed has no `?`, and neither is needed by itself.
    const isEither = / or /.test(takes);
    const named = [...takes.matchAll(/`(\w+)(\??)`/g)].map(([, name = "", mark]) =>
      isEither && isNeeded.get(name) === false ? name : name + mark
    );
    const taken = [...isNeeded].map(([name, needed]) => needed || isEither ? name : `${name}?`);
    assertEquals(named.toSorted(), taken.toSorted(), `${method} ${path}`);
    compared++;
  }
  assert(compared > 60, `${compared} calls were compared`);
});
