// Bad clients against the real process: too much, too slow, gone in the middle, or no HTTP at all.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { startApp } from "../testing/start_app.ts";
import { type RunningService, startService } from "../testing/start_service.ts";
import { pause } from "../../lib/core/pause.ts";
import { ENDLESS } from "../testing/endless.ts";

const PATH = "/v1/db/demo/demo/query";
interface Target {
  readonly service: RunningService;
  readonly token: string;
}

/** Tests of one service, in their order: what a client does harms none of those behind it. */
const onOneService: { readonly name: string; readonly run: (target: Target) => Promise<void> }[] = [];

function onService(name: string, run: (target: Target) => Promise<void>): void {
  onOneService.push({ name, run });
}

Deno.test("bad clients of one service", async (t) => {
  const folder = await Deno.makeTempDir({ prefix: "cubby_http_" });
  try {
    // Only the end of a caller may stop a statement here, not its own deadline.
    await using service = await startService({ folder, settings: { QUERY_TIMEOUT_MS: "600000" } });
    const target = { service, token: /cub_live_\w+/.exec(service.output())?.[0] ?? "" };
    for (const { name, run } of onOneService) {
      // What the service writes is read between the steps; the sanitizers look at the test as a whole.
      await t.step({ name, fn: () => run(target), sanitizeOps: false, sanitizeResources: false });
    }
    assertEquals((await service.stop()).code, 0, service.errors());
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

async function query({ service, token }: Target, sql: string): Promise<{ status: number; rows: unknown }> {
  const response = await fetch(service.url + PATH, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ sql }),
  });
  const { data } = await response.json();
  return { status: response.status, rows: data?.rows };
}

function connect({ service }: Target): Promise<Deno.TcpConn> {
  return Deno.connect({ hostname: "127.0.0.1", port: Number(new URL(service.url).port) });
}

async function send(connection: Deno.TcpConn, text: string): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

/** Reads until `enough` or the end. */
async function receive(connection: Deno.TcpConn, enough: (text: string) => boolean): Promise<string> {
  const decoder = new TextDecoder();
  const chunk = new Uint8Array(65_536);
  let text = "";
  while (!enough(text)) {
    const length = await connection.read(chunk).catch(() => null); // a reset is an end too
    if (length === null) break;
    text += decoder.decode(chunk.subarray(0, length), { stream: true });
  }
  return text;
}

function head({ token }: Target, ...more: string[]): string {
  const lines = [`POST ${PATH} HTTP/1.1`, "Host: x", `Authorization: Bearer ${token}`, ...more];
  return `${lines.join("\r\n")}\r\n\r\n`;
}

function whole(target: Target, sql: string): string {
  const body = JSON.stringify({ sql });
  return head(target, `Content-Length: ${body.length}`) + body;
}

const answered = (text: string) => /\r\n\r\n\{.*\}$/.test(text);

onService("a body of 9 MB is 413, declared or in chunks, and the service goes on", async (target) => {
  const body = JSON.stringify({ sql: `SELECT '${"x".repeat(9_000_000)}'` });
  const chunks = () => new Response(body).body;
  for (const sent of [body, chunks()]) {
    const response = await fetch(target.service.url + PATH, {
      method: "POST",
      headers: { authorization: `Bearer ${target.token}` },
      body: sent,
    });
    assertEquals([response.status, (await response.json()).code], [413, "payload_too_large"]);
  }
  assertEquals((await query(target, "SELECT 1")).rows, [[1]]);
});

onService(
  "a client that declares 90 MB is told 413 without having sent any of it, whether it asks before or not",
  async (target) => {
    for (const asks of [["Expect: 100-continue"], []]) {
      using connection = await connect(target);
      await send(connection, head(target, "Content-Length: 90000000", ...asks));
      const text = await receive(connection, answered);
      assertMatch(text, /^HTTP\/1\.1 413 /m);
    }
  },
);

onService(
  "a client that sends 90 MB before it reads finds the 413, and no broken connection",
  async (target) => {
    using connection = await connect(target);
    await send(connection, head(target, "Content-Length: 90000000"));
    const megabyte = "x".repeat(1_000_000);
    for (let sent = 0; sent < 90; sent++) await send(connection, megabyte);
    assertMatch(await receive(connection, answered), /^HTTP\/1\.1 413 /m);
  },
);

onService("a length that is declared twice is 400 and named on every surface", async (target) => {
  const twice = "Content-Length: 2\r\nContent-Length: 2";
  for (const path of [PATH, "/v1/sessions", "/p/demo/demo/create-product", "/oauth/token", "/v2/pipeline"]) {
    using connection = await connect(target);
    await send(connection, head(target, twice).replace(PATH, path) + "{}");
    const text = await receive(connection, answered);
    assertMatch(text, /^HTTP\/1\.1 400 /m, path);
    assertMatch(text, /"(?:error|error_description)":"Send Content-Length once"/, path);
  }
  using connection = await connect(target);
  await send(connection, head(target, "Content-Length: 2\r\nContent-Length: 3") + "{}");
  assertMatch(await receive(connection, () => false), /^HTTP\/1\.1 400 /m);
});

