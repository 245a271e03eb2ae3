// Sockets of the door for clients of libSQL, on the runtime's own server.
// @ts-types="./libsql_client.d.ts"
import { createClient } from "@libsql/client/ws";
// @ts-types="./libsql_client.d.ts"
import { createClient as createHttpClient } from "@libsql/client/http";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { pause } from "../../lib/core/pause.ts";
import { AppError } from "../../lib/core/errors.ts";
import { MAX_SOCKET_WAITING } from "../../lib/core/limits_hrana.ts";
import { startApp } from "../testing/start_app.ts";
import { endRevoked } from "../../lib/services/hrana/end_revoked.ts";
import type { DoorContext } from "../../lib/services/hrana/hrana_types.ts";
import { SocketSession } from "../../lib/services/hrana/socket_session.ts";
import { POLICY } from "../../lib/services/hrana/socket_types.ts";
import { RawSocket } from "../testing/raw_socket.ts";
import { execute, hello, ok, openSocket, request } from "./hrana_socket.ts";
import { hranaWorld } from "./hrana_world.ts";

/** Guarantee: only that it is an object; a test fails where a member it reads is another. */
function codeOf(message: unknown): unknown {
  const error: unknown = Reflect.get(Object(message), "error");
  return Reflect.get(Object(error), "code");
}

