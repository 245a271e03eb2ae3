// Long bodies of the command line: they arrive whole and once, an early answer ends them, and a source that fails is told.
import { assertEquals, assertRejects } from "@std/assert";
import { fetchStreaming } from "../../lib/cli/fetch_streaming.ts";

/** Runs `work` with the address of a server. */
async function withServer(
  answer: (request: Request) => Response | Promise<Response>,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, answer);
  try {
    await work(`http://127.0.0.1:${server.addr.port}/`);
  } finally {
    await server.shutdown();
  }
}

/** Bytes that count up, in pieces of odd sizes; `after` is called behind the last one. */
function counting(total: number, after: (controller: ReadableStreamDefaultController) => void) {
  let sent = 0;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent === total) return after(controller);
      const piece = new Uint8Array(Math.min(total - sent, 1 + sent % 70_001));
      for (let at = 0; at < piece.length; at++) piece[at] = (sent + at) % 251;
      sent += piece.length;
      controller.enqueue(piece);
    },
  });
}

Deno.test("a long body arrives whole and once, with its headers, and the answer comes back", async () => {
  let requests = 0;
  const answer = async (request: Request) => {
    requests++;
    const bytes = new Uint8Array(await request.arrayBuffer());
    const wrong = bytes.findIndex((byte, at) => byte !== at % 251);
    return Response.json({ bytes: bytes.length, wrong, said: request.headers.get("x-said") }, {
      status: 201,
      headers: { "X-Answered": "yes" },
    });
  };
  await withServer(answer, async (url) => {
    for (const total of [0, 1, 1024 * 1024, 3_000_001]) {
      const body = counting(total, (controller) => controller.close());
      const response = await fetchStreaming(url, { method: "POST", headers: { "X-Said": "this" }, body });
      assertEquals([response.status, response.headers.get("x-answered")], [201, "yes"]);
      assertEquals(await response.json(), { bytes: total, wrong: -1, said: "this" });
    }
  });
  assertEquals(requests, 4);
});

Deno.test("an answer before the end of the body is taken, and no more is read of the source", async () => {
  const refuse = () => new Response("too large", { status: 413 });
  await withServer(refuse, async (url) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(100_000)),
      cancel: () => resolve(),
    });
    const response = await fetchStreaming(url, { method: "POST", body: endless });
    assertEquals([response.status, await response.text()], [413, "too large"]);
    await promise;
  });
});

Deno.test("a source that fails is an error, and the other side does not take the part for the whole", async () => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const answer = async (request: Request) => {
    resolve(await request.arrayBuffer().then(() => true, () => false));
    return new Response();
  };
  await withServer(answer, async (url) => {
    const body = counting(2_000_000, (controller) => controller.error(new Error("the source is gone")));
    await assertRejects(() => fetchStreaming(url, { method: "POST", body }), /the source is gone/);
    assertEquals(await promise, false);
  });
});

Deno.test("where nobody listens, the failure is told", async () => {
  const body = counting(10, (controller) => controller.close());
  await assertRejects(() => fetchStreaming("http://127.0.0.1:1/", { method: "POST", body }));
});

Deno.test("an answer of a status that has no body is an error, which ends no process", async () => {
  await withServer(() => new Response(null, { status: 204 }), async (url) => {
    const body = counting(10, (controller) => controller.close());
    await assertRejects(() => fetchStreaming(url, { method: "POST", body }), /null body status/);
  });
});

Deno.test({
  name: "with TLS, the permissions of the command are enough: what fails is the connection",
  permissions: { net: true },
  fn: async () => {
    await withServer(() => new Response(), async (url) => {
      const body = counting(10, (controller) => controller.close());
      const told = await fetchStreaming(url.replace("http:", "https:"), { method: "POST", body }).catch(
        String,
      );
      assertEquals(String(told).split(":", 1), ["TypeError"]);
    });
  },
});
