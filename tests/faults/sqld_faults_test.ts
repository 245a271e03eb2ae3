// An sqld that is away, slow, broken or loses answers, as callers over HTTP see it: a clear 503 with Retry-After without
// its words or address, nothing lost, nothing run twice.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { assertPrompt } from "../testing/assert_prompt.ts";
import type { ApiAnswer, ApiRequest } from "../testing/call_api.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { half, type Proxy, standBefore } from "../testing/stand_before.ts";
import { type Sqld, startSqld } from "../testing/sqld.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { suspend } from "../testing/suspend.ts";
import { pause } from "../../lib/core/pause.ts";
import { ENDLESS } from "../testing/endless.ts";

interface Options {
  readonly settings?: Readonly<Record<string, string>>;
  /** Nothing stands between. */
  readonly direct?: boolean;
}

interface World {
  readonly sqld: Sqld;
  /** Before its two addresses. */
  readonly data: Proxy;
  readonly admin: Proxy;
  readonly app: StartedApp;
  readonly tenant: TestNamespace;
  readonly count: () => Promise<unknown>;
}

const INSERT = "INSERT INTO t (a) VALUES (?)";
/** Runs `body` with a table `t` on an sqld of its own; where there is none for this machine it says so and returns. */
async function withSqld(
  body: (world: World) => Promise<void>,
  { settings = {}, direct = false }: Options = {},
): Promise<void> {
  const sqld = await startSqld({ args: ["--enable-namespaces", "--disable-default-namespace"] });
  if (sqld === null) return;
  try {
    await using data = standBefore(sqld.url);
    await using admin = standBefore(sqld.adminUrl);
    const [url, adminUrl] = direct ? [sqld.url, sqld.adminUrl] : [data.url, admin.url];
    const TENANTS_URL = `sqld+${url}?admin=${adminUrl}`;
    await using app = await startApp({ settings: { ...settings, TENANTS_URL } });
    const tenant = await app.namespace();
    await tenant.query("CREATE TABLE t (id INTEGER PRIMARY KEY, a)");
    const count = async () => rowsOf(await tenant.query("SELECT count(*) FROM t"))[0]?.[0];
    await body({ ...{ sqld, data, admin, app, tenant, count } });
  } finally {
    await sqld.stop();
  }
}

/** Every kind of call that needs the tenant's database; `validate` needs its schema only, which is known. */
function calls(
  { app, tenant }: Pick<World, "app" | "tenant">,
): (readonly [name: string, send: () => Promise<ApiAnswer>])[] {
  const { path } = tenant.database;
  const request = (method: string, url: string, options: ApiRequest = {}) => () =>
    app.request(method, url, { token: tenant.token, ...options });
  const keyed = { headers: { "idempotency-key": "never" } };
  return [
    ["read", () => tenant.query("SELECT 1")],
    ["write", () => tenant.query(INSERT, ["never"])],
    ["keyed write", () => tenant.query(INSERT, ["never"], keyed)],
    ["destructive write", () => tenant.query("DELETE FROM t")],
    ["schema", () => tenant.query("CREATE TABLE never (a)")],
    ["batch", () => tenant.batch([[INSERT, "never"], [INSERT, "never"]], { transaction: true })],
    [
      "parameter sets",
      request("POST", `${path}/batch`, { body: { sql: INSERT, paramSets: [["never"], ["never"]] } }),
    ],
    ["dry run", () => tenant.query(INSERT, ["never"], { headers: { "x-dry-run": "1" } })],
    ["propose", request("POST", `${path}/propose`, { body: { sql: INSERT, params: ["never"] } })],
    ["tables", request("GET", `${path}/tables`)],
    ["describe", request("GET", `${path}/describe`)],
    ["search", request("GET", `${path}/search?q=t`)],
    ["doctor", request("GET", `${path}/doctor`)],
    ["query log", request("GET", `${path}/query_log`)],
    ["snapshots", request("GET", `${path}/snapshots`)],
    ["snapshot", request("POST", `${path}/snapshots`, { body: { label: "never" } })],
    ["restore", request("POST", `${path}/restore`, { body: { snapshot: "mine" } })],
    ["published", () => app.request("GET", `/p/${tenant.slug}/main/all`)],
    [
      "new database",
      request("POST", `/api/namespaces/${tenant.slug}/databases`, { body: { slug: "never" } }),
    ],
  ];
}

