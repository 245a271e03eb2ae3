// Sockets of clients that do not behave, on the service's own listener: more than there may be, and cursors that nobody reads.
import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  MAX_HELD,
  MAX_SOCKET_CURSORS,
  MAX_SOCKETS,
  MAX_SOCKETS_OF_TOKEN,
} from "../../lib/core/limits_hrana.ts";
import { pause } from "../../lib/core/pause.ts";
import { connectionLimits, MAX_BODY_BYTES, MAX_SQL_LENGTH } from "../../lib/core/limits.ts";
import { transactionLimits } from "../../lib/core/limits_of_transactions.ts";
import { HttpListener } from "../../lib/guard/http_listener.ts";
import { findServeConnection } from "../../lib/guard/serve_connection.ts";
import type { OpenSocket } from "../../lib/services/hrana/open_sockets.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { execute, hello, type HranaSocket, ok, openSocket, request } from "./hrana_socket.ts";
import { hranaWorld, resultOf, valuesOf } from "./hrana_world.ts";

function listen(app: StartedApp): HttpListener {
  const serve = findServeConnection();
  assert(serve !== null);
  const listening = { hostname: "127.0.0.1", port: 0, limits: connectionLimits, serve, log: app.deps.log };
  return new HttpListener(listening, (request, connection) => app.app.fetch(request, connection));
}

/** Opens a stream with the number 1. */
async function known(url: string, token: string): Promise<HranaSocket> {
  const socket = await openSocket(url);
  socket.send(hello(token));
  socket.send(request(1, { type: "open_stream", stream_id: 1 }));
  assertEquals([await socket.next(), await socket.next()], [
    { type: "hello_ok" },
    ok(1, { type: "open_stream" }),
  ]);
  return socket;
}

const until = async (isSo: () => boolean) => {
  while (!isSo()) await pause(5);
};

const codeOf = (message: unknown) => /"code":"([A-Z_]+)"/.exec(JSON.stringify(message))?.[1];

