// Endpoints through the management API: made, changed, moved between states, deleted, brought back.
import { assert, assertEquals } from "@std/assert";
import { endpointWorld, ORDERS, readSpec } from "./endpoint_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("endpoints through the management API", run);

test("a new endpoint is a draft with the whole specification, and its slug is taken from then on", async () => {
  await using world = await endpointWorld([ORDERS]);
  const made = await world.call("POST", "", readSpec());
  assertEquals(made.status, 201, made.text);
  const { createdAt, updatedAt, ...rest } = recordOf(made.body.data);
  assertEquals(createdAt, updatedAt);
  assertEquals(rest, {
    ...readSpec(),
    status: "draft",
    revision: 1,
    url: "http://127.0.0.1/p/acme/main/get-order",
  });
  const again = await world.call("POST", "", readSpec());
  assertEquals([again.status, again.body.code], [409, "slug_taken"]);
  assertEquals((await world.call("GET", "/get-order")).body.data, made.body.data);
  assertEquals((await world.call("GET")).body.data, [made.body.data]);
  const unknown = await world.call("GET", "/other");
  assertEquals([unknown.status, unknown.body.code], [404, "endpoint_not_found"]);
});

test("replacing keeps the status and the slug", async () => {
  await using world = await endpointWorld([ORDERS]);
  await world.call("POST", "", readSpec());
  await world.call("POST", "/get-order/publish");
  const replaced = await world.call("PUT", "/get-order", readSpec({ name: "Read order" }));
  assertEquals(replaced.status, 200, replaced.text);
  const { status, name, revision } = recordOf(replaced.body.data);
  assertEquals({ status, name, revision }, { status: "published", name: "Read order", revision: 3 });
  const moved = await world.call("PUT", "/get-order", readSpec({ slug: "other" }));
  assertEquals(moved.body.issues?.map(({ path }) => path), ["slug"]);
  assertEquals((await world.call("PUT", "/none", readSpec({ slug: "none" }))).status, 404);
});

test("a body that is longer than any specification is refused before it is checked; the longest one comes in however it is written", async () => {
  await using world = await endpointWorld([ORDERS]);
  await world.call("POST", "", readSpec());
  const long = readSpec({ input: Array(200_000).fill({}) });
  const tried = { input: Object.fromEntries(Array.from({ length: 200_000 }, (_, at) => [`k${at}`, 1])) };
  for (
    const [method, path, body] of [
      ["POST", "", long],
      ["PUT", "/get-order", long],
      ["PATCH", "/get-order", { input: long["input"] }],
      ["POST", "/get-order/test", tried],
    ] as const
  ) {
    const { status, body: { code } } = await world.call(method, path, body);
    assertEquals([status, code], [413, "payload_too_large"], `${method} ${path}`);
  }
  const longest = readSpec({ sql: `${readSpec()["sql"]} -- ${"a".repeat(58_000)}` });
  const escaped = JSON.stringify(longest).replaceAll("a".repeat(58_000), "\\u0061".repeat(58_000));
  const { status } = await world.app.request(
    "PUT",
    "/api/namespaces/acme/databases/main/endpoints/get-order",
    {
      token: world.tenant.token,
      body: escaped,
    },
  );
  assertEquals(status, 200);
});

