// Clients that declare a long body and send none of it, against the service as `deno task start` starts it.
import { assert, assertEquals } from "@std/assert";
import { pause } from "../../lib/core/pause.ts";
import { callService, serviceWorld } from "../testing/service_world.ts";

const CLIENTS = 200;
const DECLARED = 8 * 1024 * 1024;

function residentMb(pid: number): number {
  const pages = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(/VmRSS:\s+(\d+)/.exec(pages)?.[1]) / 1024;
}

Deno.test("a body takes memory as it comes, not as it was declared", async () => {
  await using world = await serviceWorld();
  const { hostname, port } = new URL(world.service.url);
  const before = residentMb(world.service.pid);
  const head =
    `POST /v1/db/acme/main/query HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${world.token}\r\n` +
    `content-type: application/json\r\ncontent-length: ${DECLARED}\r\n\r\n{"sql":"`;
  const clients: Deno.TcpConn[] = [];
  try {
    for (let at = 0; at < CLIENTS; at++) {
      const client = await Deno.connect({ hostname, port: Number(port) });
      clients.push(client);
      await client.write(new TextEncoder().encode(head));
    }
    for (let round = 0; round < 10; round++) {
      assertEquals((await callService(world, "SELECT 1")).status, 200);
      const grown = residentMb(world.service.pid) - before;
      assert(grown < 600, `${Math.round(grown)} MB for ${CLIENTS} bodies of which nothing has come`);
      await pause(200);
    }
    // One that comes after all is read whole.
    const sql = `SELECT length('${"x".repeat(900_000)}')`;
    const long = await callService(world, sql);
    assertEquals(long.body.data?.rows, [[900_000]]);
  } finally {
    for (const client of clients) client.close();
  }
});
