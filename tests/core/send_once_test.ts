// A request that may change something leaves this process once, also where a kept-alive connection closes unanswered.
import { assertEquals, assertRejects } from "@std/assert";
import { sendOnce, streamOnce } from "../../lib/core/send_once.ts";
import { openRelay } from "../testing/relay.ts";

const bodies: readonly (readonly [name: string, body: () => BodyInit | null])[] = [
  ["a text", () => "a=1"],
  ["bytes", () => new TextEncoder().encode("a=1")],
  ["a form", () => new URLSearchParams({ a: "1" })],
  ["a stream", () => ReadableStream.from([new TextEncoder().encode("a=1")])],
  ["nothing", () => null],
];

for (const [name, send] of Object.entries({ sendOnce, streamOnce })) {
  Deno.test(`${name}() sends a request once when a kept-alive connection closes behind it`, async () => {
    await withServer(async ({ url, seen, relay }) => {
      for (const method of ["POST", "PATCH", "DELETE"]) {
        for (const [what, body] of bodies) {
          // The connection is one that was used before.
          await (await send(url, { method, body: body() })).text();
          seen.length = 0;
          relay.between = async (_, go) => {
            await go();
            return null;
          };
          await assertRejects(() => send(url, { method, body: body() }));
          relay.between = null;
          assertEquals(seen.map(({ method }) => method), [method], `${method} with ${what}`);
        }
      }
    });
  });

  Deno.test(`${name}() hands method, headers and body on as fetch does`, async () => {
    await withServer(async ({ url, seen }) => {
      for (const [what, body] of bodies.slice(0, 4)) {
        await (await send(url, { method: "POST", body: body(), headers: { "x-kept": "1" } })).text();
        assertEquals(seen.at(-1)?.body, "a=1", what);
        assertEquals(seen.at(-1)?.kept, "1", what);
      }
      await (await send(url, { method: "POST", body: new URLSearchParams({ a: "1" }) })).text();
      assertEquals(seen.at(-1)?.type?.split(";")[0], "application/x-www-form-urlencoded");
      await (await send(url)).text();
      assertEquals(seen.at(-1)?.method, "GET");
    });
  });
}

Deno.test("sendOnce() says how long a body is, for servers that want to know", async () => {
  const options = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
  await using server = Deno.serve(options, ({ headers }) => new Response(headers.get("content-length")));
  for (const [, body] of bodies.slice(0, 3)) {
    const answer = await sendOnce(`http://127.0.0.1:${server.addr.port}/`, { method: "POST", body: body() });
    assertEquals(await answer.text(), "3");
  }
});

interface Seen {
  readonly method: string;
  readonly body: string;
  readonly type: string | null;
  readonly kept: string | null;
}

interface World {
  readonly url: string;
  readonly seen: Seen[];
  readonly relay: ReturnType<typeof openRelay>;
}

async function withServer(body: (world: World) => Promise<void>): Promise<void> {
  const seen: Seen[] = [];
  const options = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
  await using server = Deno.serve(options, async (request) => {
    const { method, headers } = request;
    const body = await request.text();
    seen.push({ method, body, type: headers.get("content-type"), kept: headers.get("x-kept") });
    return new Response("done");
  });
  await using relay = openRelay(`http://127.0.0.1:${server.addr.port}`);
  await body({ url: `${relay.url}/`, seen, relay });
}