test("a PATCH changes the members that it names, and nothing where the whole would be wrong", async () => {
  await using world = await endpointWorld([ORDERS]);
  await world.call("POST", "", readSpec({ rateLimit: { perMin: 5 }, description: "Orders" }));
  await world.call("POST", "/get-order/publish");
  const changed = await world.call("PATCH", "/get-order", {
    ...{ captcha: true, description: null, rateLimit: { perDay: 9 } },
    input: [{ name: "id", type: "integer" }],
  });
  const { createdAt: _, updatedAt: __, url: ___, ...rest } = recordOf(changed.body.data);
  assertEquals(rest, {
    ...readSpec({
      captcha: true,
      rateLimit: { perMin: 5, perDay: 9 },
      input: [{ name: "id", type: "integer" }],
    }),
    ...{ status: "published", revision: 3 },
  });
  const before = (await world.call("GET", "/get-order")).body.data;
  const wrong: readonly (readonly [body: unknown, paths: readonly string[]])[] = [
    [{}, [""]],
    [[{ captcha: true }], [""]],
    ['"captcha"', [""]],
    [{ captch: true }, ["captch"]],
    [{ captch: null }, ["captch"]],
    [{ rateLimit: { perDya: null } }, ["rateLimit.perDya"]],
    [{ name: null, sql: "SELECT * FROM other" }, ["name", "sql"]],
    [{ status: "draft" }, ["status"]],
    [{ slug: "other" }, ["slug"]],
    [{ revision: 2, name: "Old" }, ["revision"]],
    [{ rateLimit: { perMin: { a: { b: { c: { d: {} } } } } } }, ["rateLimit.perMin"]],
    [JSON.parse('{"__proto__":{"captcha":false}}'), ["__proto__"]],
  ];
  for (const [body, paths] of wrong) {
    const { status, body: { code, issues }, text } = await world.call("PATCH", "/get-order", body);
    assertEquals([status, code, issues?.map(({ path }) => path)], [400, "validation_failed", paths], text);
  }
  assertEquals((await world.call("GET", "/get-order")).body.data, before);
  assertEquals((await world.call("PATCH", "/none", { captcha: true })).body.code, "endpoint_not_found");
});

test("of many PATCHes at once every one is kept", async () => {
  await using world = await endpointWorld([ORDERS]);
  await world.call("POST", "", readSpec());
  const changes = [{ captcha: true }, { name: "New" }, { rateLimit: { perMin: 1 } }, {
    rateLimit: { perDay: 2 },
  }];
  const answers = await Promise.all(changes.map((change) => world.call("PATCH", "/get-order", change)));
  assertEquals(answers.map(({ status }) => status), [200, 200, 200, 200], answers[0]?.text);
  const { captcha, name, rateLimit } = recordOf((await world.call("GET", "/get-order")).body.data);
  assertEquals({ captcha, name, rateLimit }, {
    captcha: true,
    name: "New",
    rateLimit: { perMin: 1, perDay: 2 },
  });
});

test("states change along the documented ways only, and staying leaves no revision", async () => {
  await using world = await endpointWorld([ORDERS]);
  await world.call("POST", "", readSpec());
  const steps: readonly (readonly [transition: string, status: number, revision: number | null])[] = [
    ["pause", 409, null],
    ["unpublish", 200, 1],
    ["publish", 200, 2],
    ["publish", 200, 2],
    ["pause", 200, 3],
    ["pause", 200, 3],
    ["publish", 200, 4],
    ["pause", 200, 5],
    ["unpublish", 200, 6],
    ["pause", 409, null],
  ];
  for (const [transition, status, revision] of steps) {
    const answer = await world.call("POST", `/get-order/${transition}`);
    assertEquals(answer.status, status, `${transition} ${answer.text}`);
    if (revision === null) assertEquals(answer.body.code, "endpoint_status");
    else assertEquals(recordOf(answer.body.data)["revision"], revision, transition);
  }
});

test("revisions say what changed and who did it, newest first, also after the endpoint is deleted", async () => {
  await using world = await endpointWorld([ORDERS]);
  await world.call("POST", "", readSpec());
  await world.call("PUT", "/get-order", readSpec({ name: "Read order" }));
  await world.call("POST", "/get-order/publish");
  assertEquals((await world.call("DELETE", "/get-order")).status, 200);
  assertEquals((await world.call("GET", "/get-order")).status, 404);
  const listed = await world.call("GET", "/get-order/revisions");
  assert(Array.isArray(listed.body.data), listed.text);
  assertEquals(
    listed.body.data.map(({ revision, change, actor, status }) => [revision, change, actor, status]),
    [
      [4, "deleted", world.tenant.id, "published"],
      [3, "status", world.tenant.id, "published"],
      [2, "updated", world.tenant.id, "draft"],
      [1, "created", world.tenant.id, "draft"],
    ],
  );
  const restored = await world.call("POST", "/get-order/revisions/1/restore");
  assertEquals(restored.status, 200, restored.text);
  const { name, status, revision } = recordOf(restored.body.data);
  assertEquals({ name, status, revision }, { name: "Get order", status: "draft", revision: 5 });
  assertEquals((await world.call("POST", "/get-order/revisions/9/restore")).body.code, "revision_not_found");
  for (const number of ["x", "1.0", "01", "+1", "1e0", "0x1", "0", "-1", "%201", "9".repeat(30)]) {
    const answer = await world.call("POST", `/get-order/revisions/${number}/restore`);
    assertEquals([answer.status, answer.body.code], [404, "revision_not_found"], number);
  }
  for (const slug of ["none", "a".repeat(3000), "A%20b"]) {
    assertEquals((await world.call("GET", `/${slug}/revisions`)).body.code, "endpoint_not_found", slug);
    const answer = await world.call("POST", `/${slug}/revisions/1/restore`);
    assertEquals(answer.body.code, "revision_not_found", slug);
  }
});

