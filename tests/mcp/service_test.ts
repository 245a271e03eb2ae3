// The door of a real service, started as people start it: over sockets, with exactly those permissions, for the SDK's
// clients of both generations.
import { assert, assertEquals } from "@std/assert";
import { makeTestNamespace, type TestNamespace } from "../testing/test_namespace.ts";
import { callApi } from "../testing/call_api.ts";
import { type RunningService, startService } from "../testing/start_service.ts";
import { connectMcp, eras, readTold } from "./mcp_client.ts";
import { ENDLESS } from "../testing/endless.ts";

Deno.test("the door of a running service", async (t) => {
  const folder = await Deno.makeTempDir({ prefix: "cubby_mcp_" });
  const operatorKey = "operator-key-of-this-test";
  const settings = { OPERATOR_KEY: operatorKey, DEMO: "0", QUERY_TIMEOUT_MS: "120000" };
  await using service = await startService({ folder, settings });
  const shop = await shopOf(service, operatorKey);
  const { token } = shop;

  await t.step(
    "an endless statement ends with the response that waits for it, and frees the database",
    async () => {
      for (const era of eras) {
        await using client = await connectMcp(service.url, { token, era });
        await using leaver = await connectMcp(service.url, { token, era });
        const leaves = new AbortController();
        const runs = Promise.withResolvers<void>();
        const call = leaver.call("write", {
          statements: [{ sql: `INSERT INTO orders (note) SELECT note FROM orders WHERE (${ENDLESS}) > 0` }],
        }, { signal: leaves.signal, onprogress: () => runs.resolve() });
        const ended = call.then(() => "answered", () => "left");
        assertEquals(await Promise.race([runs.promise, ended]), undefined);
        // Clients of the former protocol leave a response open when they cancel; their end closes it.
        if (era === "current") leaves.abort();
        else await leaver.client.close();
        assertEquals(await ended, "left");
        // While the other runs it would wait for the write slot, and then not at all.
        const { results } = await client.done("write", {
          statements: [{ sql: "UPDATE orders SET note = ? WHERE id = 1", params: [era] }],
        });
        assertEquals(results, [{ rowsWritten: 1 }]);
        assertEquals((await client.done("query", { sql: "SELECT count(*) FROM orders" }))["rows"], [[1]]);
      }
    },
  );

  await t.step("whoever waits for a person hears of it", async () => {
    await using client = await connectMcp(service.url, { token });
    const held = await client.call("write", { statements: [{ sql: "DELETE FROM kept" }] });
    const heard = Promise.withResolvers<number>();
    const waiting = client.call("get_approval", { approvalId: held.value["approvalId"], waitSec: 25 }, {
      onprogress: ({ progress }) => heard.resolve(progress),
    });
    assertEquals(await Promise.race([heard.promise, waiting]), 1);
    await shop.manage("POST", `/approvals/${held.value["approvalId"]}/deny`);
    assertEquals((await waiting).value["state"], "denied");
  });

  await t.step(
    "the SDK's client from before the current protocol has every tool, and is told instead of asked",
    async () => {
      const seen = await olderClient(service.url, token, "DELETE FROM kept");
      assertEquals([seen.server, seen.tools.length, seen.resources, seen.prompts], ["cubby", 19, 1, 2]);
      assert(seen.instructions > 500);
      const [query, wrong, held] = [seen.query, seen.wrong, seen.held].map(({ isError, text }) =>
        readTold({ isError, content: [{ type: "text", text }] })
      );
      assertEquals(query?.value["rows"], [[2]]);
      assertEquals([wrong?.isError, wrong?.value["code"]], [true, "validation_failed"]);
      assertEquals([held?.isError, held?.value["code"]], [true, "approval_required"]);
    },
  );

  await t.step("the log tells of no failure, and repeats neither token nor statement", () => {
    const log = service.errors();
    for (const said of ['"level":"error"', token, "SELECT", "DELETE"]) assert(!log.includes(said), log);
  });
  await Deno.remove(folder, { recursive: true }).catch(() => {});
});

type Shop = TestNamespace & { manage(method: string, path: string, body?: unknown): Promise<void> };

async function shopOf({ url }: RunningService, operatorKey: string): Promise<Shop> {
  const to = { request: (path: string, init: RequestInit) => fetch(`${url}${path}`, init) };
  const request = (method: string, path: string, options = {}) => callApi(to, method, path, options);
  const shop = await makeTestNamespace({ request, operatorKey });
  await shop.setup(
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, note TEXT)",
    "CREATE TABLE kept (id INTEGER PRIMARY KEY)",
    "INSERT INTO orders (note) VALUES ('first')",
  );
  const manage = async (method: string, path: string, body?: unknown) => {
    const answer = await request(method, `/api/namespaces/acme${path}`, { token: operatorKey, body });
    assert(answer.status < 300, answer.text);
  };
  await manage("POST", "/databases/main/rules", { tableGlob: "kept", effect: "require_approval" });
  return { ...shop, manage };
}

interface Seen {
  readonly server: string;
  readonly instructions: number;
  readonly tools: readonly string[];
  readonly resources: number;
  readonly prompts: number;
  readonly query: { isError: boolean; text: string };
  readonly wrong: { isError: boolean; text: string };
  readonly held: { isError: boolean; text: string };
}

/** In a process of its own, with a lock file of its own: the packages of this client are no part of the service. */
async function olderClient(url: string, token: string, statement: string): Promise<Seen> {
  const here = (name: string) => new URL(name, import.meta.url).pathname;
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--quiet", "--no-config", "--node-modules-dir=none"],
      ...[`--lock=${here("older_client.lock")}`, "--frozen", "--allow-net", "--allow-env", "--allow-read"],
      ...[here("older_client.mjs"), `${url}/mcp`, token, statement],
    ],
  }).output();
  assert(success, new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout)) as Seen;
}