Deno.test("sockets of clients that do not behave", async (t) => {
  await using app = await startApp();
  const world = await hranaWorld(app, "acme");
  const { token } = world.shop;
  const { sockets } = app.deps.hrana;
  const listener = listen(app);
  const { port } = listener.addr;
  const url = `ws://127.0.0.1:${port}/hrana/acme/main/`;
  const step = (name: string, fn: () => Promise<void>) =>
    t.step({ name, fn, sanitizeOps: false, sanitizeResources: false });
  const other = await known(url, token);
  const works = async () => {
    other.send(execute(2, "SELECT 1"));
    assert(JSON.stringify(await other.next()).includes('"value":"1"'));
  };

  await step("a message that costs much to parse ends the socket of a stranger", async () => {
    const stranger = await openSocket(url);
    stranger.send(JSON.parse(`[${"[],".repeat(250_000)}0]`));
    assertEquals(await stranger.closed, 4009);
    await works();
  });

  await step("a request of which something is wrong is told what, and its socket goes on", async () => {
    const one = await known(url, token);
    const stmt = { sql: "SELECT 1".padEnd(MAX_SQL_LENGTH + 1) };
    one.send(request(2, { type: "execute", stream_id: 1, stmt }));
    one.send(
      request(3, { type: "execute", stream_id: 1, stmt: { sql: "SELECT ?", args: [{ type: "integer" }] } }),
    );
    one.send(execute(4, "SELECT 1"));
    const told = [await one.next(), await one.next()].map((answer) => JSON.stringify(answer));
    assertMatch(told[0] ?? "", /"response_error","request_id":2,.*request\.stmt\.sql/);
    assertMatch(told[1] ?? "", /"response_error","request_id":3,.*request\.stmt\.args\[0\]\.value/);
    assert(JSON.stringify(await one.next()).includes('"value":"1"'));
    one.socket.close();
    await one.closed;
  });

  await step("a message of 8 MiB is taken, and a longer one ends the socket", async () => {
    const long = await known(url, token);
    const ofLength = (length: number) => {
      const stmt = { sql: "SELECT length(?)", args: [{ type: "text", value: "" }] };
      const message = JSON.stringify(request(2, { type: "execute", stream_id: 1, stmt }));
      return message.replace('""', `"${"x".repeat(length - message.length)}"`);
    };
    long.send(ofLength(MAX_BODY_BYTES));
    assertMatch(JSON.stringify(await long.next()), /"value":"838\d{4}"/);
    long.send(ofLength(MAX_BODY_BYTES + 1));
    assertEquals(await long.closed, 4009);
    await works();
  });

  await step("beyond the bound of a token, and of all, clients are told, and the others go on", async () => {
    const fill = (tokenId: string, most: number, count: () => number) => {
      const added: OpenSocket[] = [];
      while (count() < most) {
        const socket = { owner: { namespaceId: "ns_1", tokenId }, held: 0, heard: 0, end: () => {} };
        sockets.add(socket);
        added.push(socket);
      }
      return () => added.forEach((socket) => sockets.remove(socket));
    };
    const { id, token: writer } = await world.shop.mint("write");
    const own = () => [...sockets].filter(({ owner }) => owner?.tokenId === id).length;
    const leave = fill(id, MAX_SOCKETS_OF_TOKEN, own);
    const refused = await openSocket(url);
    refused.send(hello(writer));
    assertEquals([codeOf(await refused.next()), await refused.closed], ["TOO_MANY_REQUESTS", 4008]);
    await works();
    leave();
    const leaveAll = fill("tok_1", MAX_SOCKETS, () => sockets.size);
    const answer = await fetch(url.replace("ws:", "http:"), {
      headers: { upgrade: "websocket", connection: "upgrade", "sec-websocket-key": "x" },
    });
    assertEquals([answer.status, codeOf(await answer.json())], [429, "TOO_MANY_REQUESTS"]);
    await works();
    leaveAll();
    const again = await known(url, writer);
    again.socket.close();
    await again.closed;
  });

  await step("cursors that nobody reads are counted, and go with their stream", async () => {
    const lazy = await known(url, token);
    const [held] = [...sockets].toReversed();
    assert(held !== undefined);
    for (let id = 0; id <= MAX_SOCKET_CURSORS; id++) {
      const batch = { steps: [{ stmt: { sql: "SELECT hex(zeroblob(100000))" } }] };
      lazy.send(request(id, { type: "open_cursor", stream_id: 1, cursor_id: id, batch }));
      const answer = await lazy.next();
      if (id < MAX_SOCKET_CURSORS) assertEquals(answer, ok(id, { type: "open_cursor" }));
      else assertEquals(codeOf(answer), "VALIDATION_FAILED");
    }
    assert(held.held > MAX_SOCKET_CURSORS * 200_000, String(held.held));
    await works();
    lazy.socket.close();
    await lazy.closed;
    await until(() => sockets.size === 1);
    assertEquals(held.held, 0);
  });

  const batchOf = (...texts: string[]) => ({ steps: texts.map((sql) => ({ stmt: { sql } })) });
  const countOf = async (table: string) => {
    const [[count] = []] = valuesOf(resultOf(await world.execute(`SELECT count(*) FROM ${table}`)));
    return count;
  };

  const onClient = async (work: (client: HranaSocket) => Promise<void>) => {
    const client = await known(url, token);
    try {
      await work(client);
    } finally {
      client.socket.close();
      await client.closed;
    }
  };

  await step("a cursor whose number is taken meanwhile is refused before its batch writes", async () => {
    await world.setup("CREATE TABLE taken (v)");
    await onClient(async (client) => {
      for (const id of [2, 3]) {
        client.send(request(id, { type: "open_stream", stream_id: id }));
        assertEquals(await client.next(), ok(id, { type: "open_stream" }));
      }
      // While another has the write slot both batches wait for it.
      const control = (id: number, sql: string) =>
        client.send(request(id, { type: "execute", stream_id: 3, stmt: { sql } }));
      for (const [at, sql] of ["BEGIN IMMEDIATE", "DELETE FROM taken"].entries()) {
        control(4 + at, sql);
        assertEquals(codeOf(await client.next()), undefined);
      }
      const batch = batchOf("INSERT INTO taken VALUES (1)");
      client.send(request(11, { type: "open_cursor", stream_id: 1, cursor_id: 7, batch }));
      client.send(request(12, { type: "open_cursor", stream_id: 2, cursor_id: 7, batch }));
      control(13, "COMMIT");
      const codes = [await client.next(), await client.next(), await client.next()].map(codeOf);
      assertEquals(codes.toSorted(), ["VALIDATION_FAILED", undefined, undefined]);
      assertEquals(await countOf("taken"), "1");
    });
  });

  await step(
    "a socket that closes while its BEGIN waits leaves neither a row nor a transaction",
    async () => {
      await world.setup("CREATE TABLE alone (v)");
      const begin = { requests: [{ type: "execute", stmt: { sql: "BEGIN" } }] };
      const held = [];
      for (let n = 0; n < transactionLimits.mostOfDatabase; n++) {
        held.push(
          (await world.pipeline(begin)).body,
        );
      }
      await onClient(async (client) => {
        client.send(request(2, { type: "open_stream", stream_id: 2 }));
        const [begin, insert] = batchOf("BEGIN", "INSERT INTO alone VALUES (1)").steps;
        const steps = [begin, { ...insert, condition: { type: "ok", step: 0 } }];
        client.send(request(3, { type: "batch", stream_id: 2, batch: { steps } }));
        assertEquals(await client.next(), ok(2, { type: "open_stream" }));
      });
      for (const { baton } of held) await world.pipeline({ baton, requests: [{ type: "close" }] });
      await world.setup("INSERT INTO alone VALUES ('after')");
      assertEquals(await countOf("alone"), "1");
    },
  );

  await step("a batch that fails gives the number of its cursor back", async () => {
    await onClient(async (client) => {
      const open = (id: number, stmt: unknown) =>
        client.send(
          request(id, { type: "open_cursor", stream_id: 1, cursor_id: 1, batch: { steps: [{ stmt }] } }),
        );
      open(2, { sql_id: 99 });
      assertEquals(codeOf(await client.next()), "VALIDATION_FAILED");
      open(3, { sql: "SELECT 1" });
      assertEquals(await client.next(), ok(3, { type: "open_cursor" }));
    });
  });

  await step("results of a batch that has run and that have no room are told in its cursor", async () => {
    await world.setup("CREATE TABLE full_up (v)");
    const owner = { namespaceId: "ns_1", tokenId: "tok_1" };
    const full: OpenSocket = { owner, held: MAX_HELD - 50_000, heard: 0, end: () => {} };
    await onClient(async (client) => {
      sockets.add(full);
      const batch = batchOf("INSERT INTO full_up VALUES (1)", "SELECT hex(zeroblob(100000))");
      client.send(request(2, { type: "open_cursor", stream_id: 1, cursor_id: 1, batch }));
      const opened = await client.next();
      sockets.remove(full);
      assertEquals(opened, ok(2, { type: "open_cursor" }));
      client.send(request(3, { type: "fetch_cursor", cursor_id: 1, max_count: 10 }));
      const told = await client.next();
      assertEquals(codeOf(told), "OUTCOME_UNKNOWN");
      assert(JSON.stringify(told).includes('"entries":[{"type":"error"'));
      assertEquals(await countOf("full_up"), "1");
    });
  });

  other.socket.close();
  await other.closed;
  await until(() => sockets.size === 0);
  await listener.shutdown();
});
