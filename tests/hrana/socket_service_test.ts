// Sockets of a real service, started as people start it, with exactly those permissions.
// @ts-types="./libsql_client.d.ts"
import { createClient } from "@libsql/client/ws";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { callApi } from "../testing/call_api.ts";
import { startService } from "../testing/start_service.ts";
import { makeTestNamespace } from "../testing/test_namespace.ts";
import { ENDLESS_PARTS, endlessMessage } from "./endless_message.ts";
import { execute, hello, openSocket, request } from "./hrana_socket.ts";

/** As many sockets as an application of some size has. */
const SOCKETS = 200;

Deno.test("sockets of `deno task start`", async (t) => {
  const folder = await Deno.makeTempDir({ prefix: "cubby_sockets_" });
  const operatorKey = "operator-key-of-this-test";
  await using service = await startService({ folder, settings: { OPERATOR_KEY: operatorKey, DEMO: "0" } });
  const to = { request: (path: string, init: RequestInit) => fetch(`${service.url}${path}`, init) };
  const shop = await makeTestNamespace({
    request: (method, path, options) => callApi(to, method, path, options),
    operatorKey,
  });
  const { token } = shop;
  const url = `${service.url.replace("http:", "ws:")}/hrana/acme/main/`;
  const step = (name: string, fn: () => Promise<void>) =>
    t.step({ name, fn, sanitizeOps: false, sanitizeResources: false });

  await step("@libsql/client runs statements, batches and transactions over them", async () => {
    const client = createClient({ url, authToken: token });
    await client.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v)");
    await client.batch(["INSERT INTO t (v) VALUES ('a')", "INSERT INTO t (v) VALUES ('b')"], "write");
    const transaction = await client.transaction("write");
    await transaction.execute({ sql: "INSERT INTO t (v) VALUES (?)", args: ["c"] });
    assertEquals((await transaction.execute("SELECT count(*) AS n FROM t")).rows[0]?.["n"], 3);
    await transaction.rollback();
    assertEquals((await client.execute("SELECT group_concat(v) AS v FROM t")).rows[0]?.["v"], "a,b");
    client.close();
  });

  await step("what is no handshake is refused, and its connection goes on", async () => {
    for (const headers of [{}, { "sec-websocket-protocol": "mqtt", "sec-websocket-key": "x" }]) {
      const answer = await fetch(url.replace("ws:", "http:"), {
        headers: { upgrade: "websocket", connection: "upgrade", ...headers },
      });
      assertEquals([answer.status, (await answer.json()).code], [400, "VALIDATION_FAILED"]);
    }
  });

  await step(
    "a message in parts without end takes no more than so much memory, whoever sends it",
    async () => {
      const { socket, sent } = await endlessMessage(`${service.url}/hrana/acme/main/`, token);
      assert(sent < ENDLESS_PARTS, `${sent} parts were taken`);
      socket.close();
      const other = await openSocket(url);
      other.send(hello(token));
      assertEquals(await other.next(), { type: "hello_ok" });
      other.socket.close();
      await other.closed;
      assertStringIncludes(service.errors(), '"sockets_ended"');
    },
  );

  await step("many are open at once, beside requests, and end with the service", async () => {
    const opened = await Promise.all(Array.from({ length: SOCKETS }, async () => {
      const socket = await openSocket(url);
      socket.send(hello(token));
      return socket;
    }));
    for (const { send } of opened) {
      send(request(1, { type: "open_stream", stream_id: 1 }));
      send(execute(2, "SELECT v FROM t WHERE id = 1"));
    }
    const answers = await Promise.all(
      opened.map(async ({ next }) => [await next(), await next(), await next()]),
    );
    const rows = answers.map(([, , answer]) => JSON.stringify(answer).includes('"value":"a"'));
    assertEquals(rows.filter((isSo) => isSo).length, SOCKETS);
    assertEquals((await shop.query("SELECT count(*) FROM t")).status, 200);
    const stopped = service.stop();
    assertEquals(new Set(await Promise.all(opened.map(({ closed }) => closed))), new Set([1001]));
    assertEquals((await stopped).code, 0);
  });

  await step("the log tells of no failure, and repeats neither token nor statement", async () => {
    const log = service.errors();
    for (const said of ['"level":"error"', token, "SELECT"]) assert(!log.includes(said), log);
    await Deno.remove(folder, { recursive: true });
  });
});