function assertUnavailable(answer: ApiAnswer, name: string): void {
  assertEquals([answer.status, answer.body.success], [503, false], `${name}: ${answer.text}`);
  assert(
    ["store_unavailable", "outcome_unknown"].includes(answer.body.code ?? ""),
    `${name}: ${answer.text}`,
  );
  assertMatch(answer.headers.get("retry-after") ?? "", /^\d+$/, name);
  assert(!/secret|127\.0\.0\.1|sqld|tcp|hrana|<html/i.test(answer.text), `${name}: ${answer.text}`);
}

const text = (body: string, status = 200) => () => new Response(body, { status });
const empty = { type: "ok", response: { type: "batch", result: { step_results: [], step_errors: [] } } };
const broken: readonly (readonly [name: string, answer: () => Response])[] = [
  ["a page of a gateway", text("<html>secret gateway</html>")],
  ["a failure with words", text('{"error":"secret words"}', 500)],
  ["a gateway without its server", text("secret upstream", 502)],
  ["no results", text('{"baton":null,"results":[{"type":"ok"}]}')],
  ["no steps", text(JSON.stringify({ baton: null, results: [empty, { type: "ok" }] }))],
  ["null", text("null")],
  ["another protocol", text('{"jsonrpc":"2.0","result":"secret"}')],
  ["nothing", text("")],
  ["a refusal", text("denied: secret", 401)],
];

Deno.test("an sqld that answers garbage of any kind is 503 for every kind of call, and nothing was done", async () => {
  await withSqld(async (world) => {
    await prepare(world);
    for (const [at, [name, answer]] of broken.entries()) {
      world.data.between = world.admin.between = answer;
      await assertAllUnavailable(world, name, at === 0 ? null : ["read", "write"]);
    }
    world.data.between = world.admin.between = null;
    await assertUntouched(world);
  });
});

Deno.test("half an answer is 503 for every kind of call, and nothing was done", async () => {
  await withSqld(async (world) => {
    await prepare(world);
    world.data.between = async (_, go) => await half(await go());
    world.admin.between = async (_, go) => await half(await go());
    await assertAllUnavailable(world, "half");
    world.data.between = world.admin.between = null;
    await assertUntouched(world);
  });
});

Deno.test("a dry run whose answers break off keeps no write waiting until that one is refused as too late", async () => {
  await withSqld(async (world) => {
    await prepare(world);
    const { data, tenant } = world;
    const kinds = new Map(calls(world));
    const seen = Promise.withResolvers<void>();
    data.between = async ({ body }, go) => {
      if (body.includes("BEGIN IMMEDIATE")) seen.resolve();
      return await half(await go());
    };
    const first = kinds.get("dry run")?.();
    await seen.promise;
    // Each that runs alone is 5 s, for what broke off holds the server's lock that long; five of them are within the 30 s.
    const others = ["parameter sets", "propose", "write", "batch"].map((name) =>
      [name, kinds.get(name)?.()] as const
    );
    for (const [name, answer] of [["dry run", first] as const, ...others]) {
      if (answer) assertUnavailable(await answer, name);
    }
    data.between = null;
    await assertUntouched(world);
    assertEquals(await tenant.query(INSERT, ["x"]).then(({ status }) => status), 200);
  });
});

Deno.test("an sqld that is not there is 503 for every kind of call, and goes on where it was when it is back", async () => {
  await withSqld(async (world) => {
    await prepare(world);
    await world.sqld.kill();
    await assertAllUnavailable(world, "away");
    const ready = await world.app.request("GET", "/readyz");
    assertEquals([ready.status, ready.headers.get("retry-after")], [503, "2"], ready.text);
    await world.sqld.restart();
    await assertUntouched(world);
  }, { direct: true });
});

Deno.test("with an sqld that takes 2 s for everything calls are slow and right, and wait for nobody else", async () => {
  await withSqld(async (world) => {
    const { tenant, count, data } = world;
    await tenant.query(INSERT, ["before"]);
    data.between = async (_, go) => {
      await pause(2000);
      return await go();
    };
    const answers = await Promise.all([
      ...Array.from({ length: 20 }, (_, n) => tenant.query("SELECT ?", [n])),
      ...Array.from({ length: 20 }, (_, n) => tenant.query(INSERT, [n])),
    ]);
    data.between = null;
    assertEquals(answers.filter(({ status }) => status !== 200).map(({ text }) => text), []);
    assertEquals(answers.slice(0, 20).map((answer) => rowsOf(answer)[0]?.[0]), [...Array(20).keys()]);
    assertEquals(await count(), 21);
  });
});

