// The service as a real process, configured for Turso, on the stand-in: what a user does over HTTP.
import { assert, assertEquals } from "@std/assert";
import { newToken } from "../../lib/access/token_format.ts";
import { type ApiRequest, callApi } from "../testing/call_api.ts";
import { startService } from "../testing/start_service.ts";
import { makeTestNamespace, member, rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { startTursoStandIn, type TursoStandIn } from "../testing/turso_stand_in.ts";

interface TursoService {
  readonly turso: TursoStandIn;
  readonly shop: TestNamespace;
  /** With the operator's key, unless the request has a token. */
  readonly request: (method: string, path: string, options?: ApiRequest) => ReturnType<typeof callApi>;
}

/** Where there is no sqld for this machine it says so and returns. */
async function withService(body: (service: TursoService) => Promise<void>): Promise<void> {
  const turso = await startTursoStandIn();
  if (turso === null) return;
  const folder = await Deno.makeTempDir({ prefix: "cubby_turso_" });
  try {
    const token = newToken("cub_op_");
    const settings = {
      TENANTS_URL: `turso://${turso.organization}/${turso.group}?api=${turso.apiUrl}`,
      ...{ TENANTS_TOKEN: turso.platformToken, OPERATOR_KEY: token, DEMO: "0" },
    };
    await using service = await startService({ folder, settings });
    const target = { request: (path: string, init: RequestInit) => fetch(service.url + path, init) };
    const request: TursoService["request"] = (method, path, options) =>
      callApi(target, method, path, { token, ...options });
    await body({ turso, request, shop: await makeTestNamespace({ request, operatorKey: token }, "shop") });
    assertEquals((await service.stop()).code, 0, service.errors());
    assertEquals(/acme|platform-token|copy-|db-0/.exec(service.errors()), null);
  } finally {
    await turso.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("on Turso a database is made, queried, restored and deleted over HTTP", async () => {
  await withService(async ({ shop, request }) => {
    assertEquals((await shop.query("CREATE TABLE item (name TEXT UNIQUE, price INTEGER)")).status, 200);
    const batch = await shop.batch([
      ["INSERT INTO item VALUES (?, ?)", "pen", 120],
      ["INSERT INTO item VALUES (?, ?)", "ink", 450],
      ["SELECT count(*) FROM item"],
    ], { transaction: true });
    assertEquals(rowsOf(batch, 2), [[2]], batch.text);
    const clash = await shop.query("INSERT INTO item VALUES ('pen', 1)");
    assertEquals([clash.status, clash.body.errorDetail?.kind], [400, "unique_violation"]);
    const read = await shop.query("SELECT name FROM item WHERE price > ?", [200]);
    assertEquals([rowsOf(read), read.body.meta?.rowsReadBasis], [[["ink"]], "engine"]);
    const reader = await shop.mint("read");
    assertEquals((await shop.query("DELETE FROM item", [], reader)).status, 403);

    const deleted = await shop.query("DELETE FROM item");
    const post = (operation: string, body: unknown) =>
      request("POST", `${shop.database.path}/${operation}`, { token: shop.token, body });
    const restored = await post("restore", { snapshot: deleted.body.meta?.snapshot });
    assertEquals(restored.status, 200, restored.text);
    assertEquals(rowsOf(await shop.query("SELECT count(*) FROM item")), [[2]]);
    assertEquals((await post("restore", { snapshot: member(restored, "undo") })).status, 200);
    assertEquals(rowsOf(await shop.query("SELECT count(*) FROM item")), [[0]]);
    const log = await request("GET", `${shop.database.path}/query_log`, { token: shop.token });
    assertEquals(log.text.match(/"id":"qry_/g)?.length, 10, log.text);

    const path = "/api/namespaces/shop/databases/main";
    const gone = await request("DELETE", path, { body: { confirm: "main" } });
    assertEquals(gone.status, 200, gone.text);
    assertEquals((await shop.query("SELECT 1")).status, 404);
  });
});

Deno.test("on Turso a repeated call with its idempotency key runs once, whatever became of the tokens", async () => {
  await withService(async ({ turso, shop }) => {
    await shop.query("CREATE TABLE item (name TEXT)");
    const headers = { "Idempotency-Key": "one" };
    const first = await shop.query("INSERT INTO item VALUES ('pen')", [], { headers });
    turso.revokeTokens();
    const again = await shop.query("INSERT INTO item VALUES ('pen')", [], { headers });
    assertEquals([first.status, again.status, again.text], [200, 200, first.text]);
    assertEquals(rowsOf(await shop.query("SELECT count(*) FROM item")), [[1]]);
  });
});

Deno.test("on Turso a plan that is used up and a platform that is away are 503 with Retry-After", async () => {
  await withService(async ({ turso, shop, request }) => {
    await shop.query("CREATE TABLE item (name TEXT)");
    await turso.blockOrganization({ reads: true, writes: true });
    for (const sql of ["SELECT count(*) FROM item", "INSERT INTO item VALUES ('never')"]) {
      const { status, headers, body, text } = await shop.query(sql);
      assertEquals([status, headers.get("retry-after"), body.code], [503, "60", "store_over_quota"], text);
    }
    assertEquals((await request("GET", "/readyz")).status, 503);
    await turso.blockOrganization({ reads: false, writes: false });
    assertEquals((await request("GET", "/readyz")).status, 200);
    turso.setFault(() => new Response("<html>gateway of acme</html>", { status: 502 }));
    const made = await request("POST", "/api/namespaces/shop/databases", { body: { slug: "more" } });
    assertEquals([made.status, made.headers.get("retry-after"), made.body.code], [
      503,
      "2",
      "store_unavailable",
    ]);
    assert(!made.text.includes("acme") && !made.text.includes("127.0.0.1"), made.text);
    assertEquals(rowsOf(await shop.query("SELECT count(*) FROM item")), [[0]]);
    turso.setFault(null);
    const then = await request("POST", "/api/namespaces/shop/databases", { body: { slug: "more" } });
    assertEquals(then.status, 201, then.text);
  });
});
