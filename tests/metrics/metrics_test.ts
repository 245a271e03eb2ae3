// What `GET /metrics` tells, to whom, and that it counts what was done.
import { assert, assertEquals } from "@std/assert";
import { docFile, tableUnder } from "../docs/doc_files.ts";
import { oneStore } from "../testing/cases.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { changes, type Metrics, readMetrics } from "./read_metrics.ts";

const METRICS_TOKEN = "metrics-token-of-thirty-two-chars-or-more";

const { run, test } = oneStore();
Deno.test("the figures for Prometheus", run);

async function scrape({ request, operatorKey }: StartedApp): Promise<Metrics> {
  const { status, text } = await request("GET", "/metrics", { token: operatorKey });
  assertEquals(status, 200, text);
  return readMetrics(text);
}

/** Of the families named. */
function only(changed: Record<string, number>, ...names: readonly string[]): Record<string, number> {
  return Object.fromEntries(
    Object.entries(changed).filter(([sample]) => names.includes(sample.replace(/\{.*/, ""))),
  );
}

Deno.test("GET /metrics answers the operator key and METRICS_TOKEN, and nobody else", async () => {
  await using app = await startApp({ settings: { METRICS_TOKEN } });
  const acme = await app.namespace();
  for (const token of [METRICS_TOKEN, app.operatorKey]) {
    const { status, headers, text } = await app.request("GET", "/metrics", { token });
    assertEquals(status, 200);
    assertEquals(headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    assertEquals(headers.get("cache-control"), "no-store");
    const head = await app.request("HEAD", "/metrics", { token });
    assertEquals([head.status, head.text], [200, ""]);
    assertEquals(head.headers.get("content-type"), headers.get("content-type"));
    assert(Number(head.headers.get("content-length")) > text.length / 2);
  }
  const none = await app.request("GET", "/metrics");
  assertEquals([none.status, none.body.code], [401, "missing_bearer"]);
  const cookie = await app.request("GET", "/metrics", {
    headers: { cookie: `cubby_session=${app.operatorKey}` },
  });
  assertEquals([cookie.status, cookie.body.code], [401, "missing_bearer"]);
  const others = [
    acme.token,
    METRICS_TOKEN.slice(0, -1),
    `${METRICS_TOKEN}x`,
    METRICS_TOKEN.toUpperCase(),
    "null",
  ];
  for (const token of others) {
    const { status, body, headers } = await app.request("GET", "/metrics", { token });
    assertEquals([status, body.success, body.code], [401, false, "invalid_bearer"], token);
    assert(headers.has("www-authenticate"));
  }
  assertEquals((await app.request("POST", "/metrics", { token: METRICS_TOKEN })).status, 405);
});

Deno.test("METRICS_TOKEN opens no other door, and without it nothing but the operator key is taken", async () => {
  await using app = await startApp({ settings: { METRICS_TOKEN } });
  await app.namespace();
  for (const path of ["/api/namespaces", "/api/audit", "/api/backup", "/v1/me", "/v1/db/acme/main/tables"]) {
    const { status, body } = await app.request("GET", path, { token: METRICS_TOKEN });
    assertEquals([status, body.code], [401, "invalid_bearer"], path);
  }
  await using without = await startApp();
  for (const token of [METRICS_TOKEN, "null", "undefined"]) {
    assertEquals((await without.request("GET", "/metrics", { token })).status, 401);
  }
});

test("calls of statements count once, by what they are and how they end", async () => {
  await using app = await startApp();
  const acme = await app.namespace();
  await acme.query("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL)");
  const reader = await acme.mint("read");
  const before = await scrape(app);
  for (let at = 0; at < 3; at++) await acme.query("INSERT INTO items (name) VALUES (?)", [`item ${at}`]);
  for (let at = 0; at < 5; at++) await acme.query("SELECT name FROM items WHERE id = ?", [1]);
  await acme.batch([["INSERT INTO items (name) VALUES ('a')"], ["INSERT INTO items (name) VALUES ('b')"]]);
  assertEquals((await acme.query("INSERT INTO items (name) VALUES (NULL)")).body.code, "sql_error");
  assertEquals((await acme.query("SELECT * FROM nowhere")).body.code, "sql_error");
  const refused = await acme.query("DELETE FROM items", [], { token: reader.token });
  assertEquals(refused.body.code, "role_too_low");
  const changed = changes(before, await scrape(app));
  assertEquals(only(changed, "cubby_calls_total", "cubby_rows_written_total"), {
    'cubby_calls_total{class="read",outcome="ok"}': 5,
    'cubby_calls_total{class="read",outcome="failed"}': 1,
    'cubby_calls_total{class="write",outcome="ok"}': 4,
    'cubby_calls_total{class="write",outcome="failed"}': 1,
    'cubby_calls_total{class="write",outcome="refused"}': 1,
    "cubby_rows_written_total": 5,
  });
  assertEquals(only(changed, "cubby_http_requests_total", "cubby_http_errors_total"), {
    'cubby_http_requests_total{surface="v1",status="2xx"}': 9,
    'cubby_http_requests_total{surface="v1",status="4xx"}': 3,
    'cubby_http_requests_total{surface="other",status="2xx"}': 1,
    'cubby_http_errors_total{code="sql_error"}': 2,
    'cubby_http_errors_total{code="role_too_low"}': 1,
  });
  assertEquals(changed['cubby_http_request_duration_seconds_count{surface="v1"}'], 12);
  assertEquals(changed['cubby_http_request_duration_seconds_bucket{surface="v1",le="+Inf"}'], 12);
});

test("requests count by their surface", async () => {
  await using app = await startApp();
  const acme = await app.namespace();
  const before = await scrape(app);
  const calls: readonly [method: string, path: string, surface: string][] = [
    ["GET", "/v1/me", "v1"],
    ["GET", "/api/namespaces", "api"],
    ["GET", "/p/acme/main/nothing", "p"],
    ["GET", "/console", "console"],
    ["GET", "/hrana/acme/main/v2", "hrana"],
    ["GET", "/v2", "hrana"],
    ["GET", "/v3", "hrana"],
    ["POST", "/mcp", "mcp"],
    ["GET", "/oauth/authorize", "oauth"],
    ["GET", "/", "docs"],
    ["GET", "/docs/limits", "docs"],
    ["GET", "/llms.txt", "docs"],
    ["GET", "/healthz", "other"],
    ["GET", "/openapi.json", "other"],
    ["GET", "/v10/me", "other"],
  ];
  for (const [method, path] of calls) await app.request(method, path, { token: acme.token });
  const counted: Record<string, number> = {};
  for (const [sample, count] of Object.entries(changes(before, await scrape(app)))) {
    const [, surface] = /^cubby_http_requests_total\{surface="(\w+)"/.exec(sample) ?? [];
    if (surface !== undefined) counted[surface] = (counted[surface] ?? 0) + count;
  }
  // The scrape itself is one of `other`.
  assertEquals(counted, { v1: 1, api: 1, p: 1, console: 1, hrana: 3, mcp: 1, oauth: 1, docs: 3, other: 4 });
});

test("each answer that is an error counts under its code, whichever surface gives it its form", async () => {
  await using app = await startApp();
  const { token } = await app.namespace();
  const before = await scrape(app);
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const refresh = "grant_type=refresh_token&client_id=cli_none&refresh_token=none";
  await app.request("POST", "/oauth/token", { body: refresh, headers: form });
  await app.request("POST", "/mcp", { body: {} });
  await app.request("POST", "/v2/pipeline", { body: {} });
  await app.request("POST", "/p/acme/main/none", { body: {} });
  await app.request("GET", "/nowhere");
  await app.request("GET", "/v1/me", { token: `${token}x` });
  assertEquals(only(changes(before, await scrape(app)), "cubby_http_errors_total"), {
    'cubby_http_errors_total{code="invalid_grant"}': 1,
    'cubby_http_errors_total{code="missing_bearer"}': 2,
    'cubby_http_errors_total{code="endpoint_not_found"}': 1,
    'cubby_http_errors_total{code="not_found"}': 1,
    'cubby_http_errors_total{code="invalid_bearer"}': 1,
  });
});

test("hundreds of databases and endpoints that nobody has add no line, and nothing of a tenant stands there", async () => {
  await using app = await startApp();
  const acme = await app.namespace("marked-namespace");
  await acme.query("CREATE TABLE marked_table (marked_column TEXT)");
  await acme.query("INSERT INTO marked_table VALUES ('marked value')");
  await app.request("GET", "/p/marked-namespace/main/nothing");
  const before = await scrape(app);
  for (let at = 0; at < 300; at++) {
    await acme.createDatabase(`marked-${at}`);
    await app.request("GET", `/marked-${at}/${acme.token}`);
    await app.request("GET", `/p/marked-namespace/main/marked-${at}`);
  }
  await acme.query("SELECT marked_column FROM marked_table WHERE marked_column = ?", ["marked value"]);
  const { text } = await app.request("GET", "/metrics", { token: app.operatorKey });
  const after = readMetrics(text);
  // An error code that was there before is no new line either.
  const added = [...after.samples.keys()].filter((one) => !before.samples.has(one));
  assertEquals(added, ['cubby_http_errors_total{code="not_found"}']);
  for (
    const secret of ["marked", acme.token, acme.id, acme.database.id, app.operatorKey, "SELECT", "db_", "ns_"]
  ) {
    assert(!text.includes(secret), secret);
  }
});

Deno.test("a statement that is stopped and its engine process count, and so do commits and look-ups", async () => {
  await using app = await startApp({ settings: { QUERY_TIMEOUT_MS: "2000" } });
  const acme = await app.namespace();
  await acme.query("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT)");
  const before = await scrape(app);
  const endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n";
  assertEquals((await acme.query(endless)).body.code, "statement_timeout");
  await acme.query("INSERT INTO items VALUES (1, 'a')");
  await acme.query("INSERT INTO items VALUES (2, 'b')");
  // The first one is run by an engine process, which proves that it ends.
  for (let at = 0; at < 4; at++) await acme.query("SELECT name FROM items WHERE id = ?", [1]);
  const after = await scrape(app);
  const changed = changes(before, after);
  assertEquals(
    only(changed, "cubby_calls_total", "cubby_engine_children_ended_total", "cubby_commit_calls_total"),
    {
      'cubby_calls_total{class="read",outcome="timeout"}': 1,
      'cubby_calls_total{class="read",outcome="ok"}': 4,
      'cubby_calls_total{class="write",outcome="ok"}': 2,
      'cubby_engine_children_ended_total{reason="timeout"}': 1,
      "cubby_commit_calls_total": 2,
    },
  );
  assertEquals(changed["cubby_commits_total"], 2);
  assert((changed["cubby_commit_seconds_total"] ?? 0) > 0);
  assertEquals(changed["cubby_lookups_total"], 3);
  assert((after.samples.get('cubby_engine_children{pool="calls"}') ?? 0) >= 1);
  assert((after.samples.get('cubby_engine_resident_memory_bytes{pool="calls"}') ?? 0) > 1_000_000);
  assertEquals(after.samples.get("cubby_engine_waiting_calls"), 0);
  assert((after.samples.get("cubby_reserved_nano_usd") ?? 0) > 0);
  assert((after.samples.get("cubby_disk_free_bytes") ?? 0) > 0);
  assertEquals(after.samples.get("cubby_http_requests_in_flight"), 1);
});

Deno.test("calls that wait are seen while they wait", async () => {
  await using app = await startApp({ settings: { QUERY_TIMEOUT_MS: "20000" } });
  const acme = await app.namespace();
  await acme.query("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT)");
  const slow =
    "INSERT INTO items (name) WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 2000000) " +
    "SELECT count(*) FROM n";
  const behind = Array.from({ length: 7 }, () => "INSERT INTO items (name) VALUES ('b')");
  let isDone = false;
  const calls = Promise.all([slow, ...behind].map((sql) => acme.query(sql))).finally(() => isDone = true);
  let seen = await scrape(app);
  while (seen.samples.get("cubby_engine_waiting_calls") !== 7 && !isDone) seen = await scrape(app);
  assertEquals(seen.samples.get("cubby_engine_waiting_calls"), 7);
  assert((seen.samples.get("cubby_engine_oldest_wait_seconds") ?? 0) > 0);
  assertEquals(seen.samples.get("cubby_http_requests_in_flight"), 9);
  for (const { status } of await calls) assertEquals(status, 200);
  assertEquals((await scrape(app)).samples.get("cubby_engine_oldest_wait_seconds"), 0);
});

Deno.test("flood control counts a scrape like any other request, and what it refuses is counted", async () => {
  await using app = await startApp({ settings: { FLOOD_PER_10S: "5" } });
  const before = await scrape(app);
  const statuses: number[] = [];
  for (let at = 0; at < 6; at++) {
    statuses.push((await app.request("GET", "/metrics", { token: app.operatorKey })).status);
  }
  assertEquals(statuses, [200, 200, 200, 200, 429, 429]);
  const { requests } = app.deps;
  const refused = requests.families().find(({ name }) => name === "http_errors_total");
  assertEquals(refused?.samples, [{ labels: { code: "too_many_requests" }, value: 2 }]);
  assertEquals(before.samples.get('cubby_http_errors_total{code="too_many_requests"}'), undefined);
});

Deno.test("the table of series is what is told, the labels too", async () => {
  const archive = await Deno.makeTempDir({ prefix: "cubby_archive_" });
  try {
    const settings = {
      ARCHIVE_URL: `file:${archive}`,
      SMTP_URL: "smtp://127.0.0.1:1?tls=off",
      SMTP_FROM: "a@b.example",
    };
    await using app = await startApp({ settings });
    await app.request("GET", "/nowhere");
    const { samples, types } = await scrape(app);
    const table = tableUnder(await docFile("routes/docs/self-hosting.md"), "### Metrics");
    const documented = table.map(([name = "", labels = ""]) =>
      `${name.replaceAll("`", "")}: ${labels.replaceAll("`", "")}`
    );
    const labelsOf = (name: string) =>
      [...samples.keys()].filter((one) => one.replace(/\{.*/, "").replace(/_bucket$/, "") === name)
        .map((one) => [...one.matchAll(/[{,](\w+)="/g)].map(([, label]) => label).join(", "))[0] ?? "";
    const told = [...types.keys()].map((name) => `${name.replace("cubby_", "")}: ${labelsOf(name)}`);
    const remote = ["remote_requests_total: outcome", "remote_requests_under_way: "];
    assertEquals(documented.toSorted(), [...told, ...remote].toSorted());
  } finally {
    await Deno.remove(archive, { recursive: true });
  }
});
