// Connections of the remote stores to servers without TLS: what is reused, what is read, and that nothing goes out twice.
import { assertEquals, assertRejects } from "@std/assert";
import { pause } from "../../lib/core/pause.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { streamOnce } from "../../lib/core/send_once.ts";
import { post } from "../../lib/tenant/remote/hrana/hrana_client.ts";
import { ConnectionPoster } from "../../lib/tenant/remote/hrana/poster.ts";
import { RemoteFailure } from "../../lib/tenant/remote/hrana/remote_failure.ts";

/** What the server says to a request, in pieces; "close" ends the connection. */
type Script = (request: string) => readonly string[];

interface World {
  readonly url: string;
  /** The requests of each connection. */
  readonly connections: string[][];
  readonly poster: ConnectionPoster;
}

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

async function withServer(script: Script, body: (world: World) => Promise<void>): Promise<void> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const connections: string[][] = [];
  const served: Promise<void>[] = [];
  const accepting = (async () => {
    for await (const connection of listener) served.push(serve(connection, script, connections));
  })();
  const { port } = listener.addr;
  const poster = new ConnectionPoster(streamOnce, systemClock);
  try {
    await body({ url: `http://127.0.0.1:${port}/v3/pipeline`, connections, poster });
  } finally {
    poster.close();
    listener.close();
    await accepting;
    await Promise.all(served);
  }
}

async function serve(connection: Deno.TcpConn, script: Script, all: string[][]): Promise<void> {
  const requests: string[] = [];
  all.push(requests);
  const buffer = new Uint8Array(65_536);
  const say = (text: string) => connection.write(new TextEncoder().encode(text));
  try {
    for (let text = "";;) {
      const count = await connection.read(buffer);
      if (count === null) return;
      text += new TextDecoder().decode(buffer.subarray(0, count));
      const [head = "", content] = text.split("\r\n\r\n");
      const length = Number(/content-length: (\d+)/.exec(head)?.[1]);
      if (content === undefined || new TextEncoder().encode(content).length < length) continue;
      requests.push(text);
      text = "";
      for (const piece of script(requests.at(-1) ?? "")) {
        if (piece === "close") return;
        await say(piece);
      }
    }
  } catch {
    // The other end has gone.
  } finally {
    connection.close();
  }
}

const ask = ({ poster, url }: World, body: string, signal: AbortSignal | null = null) =>
  post(poster, { url, headers: { "x-namespace-bin": "bnM" }, body, signal });

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

async function reasonOf(asked: Promise<unknown>): Promise<string> {
  try {
    await asked;
    return "answered";
  } catch (error) {
    return error instanceof RemoteFailure ? error.reason : String(error);
  }
}

Deno.test("requests one after the other share a connection, those at once have one each", async () => {
  await withServer(() => [OK], async (world) => {
    for (const body of ["a", "b", "ü"]) assertEquals(text(await ask(world, body)), "ok");
    assertEquals(world.connections.map((requests) => requests.length), [3]);
    assertEquals(world.connections[0]?.[2]?.split("\r\n").slice(0, 1), ["POST /v3/pipeline HTTP/1.1"]);
    assertEquals(world.connections[0]?.[2]?.includes("\r\nx-namespace-bin: bnM\r\n"), true);
    await Promise.all([ask(world, "c"), ask(world, "d")]);
    assertEquals(world.connections.map((requests) => requests.length), [4, 1]);
  });
});

Deno.test("an answer is read in whichever form and pieces it comes", async () => {
  const answers: readonly (readonly string[])[] = [
    ["HTTP/1.1 200 OK\r\nConte", "nt-Length: 5\r\n\r\nhe", "llo"],
    [
      "HTTP/1.1 100 Continue\r\n\r\n",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;x=1\r\nhe\r",
      "\n3\r\nllo\r\n0\r\n\r\n",
    ],
    ["HTTP/1.1 200 OK\r\n\r\nhel", "lo", "close"],
    ["HTTP/1.0 200 OK\nContent-Length: 5\n\nhello"],
  ];
  for (const answer of answers) {
    await withServer(() => answer, async (world) => {
      assertEquals(text(await ask(world, "a")), "hello");
      assertEquals(text(await ask(world, "b")), "hello");
    });
  }
});

Deno.test("what is no whole answer fails, and the request has gone out once", async () => {
  const answers: readonly (readonly string[])[] = [
    ["close"],
    ["HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhel", "close"],
    ["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel", "close"],
    ["HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok"],
    ["HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\nok"],
    ["HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\nok"],
    ["HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\ncontent-length: 0\r\n\r\n"],
    ["SSH-2.0-OpenSSH\r\n"],
  ];
  for (const answer of answers) {
    await withServer(() => answer, async (world) => {
      assertEquals(await reasonOf(ask(world, "a")), "unreachable", answer.join("|"));
      assertEquals(world.connections.flat().length, 1);
    });
  }
});

Deno.test("a connection that the server has closed meanwhile is not used again", async () => {
  await withServer(() => [OK, "close"], async (world) => {
    for (let at = 1; at <= 5; at++) {
      assertEquals(text(await ask(world, "a")), "ok");
      // Its end arrives with the next turns of the event loop.
      while (world.poster.idle > 0) await pause(1);
      assertEquals(world.connections.length, at);
    }
  });
});

Deno.test("an abort ends the connection, and what is asked next has another one", async () => {
  let asked = () => {};
  await withServer((request) => {
    asked();
    return request.endsWith("wait") ? [] : [OK];
  }, async (world) => {
    const controller = new AbortController();
    asked = () => controller.abort();
    assertEquals(await reasonOf(ask(world, "wait", controller.signal)), "stopped");
    assertEquals(await reasonOf(ask(world, "never", controller.signal)), "stopped");
    assertEquals(text(await ask(world, "a")), "ok");
    assertEquals(world.connections.map((requests) => requests.length), [1, 1]);
  });
});

Deno.test("a user and a password in the server's address are left to fetch, which sends them", async () => {
  const asked: string[] = [];
  const poster = new ConnectionPoster((url) => {
    asked.push(url);
    return Promise.resolve(new Response("ok"));
  }, systemClock);
  const url = "http://me:secret@127.0.0.1:1/";
  assertEquals(text(await post(poster, { url, headers: {}, body: "a", signal: null })), "ok");
  assertEquals(asked, [url]);
  poster.close();
});

Deno.test("a server that is not there has got nothing, and no header brings a line of its own", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const poster = new ConnectionPoster(streamOnce, systemClock);
  const request = { url: `http://127.0.0.1:${port}/`, headers: {}, body: "a", signal: null };
  assertEquals(await reasonOf(post(poster, request)), "not_sent");
  poster.close();
  await withServer(() => [OK], async ({ url, connections, poster }) => {
    for (const value of ["a\r\nx: y", "a\nx: y", "a\rx"]) {
      await assertRejects(() => poster.post({ ...request, url, headers: { token: value } }), /line break/);
    }
    assertEquals(connections.flat(), []);
  });
});
