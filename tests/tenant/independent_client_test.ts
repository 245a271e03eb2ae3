// What the store keeps in sqld, read and written by libSQL's own client: neither depends on how the other one encodes.
import { assertEquals } from "@std/assert";
// @ts-types="../../lib/tenant/remote/locations/libsql_client.d.ts"
import { createClient } from "@libsql/client/http";
import { Tenant } from "../contracts/tenant_store.ts";
import { withSqld } from "./sqld_world.ts";

Deno.test("libSQL's own client reads what the store wrote, and the store what the client wrote", async () => {
  await withSqld(async (world) => {
    const tenant = await Tenant.create(world.store(), ["CREATE TABLE t (n INTEGER PRIMARY KEY, v)"]);
    const namespace = btoa(tenant.id.toLowerCase().replace("_", "-")).replace(/=+$/, "");
    const client = createClient({
      url: world.sqld.url,
      intMode: "bigint",
      fetch: (request: Request) => {
        const headers = new Headers(request.headers);
        headers.set("x-namespace-bin", namespace);
        return fetch(new Request(request, { headers }));
      },
    });
    const written = await tenant.run("write", [[
      "INSERT INTO t (v) VALUES (?), (?), (?), (?), (?)",
      ...["9007199254740993 as text", 0.1, null, { $blob: "AP8=" }, 7],
    ]]);
    assertEquals(written.ok, true);
    const read = await client.execute("SELECT v, typeof(v) FROM t ORDER BY n");
    assertEquals(read.rows.map((row) => [row[0], row[1]]), [
      ["9007199254740993 as text", "text"],
      [0.1, "real"],
      [null, "null"],
      [Uint8Array.of(0, 255).buffer, "blob"],
      [7n, "integer"],
    ]);
    await client.execute({
      sql: "INSERT INTO t (v) VALUES (?), (?), (?)",
      args: [9007199254740993n, "é😀", Uint8Array.of(1)],
    });
    assertEquals(await tenant.rows("SELECT v FROM t WHERE n > 5 ORDER BY n"), [
      ["9007199254740993"],
      ["é😀"],
      [{ $blob: "AQ==" }],
    ]);
    client.close();
  });
});