test("a slug that is made anew goes on counting its revisions", async () => {
  await using world = await endpointWorld([ORDERS]);
  await world.call("POST", "", readSpec());
  await world.call("DELETE", "/get-order");
  const made = await world.call("POST", "", readSpec());
  assertEquals(recordOf(made.body.data)["revision"], 3, made.text);
});

test("a revision that the database has outgrown is not restored", async () => {
  await using world = await endpointWorld([ORDERS]);
  await world.call("POST", "", readSpec());
  await world.tenant.query("DROP TABLE orders");
  const answer = await world.call("POST", "/get-order/revisions/1/restore");
  assertEquals([answer.status, answer.body.issues?.[0]?.path], [400, "sql"]);
});

test("of many that make the same slug at once one wins, and every change has its own revision", async () => {
  await using world = await endpointWorld([ORDERS]);
  const made = await Promise.all(Array.from({ length: 10 }, () => world.call("POST", "", readSpec())));
  assertEquals(made.filter(({ status }) => status === 201).length, 1);
  await Promise.all(
    Array.from({ length: 6 }, (_, at) => world.call("PUT", "/get-order", readSpec({ name: `Name ${at}` }))),
  );
  const listed = await world.call("GET", "/get-order/revisions");
  assert(Array.isArray(listed.body.data), listed.text);
  assertEquals(listed.body.data.map(({ revision }) => revision), [7, 6, 5, 4, 3, 2, 1]);
});

test("a database that is removed takes its endpoints and their revisions with it", async () => {
  await using world = await endpointWorld([ORDERS]);
  await world.call("POST", "", readSpec());
  const { endpoints } = world.app.deps.control;
  const { id } = world.tenant.database;
  assertEquals((await endpoints.list(id)).length, 1);
  const gone = await world.app.request("DELETE", "/api/namespaces/acme", {
    token: world.app.operatorKey,
    body: { confirm: "acme" },
  });
  assertEquals(gone.status, 200, gone.text);
  assertEquals(await endpoints.list(id), []);
  assertEquals(await endpoints.revisions(id, "get-order"), []);
});

/** The record in an answer. */
function recordOf(data: unknown): Record<string, unknown> {
  assert(typeof data === "object" && data !== null);
  return Object.fromEntries(Object.entries(data));
}

test("what is read of an endpoint can be put back, changed or not, and not once it has changed", async () => {
  await using world = await endpointWorld([ORDERS]);
  assertEquals((await world.call("POST", "", readSpec({ outputTypes: { id: "boolean" } }))).status, 201);
  await world.call("POST", "/get-order/publish");
  const read = async () => JSON.parse((await world.call("GET", "/get-order")).text).data;
  const before = await read();
  const { status, text } = await world.call("PUT", "/get-order", before);
  assertEquals(status, 200, text);
  const { revision, updatedAt: _, ...same } = await read();
  assertEquals({ ...same, revision: revision - 1, updatedAt: before.updatedAt }, before);
  const late = await world.call("PUT", "/get-order", before);
  const paths = late.body.issues?.map(({ path }) => path) ?? [];
  assertEquals([late.status, paths.includes("revision")], [400, true], late.text);
  const paused = await world.call("PUT", "/get-order", { ...await read(), status: "paused" });
  assertEquals(paused.body.issues?.map(({ path }) => path), ["status"]);
  assertEquals((await world.call("POST", "", { ...before, slug: "other" })).status, 400);
});
