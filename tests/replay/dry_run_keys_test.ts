// A dry run with an idempotency key: an operation of its own, whose repetition gets the first answer.
import { assert, assertEquals } from "@std/assert";
import type { ApiRequest } from "../testing/call_api.ts";
import { oneStore } from "../testing/cases.ts";
import { startApp } from "../testing/start_app.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { assertRefused, assertReplay, count, INSERT, keyed, step, T } from "./keyed.ts";

const { run, test } = oneStore();
Deno.test("dry runs with a key", run);

const dry = (key: string, headers: ApiRequest["headers"] = {}) =>
  keyed(key, { headers: { "x-dry-run": "1", ...headers } });

test("a dry run repeated with its key shows what it showed first, and is neither logged nor run again", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query(T);
  const first = await tenant.query("DELETE FROM t", [], dry("k"));
  await tenant.query(INSERT);
  const again = await tenant.query("DELETE FROM t", [], dry("k"));
  assertReplay(first, again);
  const other = await tenant.query("DELETE FROM t", [], dry("other"));
  const shown = (other.body.data as { estimatedAffectedRows: number }).estimatedAffectedRows;
  assertEquals([shown, other.text === first.text], [1, false]);
  const log = "SELECT count(*) FROM _service_meta_query_log WHERE operation = 'propose'";
  assertEquals(rowsOf(await tenant.query(log)), [[2]]);
  const statements = [["INSERT INTO t (a) VALUES ('y')"], ["DELETE FROM t WHERE id > ?", 0]] as const;
  assertReplay(await tenant.batch(statements, dry("k")), await tenant.batch(statements, dry("k")));
  assertEquals(await count(tenant), 1);
});

test("the key of a dry run is not that of the call, and stands for one dry run only", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query(T);
  const shown = await tenant.query(INSERT, [], dry("k"));
  assertEquals([shown.status, await count(tenant)], [200, 0]);
  const ran = await tenant.query(INSERT, [], keyed("k"));
  assertEquals([ran.headers.get("idempotency-replayed"), await count(tenant)], [null, 1]);
  assertReplay(ran, await tenant.query(INSERT, [], keyed("k")));
  assertReplay(shown, await tenant.query(INSERT, [], dry("k")));
  for (const [sql, headers] of [["DELETE FROM t", {}], [INSERT, { "x-max-affected": "9" }]] as const) {
    assertRefused(await tenant.query(sql, [], dry("k", headers)), 422, "replay_mismatch");
  }
  const { token } = await tenant.mint("write");
  const another = await tenant.query(INSERT, [], { ...dry("k"), token });
  // The row is there by now, so what was stored is not what is shown.
  assertEquals([another.status, another.headers.get("idempotency-replayed")], [400, null], another.text);
  assertEquals((await tenant.query(INSERT, [], dry("a b"))).body.issues?.[0]?.path, "Idempotency-Key");
});

test("a dry run that fails leaves its key free, and of twenty at once one runs", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  assertEquals((await tenant.query("DELETE FROM t", [], dry("k"))).status, 400);
  await tenant.query(T);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => tenant.query("DELETE FROM t", [], dry("k"))),
  );
  assertEquals(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1);
  assertEquals(answers.filter(({ headers }) => headers.get("idempotency-replayed") === null).length, 1);
});

test("the step of a dry run is not that of the call: neither answers for the other", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query(T);
  const dryStep = step("p", "1", { headers: { "x-dry-run": "1" } });
  assertEquals((await tenant.query(INSERT, [], dryStep)).status, 200);
  assertRefused(await tenant.query(INSERT, [], step("p", "1")), 422, "replay_mismatch");
  assertEquals((await tenant.query(INSERT, [], step("p", "2"))).status, 200);
  const dryAgain = step("p", "2", { headers: { "x-dry-run": "1" } });
  assertRefused(await tenant.query(INSERT, [], dryAgain), 422, "replay_mismatch");
  assertEquals(await count(tenant), 1);
});

test("a dry run that is a step of a plan too is repeated by either", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query(T);
  const planned = step("p", "1", dry("k"));
  const first = await tenant.query(INSERT, [], planned);
  assertReplay(first, await tenant.query(INSERT, [], planned), "plan-replayed");
  const keyedOnly = await tenant.query(INSERT, [], dry("k"));
  assert(keyedOnly.text === first.text && keyedOnly.headers.get("idempotency-replayed") === "true");
});