Deno.test("sockets of clients of libSQL", async (t) => {
  await using app = await startApp();
  const world = await hranaWorld(app, "acme");
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, app.app.fetch);
  const root = `ws://127.0.0.1:${server.addr.port}`;
  const url = `${root}/hrana/acme/main/`;
  const { token } = world.shop;
  await world.setup("CREATE TABLE t (id INTEGER PRIMARY KEY, v)");
  const step = (name: string, fn: () => Promise<void>) =>
    t.step({ name, fn, sanitizeOps: false, sanitizeResources: false });

  await step("@libsql/client runs statements, batches and texts of several statements", async () => {
    const client = createClient({ url, authToken: token });
    const added = await client.execute({ sql: "INSERT INTO t (v) VALUES (:v)", args: { v: "a" } });
    assertEquals([added.rowsAffected, added.lastInsertRowid], [1, 1n]);
    const [, read] = await client.batch(
      ["INSERT INTO t (v) VALUES ('b')", "SELECT v FROM t ORDER BY id"],
      "write",
    );
    assertEquals(read?.rows.map(({ v }) => v), ["a", "b"]);
    await client.executeMultiple("INSERT INTO t (v) VALUES ('c'); DELETE FROM t WHERE v = 'c'");
    await assertRejects(() => client.execute("SELECT missing"), /no such column: missing/);
    client.close();
  });

  await step("a token that reaches one database needs no path", async () => {
    const client = createClient({ url: root, authToken: token });
    assertEquals((await client.execute("SELECT count(*) AS n FROM t")).rows[0]?.["n"], 2);
    client.close();
  });

  await step("chooses a protocol that is offered, with or without a space, and refuses others", async () => {
    for (const offer of [["hrana2", "hrana1"], ["hrana1"], ["hrana3", "hrana2"]]) {
      const { socket, closed } = await openSocket(url, offer);
      assertEquals(socket.protocol, offer[0]);
      socket.close();
      await closed;
    }
    await assertRejects(() => openSocket(url, ["mqtt"]));
  });

  await step(
    "requests wait for hello, run in the order of their stream, and a cursor is fetched in portions",
    async () => {
      const { socket, closed, send, next } = await openSocket(url);
      send(hello(token));
      send(request(1, { type: "open_stream", stream_id: 5 }));
      send(request(2, { type: "store_sql", sql_id: 1, sql: "SELECT 1 AS one UNION ALL SELECT 2" }));
      send(request(3, {
        type: "open_cursor",
        stream_id: 5,
        cursor_id: 9,
        batch: { steps: [{ stmt: { sql_id: 1 } }] },
      }));
      send(request(4, { type: "close_sql", sql_id: 1 }));
      assertEquals(await next(), { type: "hello_ok" });
      const first = [await next(), await next(), await next(), await next()];
      assertEquals(first.map((message) => Reflect.get(Object(message), "request_id")).toSorted(), [
        1,
        2,
        3,
        4,
      ]);
      send(request(5, { type: "fetch_cursor", cursor_id: 9, max_count: 2 }));
      assertEquals(
        await next(),
        ok(5, {
          type: "fetch_cursor",
          entries: [
            { type: "step_begin", step: 0, cols: [{ name: "one", decltype: null }] },
            { type: "row", row: [{ type: "integer", value: "1" }] },
          ],
          done: false,
        }),
      );
      send(request(6, { type: "fetch_cursor", cursor_id: 9, max_count: 10 }));
      assertEquals(
        await next(),
        ok(6, {
          type: "fetch_cursor",
          entries: [
            { type: "row", row: [{ type: "integer", value: "2" }] },
            { type: "step_end", affected_row_count: 0, last_insert_rowid: null },
          ],
          done: true,
        }),
      );
      send(request(10, {
        type: "open_cursor",
        stream_id: 5,
        cursor_id: 10,
        batch: { steps: [{ stmt: { sql: "SELECT 3" } }] },
      }));
      // Clients do not wait for the cursor before they fetch from it and close it.
      send(request(11, { type: "fetch_cursor", cursor_id: 10, max_count: 10 }));
      send(request(12, { type: "close_cursor", cursor_id: 10 }));
      const [opened, fetched, ended] = [await next(), await next(), await next()];
      assertEquals(opened, ok(10, { type: "open_cursor" }));
      assert(JSON.stringify(fetched).includes('"value":"3"'));
      assertEquals(ended, ok(12, { type: "close_cursor" }));
      send(request(7, { type: "execute", stream_id: 6, stmt: { sql: "SELECT 1" } }));
      assertEquals(codeOf(await next()), "STREAM_EXPIRED");
      send(request(8, { type: "execute", stream_id: 5, stmt: { sql: "VACUUM" } }));
      assertEquals(codeOf(await next()), "STATEMENT_REFUSED");
      socket.close();
      await closed;
    },
  );

  await step("ends a socket that is not of the protocol, or has no valid token", async () => {
    for (const message of ["{", { type: "nope" }, request(1, { type: "open_stream", stream_id: 1 })]) {
      const { closed, send } = await openSocket(url);
      send(message);
      assertEquals(await closed, 4008);
    }
    const { closed, send, next } = await openSocket(url);
    send(hello("nobody"));
    assertEquals(codeOf(await next()), "INVALID_BEARER");
    assertEquals(await closed, 4008);
  });

  await step("a token that is revoked loses its open socket with the next request", async () => {
    const { id, token } = await world.shop.mint("write");
    const { closed, send, next } = await openSocket(url);
    send(hello(token));
    send(request(1, { type: "open_stream", stream_id: 1 }));
    assertEquals([await next(), await next()], [{ type: "hello_ok" }, ok(1, { type: "open_stream" })]);
    await app.request("DELETE", `/api/namespaces/acme/tokens/${id}`, { token: world.shop.token });
    send(request(2, { type: "execute", stream_id: 1, stmt: { sql: "SELECT 1" } }));
    assertEquals(codeOf(await next()), "INVALID_BEARER");
    assertEquals(await closed, 4008);
  });

  await step("a token that is revoked loses what it has open while nothing is asked", async () => {
    const { id, token } = await world.shop.mint("write");
    const { closed, send, next } = await openSocket(url);
    send(hello(token));
    send(request(1, { type: "open_stream", stream_id: 1 }));
    send(execute(2, "BEGIN IMMEDIATE"));
    send(execute(3, "INSERT INTO t (v) VALUES ('lost')"));
    for (let at = 0; at < 4; at++) await next();
    const { body: { baton } } = await world.pipeline({
      baton: null,
      requests: [{ type: "store_sql", sql_id: 1, sql: "SELECT 1" }],
    }, { token });
    assert(baton !== null);
    const kept = app.deps.hrana.kept.size;
    await endRevoked(app.deps);
    assertEquals(app.deps.hrana.kept.size, kept);
    await app.request("DELETE", `/api/namespaces/acme/tokens/${id}`, { token: world.shop.token });
    await endRevoked(app.deps);
    assertEquals([await closed, app.deps.hrana.kept.size], [4008, kept - 1]);
    // The write slot is free again, and nothing of it was kept.
    assertEquals((await world.execute("UPDATE t SET v = v")).type, "ok");
    assertEquals(await world.rows("SELECT count(*) FROM t WHERE v = 'lost'"), [[0]]);
  });

  await step(
    "a transaction is lost where the socket says hello with the token of another database",
    async () => {
      const other = await app.namespace("other");
      const writer = await world.shop.mint("write");
      const { socket, closed, send, next } = await openSocket(root);
      send(hello(writer.token));
      send(request(1, { type: "open_stream", stream_id: 1 }));
      send(execute(2, "BEGIN IMMEDIATE"));
      send(execute(3, "INSERT INTO t (v) VALUES ('other')"));
      for (let at = 0; at < 4; at++) await next();
      // It is an admin of its own database only.
      send(hello(other.token));
      assertEquals(await next(), { type: "hello_ok" });
      for (const sql of ["CREATE TABLE taken (a)", "COMMIT", "SELECT 1"]) {
        send(execute(4, sql));
        assertEquals(codeOf(await next()), "TRANSACTION_TIMEOUT", sql);
      }
      assertEquals((await world.execute("UPDATE t SET v = v")).type, "ok");
      const left = "SELECT (SELECT count(*) FROM t WHERE v = 'other'), " +
        "(SELECT count(*) FROM sqlite_schema WHERE name = 'taken')";
      assertEquals(await world.rows(left), [[0, 0]]);
      socket.close();
      await closed;
    },
  );

  await step("whoever asks without reading has to read before more runs, and gets every answer", async () => {
    using raw = await RawSocket.connect(server.addr.port, "/hrana/acme/main/");
    const before = [...app.deps.hrana.sockets];
    await raw.send(hello(token));
    await raw.send(request(1, { type: "open_stream", stream_id: 1 }));
    const answers = 40;
    for (let at = 0; at < answers; at++) {
      await raw.send(execute(at, `SELECT ${at}, hex(zeroblob(1000000))`));
    }
    assertEquals(await raw.next(), '{"type":"hello_ok"}');
    const [socket] = before.toReversed();
    assert(socket !== undefined);
    // Two million characters each: no more wait than one beyond the bound, and what the system's own buffers take.
    while (socket.held < 1_000_000) await pause(5);
    let most = 0;
    assert((await raw.next())?.toString().includes("open_stream"));
    for (let at = 0; at < answers; at++) {
      const text = String(await raw.next());
      assert(text.startsWith(`{"type":"response_ok","request_id":${at},`), text.slice(0, 100));
      most = Math.max(most, socket.held);
    }
    assert(most < 8_000_000, String(most));
  });

  await step(
    "the connection of a stranger, also in the middle of a message, ends before that of somebody known whose socket was ended first",
    async () => {
      using stranger = await RawSocket.connect(server.addr.port, "/hrana/acme/main/");
      using known = await RawSocket.connect(server.addr.port, "/hrana/acme/main/");
      await known.send(hello(token));
      assertEquals(await known.next(), '{"type":"hello_ok"}');
      for (const socket of [known, stranger]) {
        await socket.send({ type: "none of the protocol" });
        assertEquals(await socket.next(), POLICY);
      }
      await stranger.begin(60_000_000);
      const order: string[] = [];
      const ends = [["known", known], ["stranger", stranger]] as const;
      await Promise.all(ends.map(async ([name, socket]) => {
        assertEquals(await socket.next().catch(() => null), null);
        order.push(name);
      }));
      assertEquals(order, ["stranger", "known"]);
    },
  );

  await step("closing a socket frees it", async () => {
    const { socket, closed, send, next } = await openSocket(url);
    send(hello(token));
    await next();
    assert(app.deps.hrana.sockets.size > 0);
    socket.close();
    await closed;
    while (app.deps.hrana.sockets.size > 0) await pause(5);
  });

  await step("a database may be called as a version of the protocol, by sockets and by HTTP", async () => {
    for (const slug of ["v2", "v3"]) {
      const added = await app.request("POST", `/api/namespaces/${world.shop.slug}/databases`, {
        token: app.operatorKey,
        body: { slug },
      });
      assertEquals(added.status, 201, added.text);
      for (const scheme of ["ws", "http"]) {
        const base = `${root.replace("ws", scheme)}/hrana/acme/${slug}/`;
        const client = (scheme === "ws" ? createClient : createHttpClient)({
          url: base,
          authToken: world.shop.token,
        });
        await client.execute(`CREATE TABLE only_in_${slug}_${scheme} (a)`);
        const { rows } = await client.execute(
          "SELECT count(*) AS n FROM sqlite_schema WHERE name LIKE 'only_in%' OR name = 't'",
        );
        assertEquals(rows[0]?.["n"], scheme === "ws" ? 1 : 2, base);
        client.close();
      }
    }
  });

  await server.shutdown();
});

