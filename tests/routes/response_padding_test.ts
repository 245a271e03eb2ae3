// Only the first answer on a connection has the long head; those behind it arrive in one piece.
import { assertEquals } from "@std/assert";
import { publishedApp } from "../published/publish.ts";
import { oneStore } from "../testing/cases.ts";
import { startApp } from "../testing/start_app.ts";

const { run, test } = oneStore();
Deno.test("response padding", run);

/** Length of the answer's `X-Padding`, 0 where there is none, and in how many pieces the answer arrived. */
interface Arrival {
  readonly padding: number;
  readonly pieces: number;
}

/** Sends the requests one after the other on one connection. */
async function arrivals(port: number, requests: readonly string[]): Promise<Arrival[]> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const found: Arrival[] = [];
  const buffer = new Uint8Array(1 << 16);
  for (const request of requests) {
    await connection.write(new TextEncoder().encode(request));
    let text = "";
    let pieces = 0;
    while (headOf(text) === null) {
      const count = await connection.read(buffer);
      if (count === null) throw new Error("the connection was closed");
      text += new TextDecoder().decode(buffer.subarray(0, count));
      pieces++;
    }
    found.push({ padding: /^x-padding: (-*)/im.exec(text)?.[1]?.length ?? 0, pieces });
  }
  return found;
}

/** The head of an answer that has arrived whole, else null. */
function headOf(text: string): string | null {
  const head = /^[^]*?\r\n\r\n/.exec(text)?.[0] ?? null;
  const length = Number(/^content-length: (\d+)/im.exec(head ?? "")?.[1] ?? Infinity);
  return head !== null && text.length - head.length >= length ? head : null;
}

function get(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
}

test("the first answer on each connection makes room for those behind it", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, app.app.fetch);
  const body = JSON.stringify({ sql: `SELECT '${"long enough for two packets ".repeat(20)}'` });
  const query = `POST ${tenant.database.path}/query HTTP/1.1\r\nHost: localhost\r\n` +
    `Authorization: Bearer ${tenant.token}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  for (let connection = 0; connection < 3; connection++) {
    const [first, ...others] = await arrivals(server.addr.port, [
      get("/healthz"),
      query,
      get("/v1/me"),
      query,
    ]);
    assertEquals([(first?.padding ?? 0) > 512, first?.pieces], [true, 1]);
    assertEquals(others, Array(3).fill({ padding: 0, pieces: 1 }));
  }
});

test("what a shared cache may keep has no padding, and neither has an answer over no connection", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "item", cacheSec: 60 });
  const { app } = world.app;
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, app.fetch);
  assertEquals(await arrivals(server.addr.port, [get("/p/acme/main/item?id=1")]), [{
    padding: 0,
    pieces: 1,
  }]);
  assertEquals((await app.request("/healthz")).headers.get("x-padding"), null);
});