/** Whether the request ends a transaction of a caller's. */
const commits = (body: string) => body.includes('"COMMIT"') && body.includes("_service_meta_audit");

Deno.test("a write whose answer is lost for good says that its outcome is unknown; with a key it is looked up later", async () => {
  await withSqld(async ({ count, data, tenant }) => {
    const lose = (isCommitted: boolean) => {
      let down = false;
      data.between = async ({ body }, go) => {
        if (!down && commits(body)) {
          down = true;
          if (isCommitted) await go();
        }
        return down ? new Response("secret", { status: 502 }) : await go();
      };
    };
    const cases = [{ isCommitted: true, key: "found", ran: 1 }, { isCommitted: false, key: null, ran: 0 }];
    let rows = 0;
    for (const { isCommitted, key, ran } of cases) {
      const options = key === null ? {} : { headers: { "idempotency-key": key } };
      lose(isCommitted);
      const lost = await tenant.query(INSERT, ["x"], options);
      data.between = null;
      assertEquals([lost.status, lost.body.code], [503, "outcome_unknown"], lost.text);
      assertMatch(lost.body.error ?? "", /Read before you repeat/);
      assertMatch(lost.headers.get("retry-after") ?? "", /^\d+$/);
      assertEquals(await count(), rows += ran);
      if (key === null) continue;
      const again = await tenant.query(INSERT, ["x"], options);
      assertEquals([again.status, again.headers.get("idempotency-replayed")], [200, "true"]);
      assertEquals(await count(), rows);
    }
    assertEquals(rowsOf(await tenant.query("SELECT count(*) FROM _service_meta_audit"))[0]?.[0], rows + 1);
  });
});

Deno.test("sqld killed in the middle of a statement is 503, and the statement is undone", async () => {
  await withSqld(async ({ count, sqld, tenant }) => {
    await tenant.query(INSERT, ["before"]);
    const long = ENDLESS.replace("SELECT count(*)", "INSERT INTO t (a) SELECT i");
    const running = [tenant.query(ENDLESS), tenant.query(long)];
    await pause(300);
    const behind = tenant.query(INSERT, ["behind"]);
    await pause(50);
    await sqld.kill();
    const answers = await Promise.all([...running, behind]);
    for (const answer of answers) assertUnavailable(answer, "killed");
    await sqld.restart();
    assertEquals(await count(), 1);
    assertEquals((await tenant.query(INSERT, ["after"])).status, 200);
    assertEquals(await count(), 2);
  }, { direct: true });
});

// What a process does is read in /proc.
const ignore = Deno.build.os !== "linux";
Deno.test(
  "a statement past its deadline, or whose caller has gone, is stopped on the server",
  { ignore },
  async () => {
    await withSqld(async ({ sqld, tenant }) => {
      // The statement behind it finds an open stream, which must not outlive its caller either.
      await tenant.query("SELECT 1");
      const late = await tenant.query(ENDLESS);
      assertEquals([late.status, late.body.code], [400, "statement_timeout"], late.text);
      await assertIdle(sqld.pid);
      const gone = new AbortController();
      const running = tenant.query(ENDLESS, [], { signal: gone.signal }).catch(() => {});
      await pause(100);
      gone.abort();
      await running;
      await assertIdle(sqld.pid);
    }, { settings: { QUERY_TIMEOUT_MS: "2000" }, direct: true });
  },
);

Deno.test("an anonymous caller who hangs up in a published insert holds up no writer", async () => {
  await withSqld(async ({ app, tenant, data }) => {
    const endpoints = `/api/namespaces/${tenant.slug}/databases/main/endpoints`;
    const spec = {
      ...{ slug: "add", name: "Add", kind: "mutation", method: "POST", sql: INSERT, output: "rows_written" },
      input: [{ name: "a", type: "text", required: true }],
    };
    const saved = await app.request("POST", endpoints, { token: tenant.token, body: spec });
    assertEquals(saved.status, 201, saved.text);
    assertEquals(
      (await app.request("POST", `${endpoints}/add/publish`, { token: tenant.token })).status,
      200,
    );
    const path = `/p/${tenant.slug}/main/add`;
    await assertPrompt(async () => {
      const gone = new AbortController();
      data.between = async ({ body }, go) => {
        const answer = await go();
        if (body.includes('"anonymous"')) gone.abort();
        return answer;
      };
      const options = { body: { a: "anonymous" }, signal: gone.signal };
      const left = app.request("POST", path, options).catch(() => {});
      await new Promise((resolve) => gone.signal.addEventListener("abort", resolve));
      const startedMs = performance.now();
      assertEquals((await tenant.query(INSERT, ["behind"])).status, 200);
      const tookMs = performance.now() - startedMs;
      await left;
      return tookMs;
    });
  });
});

