// Reads that take long leave the way free for those that come after them, of the same token and of others.
import { assert, assertEquals } from "@std/assert";
import { startSharedSqld } from "../testing/shared_sqld.ts";
import { callService, manage, newToken, type ServiceAnswer, serviceWorld } from "../testing/service_world.ts";
import { pause } from "../../lib/core/pause.ts";
import { ENDLESS } from "../testing/endless.ts";

/** Slow by itself, so that it waits as the endless ones do, for a slot that they never leave. */
const LONG = `SELECT count(*) FROM (${
  ENDLESS.replace("SELECT count(*) FROM c", "SELECT i FROM c LIMIT 800000")
})`;
/** Longer than any test here takes, on however busy a machine: what is held up behind these reads does not end. */
const NEVER_MS = "200000";
/** After which what is not there counts as held up. */
const PATIENCE_MS = 90_000;
/** Sends them and tells which have been answered, in their order; `all`: every one has ended, answered or not. */
function send(calls: readonly Promise<ServiceAnswer>[]): { ended: ServiceAnswer[]; all: Promise<unknown> } {
  const ended: ServiceAnswer[] = [];
  const all = Promise.allSettled(calls.map((call) => call.then((answer) => ended.push(answer))));
  return { ended, all };
}

/** On a machine without time for it the control plane may be too late, which has nothing to do with the reads. */
async function untilDone(
  world: Parameters<typeof callService>[0],
  sql: string,
  database?: string,
): Promise<ServiceAnswer> {
  for (;;) {
    const answer = await callService(world, sql, database);
    if (answer.body.code === "meter_unreachable") continue;
    assertEquals([answer.status, answer.body.code], [200, undefined]);
    return answer;
  }
}

for (
  const [name, text] of [
    ["of one text", () => ENDLESS],
    ["of ten texts", (n: number) => ENDLESS.replace("(*)", `(*) + ${n}`)],
  ] as const
) {
  Deno.test(`ten endless reads ${name} hold up no later read of the same or another token`, async () => {
    await using world = await serviceWorld({ QUERY_TIMEOUT_MS: NEVER_MS });
    const other = await newToken(world, "read");
    const sent = send(Array.from({ length: 10 }, (_, n) => callService(world, text(n))));
    await pause(200);
    for (const token of [world.token, other]) {
      assertEquals((await untilDone({ ...world, token }, "SELECT 1")).body.data?.rows, [[1]]);
    }
    assertEquals(sent.ended.length, 0);
    await world.service.kill();
    await sent.all;
  });
}

type World = Awaited<ReturnType<typeof serviceWorld>>;

/** `beside` runs beside endless reads, which end after it. False: it has not ended after a while. */
async function isHeldUpBy(
  settings: Readonly<Record<string, string>>,
  beside: (world: World) => Promise<void>,
): Promise<boolean> {
  await using world = await serviceWorld({ QUERY_TIMEOUT_MS: NEVER_MS, ...settings });
  let isHeldUp = false;
  const giveUp = setTimeout(() => {
    isHeldUp = true;
    void world.service.kill();
  }, PATIENCE_MS);
  try {
    await beside(world);
  } catch (error) {
    if (!isHeldUp) throw error;
  } finally {
    clearTimeout(giveUp);
  }
  return isHeldUp;
}

/** Twenty tokens of one namespace read without end in two databases; one of another namespace has a long read. */
async function besideTwentyTokens(world: World): Promise<void> {
  await manage(world, "/acme/databases", { slug: "more" });
  await manage(world, "", { slug: "globex" });
  await manage(world, "/globex/databases", { slug: "main" });
  const other = await newToken(world, "read", "globex");
  const tokens = await Promise.all(Array.from({ length: 20 }, () => newToken(world, "read")));
  const sent = send(
    ["main", "more"].flatMap((database) =>
      tokens.map((token, n) =>
        callService({ ...world, token }, ENDLESS.replace("(*)", `(*) + ${n}`), database)
      )
    ),
  );
  await pause(500);
  const long = await untilDone({ ...world, token: other }, LONG, "globex/main");
  assertEquals(long.body.data?.rows, [[800_000]]);
  assertEquals(sent.ended.map(({ body }) => body), []);
  await world.service.kill();
  await sent.all;
}

