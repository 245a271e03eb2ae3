// The test operation: an endpoint of any status runs against the live database, with a simulated session.
import { assert, assertEquals } from "@std/assert";
import { endpointWorld, ORDERS, readSpec } from "./endpoint_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("test run", run);

test("a draft answers its test as /p would, and what it writes stays", async () => {
  await using world = await endpointWorld([ORDERS]);
  await world.call("POST", "", readSpec());
  await world.call(
    "POST",
    "",
    readSpec({
      ...{ slug: "add", kind: "mutation", method: "POST", output: "rows_written" },
      ...{
        sql: "INSERT INTO orders (note) VALUES (?)",
        input: [{ name: "note", type: "text", required: true }],
      },
    }),
  );
  const test = (slug: string, body: unknown) => world.call("POST", `/${slug}/test`, body);
  assertEquals((await test("add", { input: { note: "first" } })).body.data, {
    status: 200,
    body: { rowsWritten: 1 },
  });
  assertEquals((await test("get-order", { input: { id: 1 } })).body.data, {
    status: 200,
    body: { row: { id: 1, note: "first" } },
  });
  const { status, body } = await test("get-order", { input: { id: "x" } });
  assertEquals(status, 200);
  assertEquals(Reflect.get(Object(body.data), "status"), 400);
  assertEquals((await world.app.request("GET", "/p/acme/main/get-order?id=1")).status, 404);
});

test("the simulated session fills the fields of a session; without one the test answers 401", async () => {
  await using world = await endpointWorld([ORDERS]);
  await world.call(
    "POST",
    "",
    readSpec({
      ...{ auth: "session", sql: "SELECT ? AS id, ? AS email" },
      input: [{ name: "$user_id", type: "integer" }, { name: "$user_email", type: "text" }],
    }),
  );
  const test = (body: unknown) => world.call("POST", "/get-order/test", body);
  assertEquals((await test({ session: { userId: "7", email: "a@b.example" } })).body.data, {
    status: 200,
    body: { row: { id: 7, email: "a@b.example" } },
  });
  const since = { slug: "since", auth: "session", sql: "SELECT ? AS iat" } as const;
  await world.call("POST", "", readSpec({ ...since, input: [{ name: "$session_iat", type: "integer" }] }));
  const second = () => Math.floor(world.app.deps.query.clock.now() / 1000);
  const before = second();
  const { body } = await world.call("POST", "/since/test", { session: { userId: "7" } });
  const { row: { iat } } = Reflect.get(Object(body.data), "body");
  assert(before <= iat && iat <= second(), `${before} ${iat}`);
  assertEquals(Reflect.get(Object((await test({})).body.data), "status"), 401);
  assertEquals(Reflect.get(Object((await test(undefined)).body.data), "status"), 401);
  assertEquals((await test({ sesion: {} })).body.issues?.[0]?.path, "sesion");
  assertEquals((await world.call("POST", "/none/test", {})).body.code, "endpoint_not_found");
});
