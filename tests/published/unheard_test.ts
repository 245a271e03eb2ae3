// What a published POST would not hear is refused, and what browsers and proxies send by themselves is not.
import { assertEquals } from "@std/assert";
import { issuePaths, type PublishedApp, publishedApp } from "./publish.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("what would not be heard", run);

async function world(): Promise<PublishedApp> {
  const made = await publishedApp();
  await made.put({
    ...{ slug: "add", kind: "mutation", method: "POST", output: "rows_written" },
    sql: "INSERT INTO item (name) VALUES (?)",
    input: [{ name: "name", type: "text" }],
  });
  await made.put({ slug: "find", method: "POST" });
  await made.put({ slug: "item" });
  return made;
}

test("a header that a published POST would not hear is refused before anything runs", async () => {
  await using at = await world();
  const unheard = {
    "X-Dry-Run": "1",
    "X-Max-Affected": "1",
    "X-Service-No-Snapshot": "1",
    "Plan-Key": "p",
    "Plan-Step": "1",
    "X-Integers": "string",
  };
  for (const [name, value] of Object.entries(unheard)) {
    const refused = await at.call("add", { body: { name: "new" }, headers: { [name.toLowerCase()]: value } });
    assertEquals(issuePaths(refused), [name]);
  }
  assertEquals(issuePaths(await at.call("add", { body: {}, headers: unheard })), Object.keys(unheard).sort());
  const key = { "Idempotency-Key": "0123456789abcdef" };
  assertEquals(issuePaths(await at.call("find", { body: { id: 1 }, headers: key })), ["Idempotency-Key"]);
  const { data } = (await at.acme.query("SELECT count(*) FROM item")).body as { data: { rows: unknown } };
  assertEquals(data.rows, [[3]]);
});

test("a parameter in the address of a published POST is refused by its name", async () => {
  await using at = await world();
  assertEquals(issuePaths(await at.call("add?name=new", { body: {} })), ["name"]);
  assertEquals(issuePaths(await at.call("add?dryRun=1&b", { body: { name: "new" } })), ["b", "dryRun"]);
  assertEquals((await at.call("add?", { body: { name: "new" } })).status, 200);
});

test("headers that are heard, and those of browsers and proxies, pass", async () => {
  await using at = await world();
  const usual = {
    ...{
      "accept": "*/*",
      "accept-language": "de",
      "origin": "https://shop.example",
      "referer": "https://x.example/",
    },
    ...{ "sec-fetch-mode": "cors", "user-agent": "test", "x-forwarded-for": "192.0.2.1", "via": "1.1 proxy" },
    ...{ "x-request-id": "1", "priority": "u=1", "dnt": "1", "cookie": "a=b", "x-requested-with": "fetch" },
    ...{
      "traceparent": "00-1-2-01",
      "cdn-loop": "x",
      "content-type": "application/json",
      "cache-control": "no-cache",
    },
  };
  assertEquals((await at.call("add", { body: { name: "new" }, headers: usual })).status, 200);
  const integers = { ...usual, "x-integers": "string" };
  assertEquals((await at.call("find", { body: { id: 1 }, headers: integers })).status, 200);
  assertEquals((await at.call("item?id=1", { headers: integers })).status, 200);
});
