// Connections of strangers to the real process, with the limits that it has.
import { pause } from "../../lib/core/pause.ts";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { RawClient } from "../testing/raw_client.ts";
import { startService } from "../testing/start_service.ts";

const GET = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
/** A body that takes 25 s of the 30 that bodies have, on a connection that is older than 30 s then. */
async function sendSlowBody(client: RawClient, token: string): Promise<number> {
  await client.send(GET);
  await client.answer();
  await pause(8000);
  const body = JSON.stringify({ sql: "SELECT 42" }).padEnd(50);
  await client.send(
    "POST /v1/db/demo/demo/query HTTP/1.1\r\nHost: localhost\r\n" +
      `Authorization: Bearer ${token}\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  // By the clock: on a busy machine each pause may be longer than it should.
  const startMs = performance.now();
  for (const [at, character] of [...body].entries()) {
    await pause(startMs + (at + 1) * 500 - performance.now());
    await client.send(character);
  }
  return (await client.answer()).status;
}

Deno.test("heads that are not sent end on `deno task start`, what is answered or kept does not, and a stop comes to its end", async () => {
  const folder = await Deno.makeTempDir({ prefix: "cubby_heads_" });
  try {
    await using service = await startService({ folder });
    assertEquals(service.errors(), "", "the service cannot bound heads on this Deno");
    const token = /cub_live_\w+/.exec(service.output())?.[0] ?? "";
    const port = Number(new URL(service.url).port);
    using kept = await RawClient.connect(port);
    await kept.send(GET);
    assertEquals((await kept.answer()).status, 200);
    using slow = await RawClient.connect(port);
    const answered = sendSlowBody(slow, token);
    const strangers = await Promise.all(Array.from({ length: 300 }, () => RawClient.connect(port)));
    await Promise.all(strangers.map(async (stranger, at) => {
      using _ = stranger;
      if (at % 3 === 0) return await stranger.end();
      if (at % 3 === 1) return await stranger.trickle(`GET /${"x".repeat(400)}`, 200);
      await stranger.send(GET.slice(0, 30));
      return await stranger.end();
    }));
    assertEquals(await answered, 200);
    await kept.send(GET);
    assertStringIncludes((await kept.answer()).body, "ok");
    using half = await RawClient.connect(port);
    await half.send(GET.slice(0, 10));
    assertEquals((await service.stop()).code, 0);
    await Promise.all([kept.end(), half.end()]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("silent connections beyond the file descriptors that the process may have shut nobody out", async () => {
  const folder = await Deno.makeTempDir({ prefix: "cubby_heads_" });
  try {
    const launcher = ["sh", "-c", 'ulimit -n 150; exec "$@"', "sh"];
    await using service = await startService({ folder, launcher, settings: { DEMO: "0" } });
    const port = Number(new URL(service.url).port);
    using strangers = new DisposableStack();
    for (let count = 0; count < 300; count++) strangers.use(await RawClient.connect(port));
    for (let time = 0; time < 2; time++) {
      using client = await RawClient.connect(port);
      await client.send(GET);
      assertEquals((await client.answer()).status, 200);
    }
    assertStringIncludes(service.errors(), '"connection_not_accepted","error":"EMFILE"');
    assertEquals((await service.stop()).code, 0);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
