// Refused calls, which nobody pays for, cannot fill a tenant's database: equal ones of a minute share a row, and the log
// has a bound of bytes.
import { assert, assertEquals } from "@std/assert";
import { rowsOf } from "../testing/test_namespace.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { type PublishedApp, publishedApp } from "./publish.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("refused calls", run);

const CALLS = "SELECT endpoint, status, http_status, code, count FROM _service_meta_endpoint_call " +
  "WHERE status = 'error' ORDER BY http_status, id";

/** Late enough in its minute that no test runs into the next one. */
function atMinute(): TurnableClock {
  const clock = new TurnableClock();
  clock.turn(60_000 - clock.now() % 60_000);
  return clock;
}

async function statsOf({ app, acme }: PublishedApp, slug: string) {
  const path = `/api/namespaces/acme/databases/main/endpoints/${slug}/stats`;
  const { data } = JSON.parse((await app.request("GET", path, { token: acme.token })).text);
  return data as { calls: number; byStatus: Record<string, number> }[];
}

test("equal refusals of a minute share a row that counts them, and the next minute has its own", async () => {
  const clock = atMinute();
  await using world = await publishedApp({ clock });
  await world.put({ slug: "item", rateLimit: { perMin: 2 } });
  await world.put({ slug: "closed" }, "paused");
  for (let i = 0; i < 152; i++) await world.call("item?id=1");
  await Promise.all(Array.from({ length: 100 }, () => world.call("closed?id=1")));
  for (let i = 0; i < 5; i++) await world.call("item", { method: "POST", body: "{" });
  const first = [
    ["item", "error", 405, "method_not_allowed", 5],
    ["item", "error", 429, "rate_limited", 150],
    ["closed", "error", 503, "endpoint_paused", 100],
  ];
  assertEquals(rowsOf(await world.acme.query(CALLS)), first);
  // Counted on after the row is in the table.
  await world.call("closed?id=1");
  assertEquals(rowsOf(await world.acme.query(CALLS)).at(-1), [
    "closed",
    "error",
    503,
    "endpoint_paused",
    101,
  ]);
  clock.turn(60_000);
  for (let i = 0; i < 7; i++) await world.call("closed?id=1");
  assertEquals(rowsOf(await world.acme.query(CALLS)).slice(2), [
    ["closed", "error", 503, "endpoint_paused", 101],
    ["closed", "error", 503, "endpoint_paused", 7],
  ]);
  const stats = await statsOf(world, "closed");
  assertEquals(stats.reduce((sum, { calls }) => sum + calls, 0), 108);
  assertEquals((await statsOf(world, "item"))[0]?.byStatus, { 200: 2, 405: 5, 429: 150 });
});

test("refusals for want of money leave one row, in the log of calls alone", async () => {
  await using world = await publishedApp({ settings: { WELCOME_CREDIT_USD: "0.00001" }, clock: atMinute() });
  await world.put({ slug: "item" });
  await world.put({
    ...{ slug: "ask", kind: "ask", method: "POST", output: "answer", sql: "" },
    input: [{ name: "question", type: "text", required: true }],
    askConfig: { allowedTables: ["item"] },
  });
  let paid = 0;
  while ((await world.call("item?id=1")).status === 200) paid++;
  for (let i = 0; i < 49; i++) assertEquals((await world.call("item?id=1")).status, 402);
  for (let i = 0; i < 3; i++) {
    assertEquals((await world.call("ask", { body: { question: "how many items are there?" } })).status, 402);
  }
  const money = { token: world.app.operatorKey, body: { amountUsd: 1, reference: "test" } };
  await world.app.request("POST", "/api/namespaces/acme/credits", money);
  const count =
    "SELECT count(*) FROM _service_meta_query_log WHERE operation IN ('endpoint', 'query') AND ts > 0 " +
    "AND token_id LIKE 'endpoint:%'";
  assertEquals(rowsOf(await world.acme.query(count)), [[paid]]);
  const calls = rowsOf(await world.acme.query(CALLS)).map((row) => [row[0], row[2], row[4]]);
  assertEquals(calls.sort(), [["ask", 402, 3], ["item", 402, 50]]);
});

test("the owner reads in the log of calls which rule has denied a write; the stranger does not", async () => {
  await using world = await publishedApp({ clock: atMinute() });
  await world.put({
    ...{ slug: "remove", kind: "mutation", method: "POST", output: "rows_written" },
    sql: "DELETE FROM item WHERE id = ?",
  });
  const body = { tableGlob: "item", effect: "require_approval", note: "ask Ada" };
  const rules = "/api/namespaces/acme/databases/main/rules";
  const made = await world.app.request("POST", rules, { token: world.acme.token, body });
  assertEquals(made.status, 201);
  assertEquals((await world.call("remove", { body: { id: 1 } })).body.code, "rule_denied");
  assertEquals((await world.call("remove", { body: { id: 2 } })).body.code, "rule_denied");
  const [[code, hits, count] = []] = rowsOf(
    await world.acme.query("SELECT code, hits, count FROM _service_meta_endpoint_call"),
  );
  const [hit] = JSON.parse(String(hits));
  assertEquals([code, hit.note, hit.table, hit.action, count], [
    "rule_denied",
    "ask Ada",
    "item",
    "delete",
    2,
  ]);
});

test("the query log keeps to its bytes, its oldest rows go, and the audit trail keeps all of its own", async () => {
  await using world = await publishedApp({ settings: { LOG_BYTES: "1048576" } });
  const long = "x".repeat(3900);
  for (let round = 0; round < 10; round++) {
    const calls = Array.from({ length: 50 }, (_, at) => world.acme.query(`SELECT ${at} /* ${long} */`));
    for (const { status, text } of await Promise.all(calls)) assertEquals(status, 200, text);
    const wrote = await world.acme.query(`INSERT INTO item (name) VALUES ('r${round}') /* ${long} */`);
    assertEquals(wrote.status, 200, wrote.text);
  }
  // What is too much goes with the next rows that are written.
  await world.acme.query("SELECT count(*) FROM _service_meta_query_log");
  const [[bytes = 0, newest] = []] = rowsOf(
    await world.acme.query("SELECT sum(length(sql)), max(id) FROM _service_meta_query_log"),
  );
  assert(Number(bytes) > 200_000 && Number(bytes) < 700_000, `${bytes} bytes are kept`);
  assert(String(newest).startsWith("qry_"));
  const audited =
    "SELECT count(*) FROM _service_meta_audit WHERE tables = '[\"item\"]' AND operation = 'query'";
  assertEquals(rowsOf(await world.acme.query(audited)), [[10]]);
});

test("the log of a database that is only written to keeps to its bytes as well", async () => {
  await using world = await publishedApp({ settings: { LOG_BYTES: "1048576" } });
  const long = "x".repeat(3900);
  for (let round = 0; round < 10; round++) {
    const calls = Array.from(
      { length: 50 },
      () => world.acme.query(`INSERT INTO item (price) VALUES (1) /* ${long} */`),
    );
    for (const { status, text } of await Promise.all(calls)) assertEquals(status, 200, text);
  }
  const sum = "SELECT sum(length(sql)) FROM _service_meta_query_log";
  // What is too much goes with the rows of the next look.
  await world.acme.query(sum);
  const [[bytes = 0] = []] = rowsOf(await world.acme.query(sum));
  assert(Number(bytes) > 200_000 && Number(bytes) < 700_000, `${bytes} bytes are kept`);
  assertEquals(rowsOf(await world.acme.query("SELECT count(*) >= 500 FROM _service_meta_audit")), [[1]]);
});
