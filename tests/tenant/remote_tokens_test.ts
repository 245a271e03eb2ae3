// Data tokens for sqld: each for one namespace and one mode, so that a reading request cannot write whatever it says.
import { assertEquals } from "@std/assert";
import { exportPKCS8, exportSPKI, generateKeyPair } from "jose";
import { systemClock } from "../../lib/core/clock.ts";
import type { Log } from "../../lib/core/log.ts";
import { DataTokens } from "../../lib/tenant/sqld/data_tokens.ts";
import { Tenant } from "../contracts/tenant_store.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { failureOf, type SqldWorld, withSqld } from "./sqld_world.ts";

/** With a server that takes tokens, and the private key for them. */
async function withKeys(body: (world: SqldWorld, jwtKeyPem: string) => Promise<void>): Promise<void> {
  const pair = await generateKeyPair("EdDSA", { extractable: true });
  const jwtKeyPem = await exportPKCS8(pair.privateKey);
  const env = { SQLD_AUTH_JWT_KEY: await exportSPKI(pair.publicKey) };
  await withSqld((world) => body(world, jwtKeyPem), [], env);
}

Deno.test("with a key every request bears a token, and the server lets no reading token write", async () => {
  await withKeys(async (world, jwtKeyPem) => {
    const tenant = await Tenant.create(world.store({ jwtKeyPem }), ["CREATE TABLE t (a)"]);
    assertEquals((await tenant.run("write", [["INSERT INTO t VALUES (1)"]])).ok, true);
    assertEquals(await tenant.rows("SELECT a FROM t"), [[1]]);
    const location = tenant.id.toLowerCase().replace("_", "-");
    const tokens = new DataTokens(jwtKeyPem, systemClock);
    const post = async (token: string) => {
      const response = await fetch(`${world.sqld.url}/v3/pipeline`, {
        method: "POST",
        headers: {
          "x-namespace-bin": btoa(location).replace(/=+$/, ""),
          authorization: `Bearer ${token}`,
        },
        body: JSON.stringify({
          baton: null,
          requests: [{ type: "execute", stmt: { sql: "DELETE FROM t" } }, { type: "close" }],
        }),
      });
      await response.body?.cancel();
      return response.status;
    };
    assertEquals(await post(await tokens.token(location, "read")), 403);
    assertEquals(await post(await tokens.token("db-other", "write")), 404);
    assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[1]]);
    const error = await failureOf(() => world.store().ready());
    assertEquals(error.code, "store_unavailable");
  });
});

Deno.test("a service whose clock is another than the server's is let in, from the first request on and at a jump", async () => {
  const hour = 3_600_000;
  await withKeys(async (world, jwtKeyPem) => {
    const clock = new TurnableClock();
    const lines: string[] = [];
    const log: Log = (_, event) => lines.push(event);
    clock.turn(-hour);
    const tenant = await Tenant.create(world.store({ jwtKeyPem, clock, log }), ["CREATE TABLE t (a)"]);
    for (const [at, turn] of [0, 2 * hour, -24 * hour, 1000 * hour, -2000 * hour].entries()) {
      clock.turn(turn);
      assertEquals((await tenant.run("write", [["INSERT INTO t VALUES (?)", at]])).ok, true);
      assertEquals(await tenant.rows("SELECT max(a), count(*) FROM t"), [[at, at + 1]]);
    }
    clock.turn(-hour);
    await tenant.database.takeSnapshot("after");
    assertEquals((await tenant.database.snapshots()).map(({ label }) => label), ["after"]);
    assertEquals(lines, []);
  });
});