onService(
  "a Host that is none is 400 on every surface, leads to no other path, and is no failure",
  async (target) => {
    const sound = ["x", "x:1", "[::1]:1", "1.2.3.4"];
    const others = ["a b", "x:99999", "x/healthz?", "<x>", "y@x"];
    for (const path of ["/console", "/v1/me", "/mcp", "/oauth/authorize?state=1", "/nothing"]) {
      for (const host of [...sound, ...others]) {
        using connection = await connect(target);
        await send(connection, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
        const text = await receive(connection, () => false);
        assertEquals(/"path":"Host"/.test(text), others.includes(host), `${path} at ${host}: ${text}`);
      }
    }
    assertEquals(/"level":"error"/.test(target.service.errors()), false, target.service.errors());
  },
);

Deno.test(
  "a body that never ends is 408 request_timeout, and the service waits for it no longer",
  async () => {
    await using app = await startApp();
    const tenant = await app.namespace();
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"sql":"SELECT')),
    });
    const slow = app.request("POST", `${tenant.database.path}/query`, { token: tenant.token, body });
    while (app.deps.bodyWatch.pending === 0) await pause(1);
    for (let sweep = 0; sweep < 5; sweep++) app.deps.bodyWatch.sweep();
    const answer = await slow;
    assertEquals([answer.status, answer.body.code], [408, "request_timeout"]);
    assertEquals(answer.headers.get("connection"), "close");
    assertEquals(app.deps.bodyWatch.pending, 0);
    assertEquals((await tenant.query("SELECT 1")).status, 200);
  },
);

onService("a client that leaves in the middle of its body harms nobody", async (target) => {
  for (let client = 0; client < 20; client++) {
    using connection = await connect(target);
    await send(connection, `${head(target, "Content-Length: 1000")}{"sql":"INSERT`);
  }
  assertEquals((await query(target, "SELECT 1")).rows, [[1]]);
  assertEquals(/"level":"error"/.test(target.service.errors()), false, target.service.errors());
});

onService(
  "a read is stopped when its client leaves, and the database has room for other reads",
  async (target) => {
    // A database runs two slow reads side by side; a third would wait for ever.
    for (let client = 0; client < 4; client++) {
      using connection = await connect(target);
      await send(connection, whole(target, ENDLESS));
      await pause(150);
    }
    assertEquals(await query(target, "SELECT 1"), { status: 200, rows: [[1]] });
  },
);

onService(
  "a write is stopped when its client leaves, keeps nothing, and the next write runs",
  async (target) => {
    assertEquals((await query(target, "CREATE TABLE t (a)")).status, 200);
    const endless =
      "INSERT INTO t WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT i FROM c " +
      "WHERE i % 100000 = 0";
    {
      using connection = await connect(target);
      await send(connection, whole(target, endless));
      await pause(400);
    }
    assertEquals((await query(target, "INSERT INTO t VALUES (-1)")).status, 200);
    assertEquals((await query(target, "SELECT a FROM t")).rows, [[-1]]);
  },
);

onService(
  "a client that leaves while its batch waits or runs leaves all of it or nothing",
  async (target) => {
    assertEquals((await query(target, "CREATE TABLE batches (a, b)")).status, 200);
    for (let client = 0; client < 60; client++) {
      using connection = await connect(target);
      const statements = [1, 2, 3, 4].map((b) => ({
        sql: "INSERT INTO batches VALUES (?, ?)",
        params: [client, b],
      }));
      const body = JSON.stringify({ statements, transaction: true });
      await send(
        connection,
        head(target, `Content-Length: ${body.length}`).replace("/query", "/batch") + body,
      );
      await pause(client % 4);
    }
    const torn = await query(target, "SELECT a, count(*) FROM batches GROUP BY a HAVING count(*) <> 4");
    assertEquals(torn, { status: 200, rows: [] });
  },
);

onService("a body in chunks of any cut is read whole", async (target) => {
  const body = JSON.stringify({ sql: "SELECT 'häß ☃'" });
  const bytes = new TextEncoder().encode(body);
  using connection = await connect(target);
  await send(connection, head(target, "Transfer-Encoding: chunked"));
  for (const byte of bytes) {
    await connection.write(new TextEncoder().encode("1\r\n"));
    await connection.write(Uint8Array.of(byte));
    await send(connection, "\r\n");
  }
  await send(connection, "0\r\n\r\n");
  const text = await receive(connection, answered);
  assertMatch(text, /^HTTP\/1\.1 200 /);
  assert(text.includes("häß ☃"), text);
});

onService("pipelined requests are answered in their order", async (target) => {
  using connection = await connect(target);
  await send(connection, [1, 2, 3].map((n) => whole(target, `SELECT 'answer ${n}' AS a`)).join(""));
  const text = await receive(connection, (received) => received.includes("answer 3"));
  assertEquals(text.match(/answer \d/g), ["answer 1", "answer 2", "answer 3"]);
});

onService("what is no HTTP ends its own connection and nothing else", async (target) => {
  const garbage = [
    "\x00\x01\x02\xff\xfe garbage \r\n\r\n",
    `${whole(target, "SELECT 1")}\x00\xff NOT HTTP \r\n\r\n`,
    "GET / HTTP/9.9\r\n\r\n",
    `GET /${"a".repeat(200_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    `GET /healthz HTTP/1.1\r\nHost: x\r\n${"X-A: b\r\n".repeat(5000)}\r\n`,
    head(target, "Content-Length: -1"),
    head(target, "Content-Length: 5", "Content-Length: 7"),
    `${head(target, "Transfer-Encoding: chunked")}zz\r\nnope`,
    "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
  ];
  for (const text of garbage) {
    using connection = await connect(target);
    await send(connection, text).catch(() => {}); // the service may have closed already
    await connection.closeWrite().catch(() => {});
    await receive(connection, () => false);
    assertEquals(
      await query(target, "SELECT 1"),
      { status: 200, rows: [[1]] },
      JSON.stringify(text.slice(0, 60)),
    );
  }
});
