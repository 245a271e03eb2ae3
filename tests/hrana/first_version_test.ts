// The protocol's version 1 over HTTP, as old clients and Django's backend speak it: by hand, and the same asked of a real sqld.
import { assertEquals, assertMatch } from "@std/assert";
import { testSteps } from "../testing/cases.ts";
import type { ApiRequest } from "../testing/call_api.ts";
import { startApp } from "../testing/start_app.ts";
import { startSqld } from "../testing/sqld.ts";
import { isEmbedded } from "../testing/tenant_settings.ts";
import { type HranaWorld, hranaWorld, type StmtResult, wholeBatch } from "./hrana_world.ts";

/** An answer of version 1: a result, or an error. */
interface FirstAnswer {
  readonly result?: Partial<StmtResult> & {
    readonly step_results?: readonly (Partial<StmtResult> | null)[];
    readonly step_errors?: readonly ({ readonly message: string; readonly code: string } | null)[];
  };
  readonly message?: string;
  readonly code?: string;
}

type Asked = readonly [call: "execute" | "batch", body: unknown];

const execute = (sql: string, args: readonly unknown[] = []): Asked => ["execute", { stmt: { sql, args } }];
const batch = (...steps: readonly string[]): Asked => [
  "batch",
  { batch: { steps: steps.map((sql) => ({ stmt: { sql } })) } },
];

async function ask(
  { app, shop }: Pick<HranaWorld, "app" | "shop">,
  [call, body]: Asked,
  options: ApiRequest = {},
): Promise<{ readonly status: number; readonly headers: Headers; readonly body: FirstAnswer }> {
  const path = `/hrana/${shop.slug}/main/v1/${call}`;
  const { status, headers, text } = await app.request("POST", path, {
    ...{ token: shop.token, body },
    ...options,
  });
  assertEquals(headers.get("content-type"), "application/json");
  return { status, headers, body: JSON.parse(text) };
}