Deno.test("a long request right behind hello is answered, and so are a thousand beside the one that opens their stream", async () => {
  await using app = await startApp();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, app.app.fetch);
  const { token } = await app.namespace("acme");
  const { socket, closed, send, next } = await openSocket(
    `ws://127.0.0.1:${server.addr.port}/hrana/acme/main/`,
  );
  send(hello(token));
  send(request(0, { type: "open_stream", stream_id: 1 }));
  send(execute(1, `SELECT length('${"x".repeat(200_000)}')`));
  for (let id = 2; id <= 1001; id++) send(execute(id, "SELECT 1"));
  send(request(1002, { type: "close_stream", stream_id: 1 }));
  assertEquals(await next(), { type: "hello_ok" });
  for (let id = 0; id <= 1002; id++) {
    const answer = Object(await next());
    assertEquals([answer.type, answer.request_id], ["response_ok", id]);
  }
  socket.close();
  await closed;
  await server.shutdown();
});

Deno.test("a stream's number can be given to another one right behind the request that closes it", async () => {
  await using app = await startApp();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, app.app.fetch);
  const { token, setup } = await app.namespace("acme");
  await setup("CREATE TABLE t (a)");
  const { socket, closed, send, next } = await openSocket(
    `ws://127.0.0.1:${server.addr.port}/hrana/acme/main/`,
  );
  send(hello(token));
  const open = { type: "open_stream", stream_id: 1 };
  send(request(0, open));
  for (const id of [1, 2, 3]) {
    send(execute(10 * id, "BEGIN IMMEDIATE"));
    send(execute(10 * id + 1, "INSERT INTO t VALUES (1)"));
    // What was open is undone, and the next one sees nothing of it.
    send(request(10 * id + 2, { type: "close_stream", stream_id: 1 }));
    send(execute(10 * id + 3, "INSERT INTO t VALUES (2)"));
    send(request(10 * id + 4, open));
    send(execute(10 * id + 5, "SELECT 1 FROM t"));
  }
  send(request(40, { type: "get_autocommit", stream_id: 1 }));
  assertEquals(await next(), { type: "hello_ok" });
  const refused: number[] = [];
  for (let count = 0; count < 20; count++) {
    const { type, request_id, response } = Object(await next());
    if (type === "response_error") {
      refused.push(request_id);
      continue;
    }
    const { result, is_autocommit } = response;
    assertEquals([result?.rows ?? [], is_autocommit ?? true], [[], true], `request ${request_id}`);
  }
  assertEquals(refused, [13, 23, 33]);
  socket.close();
  await closed;
  await server.shutdown();
});

