// runEndpoint(): what the management's test runs, gates aside.
import { assertEquals } from "@std/assert";
import type { QueryTarget } from "../../lib/query/query_call.ts";
import { runEndpoint } from "../../lib/services/published/run_endpoint.ts";
import { oneStore } from "../testing/cases.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { type PublishedApp, publishedApp } from "./publish.ts";

const { run, test } = oneStore();
Deno.test("run endpoint", run);

async function resolved({ app, acme }: PublishedApp, slug: string) {
  const record = await app.deps.control.endpoints.read(acme.database.id, slug);
  const database = await app.deps.control.namespaces.bySlug("acme");
  if (record === null || database === null) throw new Error("it is gone");
  const target: QueryTarget = {
    ...{
      namespaceId: database.id,
      namespaceSlug: "acme",
      databaseId: acme.database.id,
      databaseSlug: "main",
    },
    ...{ branchRef: "main", role: "admin" },
  };
  return { record, target };
}

test("a draft runs as it would when published, without its gates, and its failures are answers", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "item", captcha: true, rateLimit: { perDay: 1 } }, "draft");
  const { published } = world.app.deps;
  const endpoint = await resolved(world, "item");
  for (const input of [{ id: 1 }, { id: "1" }]) {
    assertEquals(await runEndpoint(published, { ...endpoint, input, session: null }), {
      status: 200,
      body: { columns: ["id", "name"], rows: [[1, "one"]] },
    });
  }
  const bad = await runEndpoint(published, { ...endpoint, input: { id: "x", more: 1 }, session: null });
  assertEquals(bad, {
    status: 400,
    body: {
      success: false,
      error: "Validation failed",
      code: "validation_failed",
      issues: [
        { path: "id", message: "Send a whole number of at most 64 bits here" },
        { path: "more", message: "Remove this field; it is not known here; known are id" },
      ],
    },
  });
  assertEquals((await runEndpoint(published, { ...endpoint, input: [], session: null })).status, 400);
  assertEquals(rowsOf(await world.acme.query("SELECT count(*) FROM _service_meta_endpoint_call")), [[0]]);
});

test("a simulated session fills the $-fields, an endpoint of a session refuses to do without", async () => {
  await using world = await publishedApp();
  await world.put({
    slug: "mine",
    auth: "session",
    kind: "mutation",
    method: "POST",
    output: "rows",
    sql: "UPDATE item SET name = ? || ? WHERE owner = ? RETURNING id, name",
    input: [
      { name: "name", type: "text", required: true },
      { name: "$user_email", type: "text" },
      { name: "$user_id", type: "integer" },
    ],
  }, "draft");
  const { published } = world.app.deps;
  const endpoint = await resolved(world, "mine");
  const input = { name: "new" };
  const run = (session: { userId: string; email?: string } | null) =>
    runEndpoint(published, { ...endpoint, input, session, tokenId: "a test" });
  assertEquals((await run(null)).status, 401);
  assertEquals((await run({ userId: "somebody" })).status, 401);
  assertEquals(await run({ userId: "8", email: "a@b.c" }), {
    status: 200,
    body: { columns: ["id", "name"], rows: [[2, "newa@b.c"]] },
  });
  const audit = rowsOf(
    await world.acme.query("SELECT token_id, user_id, operation FROM _service_meta_audit"),
  );
  assertEquals(audit.at(-1), ["a test", "8", "endpoint"]);
});