testSteps("version 1 over HTTP", hranaWorld, {
  "answers the result alone, wherever a client puts its segments": async ({ app, shop: { slug, token } }) => {
    const body = { stmt: { sql: "SELECT :a AS a", named_args: [{ name: "a", value: { type: "null" } }] } };
    for (const base of [`/hrana/${slug}/main`, `/hrana/${slug}/main/`, `/hrana/${slug}/main/sql`, ""]) {
      const { status, text } = await app.request("POST", `${base}/v1/execute`, { token, body });
      assertEquals([status, Object.keys(JSON.parse(text))], [200, ["result"]], base);
      assertEquals(JSON.parse(text).result.rows, [[{ type: "null" }]]);
    }
    const { text } = await app.request("POST", "/v1/batch", { token, body: batch("SELECT 1 AS b")[1] });
    assertEquals(JSON.parse(text).result.step_results[0].cols, [{ name: "b", decltype: null }]);
  },

  "a transaction that a request leaves open is undone, and holds nobody up": async (world) => {
    await world.setup("CREATE TABLE t (v)");
    for (const asked of [batch("BEGIN IMMEDIATE", "INSERT INTO t VALUES (1)"), execute("BEGIN IMMEDIATE")]) {
      assertEquals((await ask(world, asked)).status, 200);
    }
    assertEquals((await ask(world, execute("INSERT INTO t VALUES (2)"))).status, 200);
    assertEquals(await world.rows("SELECT v FROM t"), [[2]]);
  },

  "a failed statement is the status of the answer, a failed step is not": async (world) => {
    await world.setup("CREATE TABLE t (v UNIQUE)", "INSERT INTO t VALUES (1)");
    const failed = await ask(world, execute("INSERT INTO t VALUES (1)"));
    assertEquals([failed.status, failed.body.code], [400, "SQLITE_CONSTRAINT"]);
    assertMatch(failed.body.message ?? "", /^SQLite error: UNIQUE constraint failed/);
    const inside = await ask(world, ["batch", {
      batch: wholeBatch(["INSERT INTO t VALUES (2)", "INSERT INTO t VALUES (1)"]),
    }]);
    assertEquals([inside.status, inside.body.result?.step_errors?.[2]?.code], [200, "SQLITE_CONSTRAINT"]);
    assertEquals(await world.rows("SELECT v FROM t"), [[1]]);
    const refused = await ask(world, batch("INSERT INTO t VALUES (3)", "ATTACH 'other' AS o"));
    assertEquals([refused.status, refused.body.result], [403, undefined], JSON.stringify(refused.body));
    assertEquals(await world.rows("SELECT v FROM t"), [[1]]);
    const value = await ask(world, execute("SELECT ?", [{ type: "real", value: 1 }]));
    assertMatch(
      value.body.message ?? "",
      /stmt\.args\[0\]\.type: Send one of: null, integer, float, text, blob$/,
    );
    const digits = await ask(world, execute("SELECT ?", [{ type: "integer", value: "x" }]));
    assertMatch(digits.body.message ?? "", /: stmt\.args\[0\]\.value: Send an integer/);
  },

  "role, headers and keys count as in other versions": async (world) => {
    const { app, shop: { slug, token, mint }, rows, setup } = world;
    await setup("CREATE TABLE t (v)");
    const insert = execute("INSERT INTO t VALUES (1)");
    const refused = await ask(world, insert, { token: (await mint("read")).token });
    assertEquals([refused.status, refused.body.code], [403, "ROLE_TOO_LOW"]);
    const keyed = { headers: { "idempotency-key": "once" } };
    const first = await ask(world, insert, keyed);
    const again = await ask(world, insert, keyed);
    assertEquals([first.headers.get("idempotency-replayed"), again.body], [null, first.body]);
    assertEquals(again.headers.get("idempotency-replayed"), "true");
    const bounded = await ask(world, execute("DELETE FROM t"), { headers: { "x-max-affected": "0" } });
    assertEquals(bounded.body.code, "TOO_MANY_AFFECTED");
    assertEquals(await rows("SELECT v FROM t"), [[1]]);
    const { status, text } = await app.request("POST", `/v1/db/${slug}/main/v1/execute`, { token, body: {} });
    assertEquals(status, 404);
    assertMatch(JSON.parse(text).message, /^Give the client the URL \/hrana\//);
  },
});

Deno.test("version 1 answers as sqld does", async () => {
  const sqld = isEmbedded() ? await startSqld() : null;
  if (sqld === null) return;
  try {
    await using app = await startApp();
    const { shop } = await hranaWorld(app, "acme");
    const theirs = async ([call, body]: Asked): Promise<FirstAnswer> => {
      const answer = await fetch(`${sqld.url}/v1/${call}`, { method: "POST", body: JSON.stringify(body) });
      return await answer.json();
    };
    for (
      const asked of [
        execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT UNIQUE, b BLOB)"),
        execute("INSERT INTO t (v, b) VALUES (?, ?)", [{ type: "text", value: "ä" }, {
          type: "blob",
          base64: "AP8=",
        }]),
        execute("INSERT INTO t (v) VALUES ('ä')"),
        execute("SELECT id, v, b, 1.5, NULL FROM t"),
        execute("SELECT 1 FROM nowhere"),
        ["batch", { batch: wholeBatch(["INSERT INTO t (v) VALUES ('b')", "DELETE FROM t WHERE v = 'b'"]) }],
        batch("INSERT INTO t (v) VALUES ('c')", "INSERT INTO t (v) VALUES ('c')", "SELECT count(*) FROM t"),
      ] satisfies Asked[]
    ) {
      const { body } = await ask({ app, shop }, asked);
      assertEquals(likeness(body), likeness(await theirs(asked)), JSON.stringify(asked));
    }
  } finally {
    await sqld.stop();
  }
});

/** What clients read of an answer; times and estimates differ. */
function likeness({ result, message, code }: FirstAnswer): unknown {
  const ofOne = (one: Partial<StmtResult> | null) =>
    one && [one.cols, one.rows, one.affected_row_count, one.last_insert_rowid];
  if (result === undefined) return [message, code];
  const { step_results: results, step_errors: errors } = result;
  if (results === undefined) return ofOne(result);
  return [results.map(ofOne), errors?.map((error) => error && [error.message, error.code])];
}