Deno.test("more hellos under way than requests may be end the socket", () => {
  const ended: number[] = [];
  const session = new SocketSession({
    enter: () => new Promise(() => {}),
    end: (code) => void ended.push(code),
    send: () => {},
    taken: () => null,
    unexpected: () => new AppError("internal"),
    mayHold: () => true,
  });
  for (let at = 0; at < MAX_SOCKET_WAITING; at++) session.receive({ type: "hello", jwt: "x" }, 1);
  assertEquals(ended, []);
  session.receive({ type: "hello", jwt: "x" }, 1);
  assertEquals(ended, [4008]);
});

Deno.test("a token that is turned away at once, as one that expires while its record is cached, loses its socket", async () => {
  const ctx = {} as DoorContext;
  const ended = Promise.withResolvers<readonly [number, string | undefined]>();
  let isExpired = false;
  const sent: string[] = [];
  const session = new SocketSession({
    enter: () => {
      if (isExpired) throw new AppError("invalid_bearer");
      return ctx;
    },
    end: (code) => ended.resolve([code, sent.at(-1)]),
    send: (text) => sent.push(text),
    taken: () => null,
    unexpected: () => new AppError("internal"),
    mayHold: () => true,
  });
  session.receive({ type: "hello", jwt: "x" }, 1);
  session.receive({ type: "request", request_id: 1, request: { type: "open_stream", stream_id: 1 } }, 1);
  // Until both are answered: what comes behind an answer under way is not answered at once.
  await pause(0);
  assertEquals(sent.length, 2);
  isExpired = true;
  const stmt = { sql: "SELECT 1" };
  session.receive({ type: "request", request_id: 2, request: { type: "execute", stream_id: 1, stmt } }, 1);
  const [code, last = ""] = await ended.promise;
  assertEquals([code, codeOf(JSON.parse(last))], [4008, "INVALID_BEARER"]);
});
