// Headers that shape what a call does or answers are a part of the request that a replay key stands for.
import { assertEquals } from "@std/assert";
import { replayScope } from "../../lib/access/replay_scope.ts";
import type { ApiRequest } from "../testing/call_api.ts";
import { startApp } from "../testing/start_app.ts";
import { assertRefused, assertReplay, count, INSERT, keyed, step, T } from "./keyed.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("headers that shape answers", run);

const shapes = [{ "x-integers": "string" }, { "x-max-affected": "5" }, { "x-service-no-snapshot": "1" }];

const keys: readonly [string, (name: string, more?: ApiRequest) => ApiRequest][] = [
  ["idempotency-replayed", keyed],
  ["plan-replayed", (name, more) => step("plan", name, more)],
];

test("the same key with another shape of the call is refused, and with the same one replayed", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query(T);
  for (const [replayed, key] of keys) {
    for (const [at, headers] of shapes.entries()) {
      for (const sql of [INSERT.replace("'x'", "NULL"), "SELECT 1"]) {
        const name = `${at}-${sql.slice(0, 6)}`;
        const shaped = await tenant.query(sql, [], key(name, { headers }));
        assertReplay(shaped, await tenant.query(sql, [], key(name, { headers })), replayed);
        assertRefused(await tenant.query(sql, [], key(name)), 422, "replay_mismatch");
        const plain = await tenant.query(sql, [], key(`${name}-plain`));
        assertReplay(plain, await tenant.query(sql, [], key(`${name}-plain`)), replayed);
        assertRefused(await tenant.query(sql, [], key(`${name}-plain`, { headers })), 422, "replay_mismatch");
      }
    }
  }
  assertEquals(await count(tenant), 2 * keys.length * shapes.length);
});

test("what is the same header to the service is the same call", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const ask = (value: string) =>
    tenant.query("SELECT 1", [], keyed("k", { headers: { "x-integers": value } }));
  assertReplay(await ask("string"), await ask("String"));
});

test("a call without such headers is known by its text alone, as calls of an earlier version are", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const { replays } = app.deps.query;
  const body = JSON.stringify({ sql: "SELECT 1" });
  const { path, id } = tenant.database;
  const post = (options: ApiRequest) =>
    app.request("POST", `${path}/query`, { token: tenant.token, ...options, body });
  assertEquals((await post(keyed("k"))).status, 200);
  const keyScope = replayScope(["idempotency", tenant.id, id, "query", "k"], body);
  assertEquals((await replays.find(keyScope)).state, "stored");
  assertEquals((await post(step("p", "1"))).status, 200);
  const planScope = replayScope(["plan", tenant.id, "p", "1"], `POST ${path}/query\n${body}`);
  assertEquals((await replays.claim(planScope, id)).state, "stored");
});
