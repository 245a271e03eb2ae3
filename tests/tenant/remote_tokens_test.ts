// Data tokens for sqld: each for one namespace and one mode, so that a reading request cannot write whatever it says.
import { assertEquals } from "@std/assert";
import { exportPKCS8, exportSPKI, generateKeyPair } from "jose";
import { systemClock } from "../../lib/core/clock.ts";
import { DataTokens } from "../../lib/tenant/sqld/data_tokens.ts";
import { Tenant } from "../contracts/tenant_store.ts";
import { failureOf, withSqld } from "./sqld_world.ts";

Deno.test("with a key every request bears a token, and the server lets no reading token write", async () => {
  const pair = await generateKeyPair("EdDSA", { extractable: true });
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(`${folder}/public.pem`, await exportSPKI(pair.publicKey));
  const jwtKeyPem = await exportPKCS8(pair.privateKey);
  try {
    await withSqld(async (world) => {
      const tenant = await Tenant.create(world.store({ jwtKeyPem }), ["CREATE TABLE t (a)"]);
      assertEquals((await tenant.run("write", [["INSERT INTO t VALUES (1)"]])).ok, true);
      assertEquals(await tenant.rows("SELECT a FROM t"), [[1]]);
      const place = tenant.id.toLowerCase().replace("_", "-");
      const tokens = new DataTokens(jwtKeyPem, systemClock);
      const post = async (token: string) => {
        const response = await fetch(`${world.sqld.url}/v3/pipeline`, {
          method: "POST",
          headers: {
            "x-namespace-bin": btoa(place).replace(/=+$/, ""),
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
      assertEquals(await post(await tokens.token(place, "read")), 403);
      assertEquals(await post(await tokens.token("db-other", "write")), 404);
      assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[1]]);
      const error = await failureOf(() => world.store().ready());
      assertEquals(error.code, "store_unavailable");
    }, ["--auth-jwt-key-file", `${folder}/public.pem`]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
