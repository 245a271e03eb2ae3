// Only the first answer on a connection has the long head, whatever the answer is.
import { assertEquals } from "@std/assert";
import { startApp } from "../testing/start_app.ts";

/** Lengths of `X-Padding` in the answers to these paths, one after the other on one connection; 0 where there is none. */
async function paddings(port: number, paths: readonly string[]): Promise<number[]> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const reader = connection.readable.pipeThrough(new TextDecoderStream()).getReader();
  const lengths: number[] = [];
  let text = "";
  for (const path of paths) {
    await connection.write(new TextEncoder().encode(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`));
    let whole: RegExpExecArray | null = null;
    while (whole === null) {
      const { value, done } = await reader.read();
      if (done) throw new Error("the connection was closed");
      text += value;
      whole = wholeAnswer(text);
    }
    const [head = ""] = whole;
    lengths.push(/^x-padding: (-*)/im.exec(head)?.[1]?.length ?? 0);
    text = "";
  }
  await reader.cancel();
  return lengths;
}

function wholeAnswer(text: string): RegExpExecArray | null {
  const head = /^[^]*?\r\n\r\n/.exec(text);
  const length = Number(/^content-length: (\d+)/im.exec(head?.[0] ?? "")?.[1] ?? Infinity);
  return head !== null && text.length - head[0].length >= length ? head : null;
}

Deno.test("the first answer on each connection makes room for those behind it", async () => {
  await using app = await startApp();
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, app.app.fetch);
  const paths = ["/healthz", "/v1/me", "/nothing", "/healthz"];
  for (let connection = 0; connection < 3; connection++) {
    const [first = 0, ...others] = await paddings(server.addr.port, paths);
    assertEquals([first > 512, ...others], [true, 0, 0, 0]);
  }
});

Deno.test("a request that comes over no connection has no padding", async () => {
  await using app = await startApp();
  assertEquals((await app.app.request("/healthz")).headers.get("x-padding"), null);
});
