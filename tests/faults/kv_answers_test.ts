// A KV on the network that loses the answer to each commit once: Deno's client sends it again, and every commit of ours
// still takes effect once and is told so. The service runs as `deno task start` starts it.
import { assert, assertEquals } from "@std/assert";
import { newToken } from "../../lib/access/token_format.ts";
import { withReceipts } from "../../lib/store/kv_call.ts";
import { type ApiAnswer, type ApiRequest, callApi } from "../testing/call_api.ts";
import { type KvConnect, startKvConnect } from "../testing/kv_connect.ts";
import { startService } from "../testing/start_service.ts";
import { makeTestNamespace, member, rowsOf } from "../testing/test_namespace.ts";

const ACCESS_TOKEN = "an-access-token-of-some-length";

Deno.test("a commit whose answer is lost is kept once and said to be kept, checked or not", async () => {
  await withKv(async (server, kv) => {
    const before = await kv.get(["a"]);
    server.losesAnswers = true;
    const commits = server.commits;
    assertEquals((await kv.atomic().check(before).set(["a"], 1).commit()).ok, true);
    assertEquals((await kv.atomic().set(["b"], 1).commit()).ok, true);
    const entry = await kv.get(["a"]);
    assertEquals((await kv.atomic().check(entry).delete(["a"]).commit()).ok, true);
    assertEquals(server.commits - commits, 3);
    assertEquals((await kv.atomic().check(entry).set(["a"], 2).commit()).ok, false);
    assertEquals([(await kv.get(["a"])).value, (await kv.get(["b"])).value], [null, 1]);
  });
});

Deno.test("of many who consume one record while answers are lost, one is told that it has it", async () => {
  await withKv(async (server, kv) => {
    await kv.atomic().set(["token"], 1).commit();
    const entry = await kv.get(["token"]);
    server.losesAnswers = true;
    const ends = await Promise.all(
      Array.from({ length: 20 }, () => kv.atomic().check(entry).delete(["token"]).commit()),
    );
    assertEquals(ends.filter(({ ok }) => ok).length, 1);
  });
});

Deno.test("with every answer of the KV lost once tokens, money, names and approvals are as they were answered", async () => {
  const folder = await Deno.makeTempDir({ prefix: "cubby_kv_" });
  try {
    await using server = startKvConnect(ACCESS_TOKEN);
    const operatorKey = newToken("cub_op_");
    const settings = {
      KV_URL: server.url,
      DENO_KV_ACCESS_TOKEN: ACCESS_TOKEN,
      OPERATOR_KEY: operatorKey,
      DEMO: "0",
    };
    await using service = await startService({ folder, settings });
    server.losesAnswers = true;
    const target = { request: (path: string, init: RequestInit) => fetch(service.url + path, init) };
    const ask = (method: string, path: string, options?: ApiRequest) =>
      callApi(target, method, path, options);
    const acme = await makeTestNamespace({ request: ask, operatorKey });
    const post = async (path: string, body: unknown, token = acme.token) =>
      ok(await ask("POST", path, { token, body }));
    const { path } = acme.database;
    await post(`${path}/query`, { sql: "CREATE TABLE t (a)" });
    const sql = "INSERT INTO t VALUES (?)";

    const proposed = await post(`${path}/propose`, { sql, params: [1] });
    const executionToken = member(proposed, "executionToken");
    const applied = await Promise.all(
      Array.from(
        { length: 4 },
        () => ask("POST", `${path}/apply`, { token: acme.token, body: { executionToken } }),
      ),
    );
    assertEquals(applied.map(({ status }) => status).sort(), [200, 404, 404, 404]);

    const minted = await post(`${path}/handoff`, { role: "write", ttlSec: 600 });
    const handed = await post("/v1/handoff/redeem", { token: member(minted, "token"), name: "other" });
    await post(`${path}/query`, { sql, params: [2] }, member(handed, "token"));

    await post("/api/namespaces/acme/databases/main/rules", { tableGlob: "t", effect: "require_approval" });
    const held = JSON.parse(
      (await ask("POST", `${path}/query`, { token: acme.token, body: { sql, params: [3] } })).text,
    );
    await post(
      `/api/namespaces/acme/approvals/${held.approvalUrl.split("/").at(-1)}/approve`,
      {},
      operatorKey,
    );
    await post(`${path}/redeem_approval`, { approvalToken: held.approvalToken });

    const balances = "/api/namespaces/acme/balance";
    const before = balanceOf(await ask("GET", balances, { token: operatorKey }));
    for (let n = 0; n < 3; n++) {
      await post("/api/namespaces/acme/credits", { amountUsd: 2, reference: `r${n}` }, operatorKey);
    }
    const after = balanceOf(await ask("GET", balances, { token: operatorKey }));
    assert(Math.abs(after - before - 6) < 0.01, `${before} ${after}`);

    await post("/api/namespaces/acme/databases", { slug: "second" });
    const again = await ask("POST", "/api/namespaces/acme/databases", {
      token: acme.token,
      body: { slug: "second" },
    });
    assertEquals(again.status, 409);
    assertEquals(rowsOf(await post(`${path}/query`, { sql: "SELECT a FROM t ORDER BY a" })), [[1], [2], [3]]);
    assertEquals((await service.stop()).code, 0);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

async function withKv(body: (server: KvConnect, kv: Deno.Kv) => Promise<void>): Promise<void> {
  await using server = startKvConnect(ACCESS_TOKEN);
  const before = Deno.env.get("DENO_KV_ACCESS_TOKEN");
  Deno.env.set("DENO_KV_ACCESS_TOKEN", ACCESS_TOKEN);
  const kv = withReceipts(await Deno.openKv(server.url));
  if (before === undefined) Deno.env.delete("DENO_KV_ACCESS_TOKEN");
  try {
    await body(server, kv);
  } finally {
    kv.close();
  }
}

function ok(answer: ApiAnswer): ApiAnswer {
  assert(answer.status === 200 || answer.status === 201, answer.text);
  return answer;
}

/** Free and reserved together. */
function balanceOf(answer: ApiAnswer): number {
  const { balanceUsd, reservedUsd } = JSON.parse(ok(answer).text).data;
  return balanceUsd + reservedUsd;
}