Deno.test("an sqld that has gone silent is 503 with Retry-After, and no statement is told that it took too long", async () => {
  await withSqld(async ({ app, sqld, tenant, count }) => {
    await prepare({ app, tenant });
    await suspend(sqld.pid);
    try {
      const asked = calls({ app, tenant }).filter(([name]) =>
        ["read", "write", "batch", "dry run", "published"].includes(name)
      );
      const answers = await Promise.all(asked.map(([, send]) => send()));
      for (const [at, answer] of answers.entries()) assertUnavailable(answer, asked[at]?.[0] ?? "");
    } finally {
      Deno.kill(sqld.pid, "SIGCONT");
    }
    assertEquals(await count(), 1);
    assertEquals((await tenant.query(INSERT, ["after"])).status, 200);
  }, { settings: { QUERY_TIMEOUT_MS: "2000" }, direct: true });
});

Deno.test("40 databases made at once are all there", async () => {
  await withSqld(async ({ app, tenant }) => {
    const made = await Promise.all(Array.from({ length: 40 }, (_, n) => tenant.createDatabase(`d${n}`)));
    for (const { path } of made) {
      const answer = await app.request("POST", `${path}/query`, {
        token: tenant.token,
        body: { sql: "CREATE TABLE t (a)" },
      });
      assertEquals(answer.status, 200, answer.text);
    }
  });
});

async function prepare({ app, tenant }: Pick<World, "app" | "tenant">): Promise<void> {
  await tenant.query(INSERT, ["before"]);
  const at = { token: tenant.token };
  const taken = await app.request("POST", `${tenant.database.path}/snapshots`, {
    ...at,
    body: { label: "mine" },
  });
  assertEquals(taken.status, 201, taken.text);
  const endpoints = `/api/namespaces/${tenant.slug}/databases/main/endpoints`;
  const saved = await app.request("POST", endpoints, {
    ...at,
    body: {
      ...{ slug: "all", name: "All", kind: "query", method: "GET" },
      ...{ sql: "SELECT a FROM t", input: [], output: "rows" },
    },
  });
  assertEquals(saved.status, 201, saved.text);
  assertEquals((await app.request("POST", `${endpoints}/all/publish`, at)).status, 200);
  assertEquals((await app.request("GET", `/p/${tenant.slug}/main/all`)).status, 200);
}

async function assertAllUnavailable(world: World, why: string, only: readonly string[] | null = null) {
  const asked = calls(world).filter(([name]) => only === null || only.includes(name));
  const answers = await Promise.all(asked.map(([, send]) => send()));
  for (const [at, answer] of answers.entries()) assertUnavailable(answer, `${why}: ${asked[at]?.[0]}`);
}

async function assertUntouched({ app, tenant }: World): Promise<void> {
  assertEquals(rowsOf(await tenant.query("SELECT a FROM t")), [["before"]]);
  assertEquals((await tenant.query("SELECT * FROM never")).body.errorDetail?.kind, "unknown_table");
  const snapshots = await app.request("GET", `${tenant.database.path}/snapshots`, { token: tenant.token });
  assert(snapshots.text.includes('"mine"') && !snapshots.text.includes('"never"'), snapshots.text);
  const written = await tenant.query(INSERT, ["never"], { headers: { "idempotency-key": "never" } });
  assertEquals([written.status, written.headers.get("idempotency-replayed")], [200, null], written.text);
}

/** The process comes to rest: hardly any time on a processor in a fifth of a second. */
async function assertIdle(pid: number): Promise<void> {
  const ticks = async () => {
    const stat = (await Deno.readTextFile(`/proc/${pid}/stat`)).split(") ")[1]?.split(" ") ?? [];
    return Number(stat[11]) + Number(stat[12]);
  };
  for (let attempt = 0; attempt < 50; attempt++) {
    const before = await ticks();
    await pause(200);
    if (await ticks() - before <= 4) return;
  }
  throw new Error("the server goes on working");
}
