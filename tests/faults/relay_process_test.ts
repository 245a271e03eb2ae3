// The service as a process, as `deno task start` starts it, behind a relay before sqld: what was answered is there once.
import { assert, assertEquals } from "@std/assert";
import { pause } from "../../lib/core/pause.ts";
import { newToken } from "../../lib/access/token_format.ts";
import { type ApiAnswer, type ApiRequest, callApi } from "../testing/call_api.ts";
import { openRelay, type Relay } from "../testing/relay.ts";
import { SHARED_SQLD, startSqld } from "../testing/sqld.ts";
import { startService } from "../testing/start_service.ts";
import { makeTestNamespace, member, rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { faults } from "./relay_faults.ts";

interface World {
  readonly data: Relay;
  readonly tenant: TestNamespace;
  request(method: string, path: string, options?: ApiRequest): Promise<ApiAnswer>;
}

const INSERT = "INSERT INTO t (a) VALUES (?)";
const CALLS = 100;

/** Runs `body` with a table `t`; where there is no sqld for this machine it says so and returns. */
async function withProcess(body: (world: World) => Promise<void>): Promise<void> {
  const sqld = await startSqld({ args: SHARED_SQLD });
  if (sqld === null) return;
  const folder = await Deno.makeTempDir({ prefix: "cubby_relay_" });
  try {
    await using data = openRelay(sqld.url);
    const operatorKey = newToken("cub_op_");
    await using service = await startService({
      folder,
      settings: {
        TENANTS_URL: `sqld+${data.url}?admin=${sqld.adminUrl}`,
        OPERATOR_KEY: operatorKey,
        DEMO: "0",
      },
    });
    const target = { request: (path: string, init: RequestInit) => fetch(service.url + path, init) };
    const request: World["request"] = (method, path, options) => callApi(target, method, path, options);
    const tenant = await makeTestNamespace({ request, operatorKey });
    assertEquals((await tenant.query("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")).status, 200);
    await body({ data, tenant, request });
    assertEquals((await service.stop()).code, 0);
  } finally {
    await sqld.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

/** Whether the request ends a transaction of a caller's. */
const commits = (body: string) => body.includes('"COMMIT"') && body.includes("_service_meta_audit");

Deno.test("100 unkeyed INSERTs through a relay that drops answers to commits are there once each", async () => {
  await withProcess(async ({ data, tenant }) => {
    let seen = 0;
    data.between = async ({ body }, go) => {
      const answer = await go();
      return commits(body) && seen++ % 4 === 0 ? null : answer;
    };
    const answers = [];
    for (let n = 0; n < CALLS; n++) answers.push(await tenant.query(INSERT, [n]));
    data.between = null;
    assertEquals(answers.filter(({ status }) => status !== 200).map(({ text }) => text), []);
    assert(seen >= CALLS, `${seen}`);
    assertEquals(await countsOf(tenant), [CALLS, CALLS, CALLS]);
  });
});

Deno.test("an execution token runs once though the answers to its commit are dropped", async () => {
  await withProcess(async ({ data, tenant, request }) => {
    const post = (operation: string, body: unknown) =>
      request("POST", `${tenant.database.path}/${operation}`, { token: tenant.token, body });
    for (let n = 0; n < 10; n++) {
      const executionToken = member(await post("propose", { sql: INSERT, params: [n] }), "executionToken");
      let dropped = 0;
      data.between = async ({ body }, go) => {
        const answer = await go();
        return commits(body) && dropped++ === 0 ? null : answer;
      };
      assertEquals((await post("apply", { executionToken })).status, 200);
      assertEquals((await post("apply", { executionToken })).status, 404);
      assertEquals(dropped > 0, true);
    }
    data.between = null;
    assertEquals(await countsOf(tenant), [10, 10, 10]);
  });
});

Deno.test("whatever a network does to any of their requests, INSERTs of eight callers are there as they were answered", async () => {
  await withProcess(async ({ data, tenant }) => {
    const seed = 20_261_122;
    const random = randomOf(seed);
    const acts = Object.values(faults);
    const fallen: Promise<unknown>[] = [];
    data.between = ({ body }, go, cut) => {
      // Behind a first request that is cut off the next writer waits for seconds.
      const act = random() < (commits(body) ? 0.4 : 0.02)
        ? acts[Math.floor(random() * acts.length)]
        : undefined;
      if (act === undefined) return go();
      const answer = act(go, cut);
      fallen.push(answer.catch(() => {}));
      return answer;
    };
    const answers: ApiAnswer[] = [];
    const numbers = [...Array(CALLS).keys()];
    const caller = async () => {
      for (let n = numbers.shift(); n !== undefined; n = numbers.shift()) {
        answers[n] = await tenant.query(INSERT, [n]);
      }
    };
    await Promise.all(Array.from({ length: 8 }, caller));
    await Promise.all(fallen);
    data.between = null;
    const found = rowsOf(await untilThere(() => tenant.query("SELECT a, count(*) FROM t GROUP BY a")));
    const times = new Map(found.map(([a, count]) => [Number(a), Number(count)]));
    for (const [n, { status, body, text }] of answers.entries()) {
      const about = `seed ${seed}, ${n}: ${text}`;
      const least = status === 200 ? 1 : 0;
      const most = status === 200 || body.code === "outcome_unknown" ? 1 : 0;
      const there = times.get(n) ?? 0;
      assert(status === 200 || status === 503, about);
      assert(there >= least && there <= most, `${there} times: ${about}`);
    }
    const [rows, audited, logged] = await countsOf(tenant);
    assertEquals([audited, logged], [rows, rows]);
  });
});

/** Rows of `t`, audit rows of INSERTs, log rows of INSERTs that were kept. */
async function countsOf(tenant: TestNamespace): Promise<unknown[]> {
  const log =
    "FROM _service_meta_query_log WHERE status = 'ok' AND operation <> 'propose' AND sql LIKE 'INSERT%'";
  const audited = `SELECT count(*) FROM _service_meta_audit WHERE query_log_id IN (SELECT id ${log})`;
  const sql = `SELECT (SELECT count(*) FROM t), (${audited}), (SELECT count(*) ${log})`;
  return rowsOf(await untilThere(() => tenant.query(sql)))[0] ?? [];
}

async function untilThere(send: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
  for (const startMs = performance.now();;) {
    const answer = await send();
    if (answer.status === 200 || performance.now() - startMs > 30_000) return answer;
    await pause(500);
  }
}

/** Numbers from 0 to below 1 (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