async function besideFourTokens(world: World): Promise<void> {
  await callService(world, "CREATE TABLE t (a)");
  const other = { ...world, token: await newToken(world, "admin") };
  const reader = await newToken(world, "read");
  const tokens = await Promise.all(Array.from({ length: 4 }, () => newToken(world, "read")));
  const texts = Array.from({ length: 120 }, (_, n) => ENDLESS.replace("(*)", `(*) + ${n}`));
  const sent = send(texts.map((text, n) => callService({ ...world, token: tokens[n % 4] ?? "" }, text)));
  await pause(300);
  const long = untilDone({ ...world, token: reader }, LONG);
  long.catch(() => {}); // it may fail before somebody waits for it
  for (let n = 0; n < 3; n++) {
    await pause(300);
    await untilDone(other, `INSERT INTO t VALUES (${n})`);
    assertEquals((await untilDone(other, "SELECT count(*) FROM t")).body.data?.rows, [[n + 1]]);
  }
  assertEquals((await long).body.data?.rows, [[800_000]]);
  assertEquals(
    sent.ended.filter(({ body }) => body.code !== "meter_unreachable").map(({ body }) => body),
    [],
  );
  await world.service.kill();
  await sent.all;
}

/** The statement in a transaction over several requests. */
async function inTransaction({ service, token }: World, sql: string): Promise<ServiceAnswer> {
  const ask = (baton: string | null, sql: string) =>
    fetch(`${service.url}/hrana/acme/main/v2/pipeline`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ baton, requests: [{ type: "execute", stmt: { sql } }] }),
    });
  const { baton } = await (await ask(null, "BEGIN")).json();
  assert(typeof baton === "string");
  const response = await ask(baton, sql);
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** Databases of another namespace go back to a snapshot; children that read without an end may have their files open. */
async function besideRestores(world: World): Promise<void> {
  await manage(world, "", { slug: "globex" });
  const databases = Array.from({ length: 4 }, (_, n) => `d${n}`);
  for (const slug of databases) await manage(world, "/globex/databases", { slug });
  const other = { ...world, token: await newToken(world, "admin", "globex") };
  const post = async (path: string, body: unknown) => {
    const response = await fetch(`${world.service.url}/v1/db/globex/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${other.token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    assertEquals([response.ok, (await response.json()).code], [true, undefined], path);
  };
  for (const slug of databases) {
    await untilDone(other, "CREATE TABLE t (a)", `globex/${slug}`);
    await post(`${slug}/snapshots`, { label: "before" });
    await untilDone(other, "INSERT INTO t VALUES (1)", `globex/${slug}`);
  }
  // Each child has all of them open, as far as it depends on us.
  const reads = databases.flatMap((slug) => Array(8).fill(`globex/${slug}`));
  await Promise.all(
    reads.map((path) => untilDone(other, "SELECT count(*) + abs(random()) * 0 FROM t", path)),
  );
  const sent = send([
    ...Array.from({ length: 3 }, (_, n) => callService(world, ENDLESS.replace("(*)", `(*) + ${n}`))),
    inTransaction(world, ENDLESS),
  ]);
  await pause(500);
  for (const slug of databases) {
    await post(`${slug}/restore`, { snapshot: "before" });
    assertEquals((await untilDone(other, "SELECT count(*) FROM t", `globex/${slug}`)).body.data?.rows, [[0]]);
  }
  assertEquals(sent.ended.map(({ body }) => body), []);
  await world.service.kill();
  await sent.all;
}

Deno.test("endless reads of one namespace hold up no restore of another one, and go on", async () => {
  assert(!await isHeldUpBy({}, besideRestores));
});

Deno.test("endless reads of four tokens, each of a text of its own, hold up no read and no write of another token, nor a long one", async () => {
  assert(!await isHeldUpBy({}, besideFourTokens));
});

Deno.test("endless reads of twenty tokens of one namespace hold up no long read of another namespace's one token", async () => {
  assert(!await isHeldUpBy({}, besideTwentyTokens));
});

Deno.test("both hold where tenants live in sqld", async () => {
  const sqld = await startSharedSqld();
  if (!sqld) return;
  const { TEST_TENANTS_URL: url = "", TEST_TENANTS_TOKEN: token = "", TEST_TENANTS_JWT_KEY: key = "" } =
    sqld.env;
  const settings = { TENANTS_URL: url, TENANTS_TOKEN: token, TENANTS_JWT_KEY: key };
  try {
    for (const beside of [besideFourTokens, besideTwentyTokens]) {
      assert(!await isHeldUpBy(settings, beside), beside.name);
    }
  } finally {
    await sqld.stop();
  }
});

Deno.test("a read that has waited as long as a statement may run is database_busy with Retry-After", async () => {
  await using world = await serviceWorld({ QUERY_TIMEOUT_MS: "2000" });
  const sent = send(Array.from({ length: 6 }, () => callService(world, ENDLESS)));
  await sent.all;
  assertEquals(sent.ended.length, 6);
  const kinds = Object.groupBy(sent.ended, ({ body }) => String(body.code));
  assertEquals(Object.keys(kinds).sort(), ["database_busy", "statement_timeout"]);
  for (const { status, headers } of kinds["database_busy"] ?? []) {
    assertEquals([status, headers.has("retry-after")], [503, true]);
  }
  assertEquals((await untilDone(world, "SELECT 1")).status, 200);
});
