// How much the answers of keyed calls may take of the KV that all namespaces share.
import { assertEquals } from "@std/assert";
import { smallLimits } from "../../lib/core/limits.ts";
import type { ApiAnswer, ApiRequest } from "../testing/call_api.ts";
import { oneStore } from "../testing/cases.ts";
import { startApp } from "../testing/start_app.ts";
import type { TestNamespace } from "../testing/test_namespace.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { assertReplay, keyed, replayed, step } from "./keyed.ts";

const { run, test } = oneStore();
Deno.test("room for kept answers", run);

/** Another text each time, of that many characters. */
function read(tenant: TestNamespace, length: number, options: ApiRequest): Promise<ApiAnswer> {
  return tenant.query("SELECT hex(randomblob(?))", [length / 2], options);
}

test("keyed reads, dry runs and steps of a namespace fill 64 MiB of KV in a day and no more, and run again beyond", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  const [tenant, other] = [await app.namespace(), await app.namespace("other")];
  await tenant.setup("CREATE TABLE t (a TEXT)");
  await tenant.setup("CREATE TABLE b (id INTEGER PRIMARY KEY, a TEXT)");
  const rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)";
  await tenant.query(`${rows} INSERT INTO b (a) SELECT hex(randomblob(600)) FROM n`);
  const large = 4_500_000;
  const first = await read(tenant, large, keyed("first"));
  for (let n = 0; n < 13; n++) await read(tenant, large, n % 2 ? keyed(`k${n}`) : step("plan", `s${n}`));
  assertReplay(first, await read(tenant, large, keyed("first")));
  for (const [name, options] of [["key", keyed("late")], ["step", step("plan", "late")]] as const) {
    const [one, again] = [await read(tenant, large, options), await read(tenant, large, options)];
    assertEquals([one.status, again.status, replayed(again)], [200, 200, [null, null]], name);
    assertEquals(one.text === again.text, false, name);
  }
  // What is left of the room is 4 MB.
  for (let n = 0; n < 25; n++) await read(tenant, 200_000, keyed(`rest-${n}`));
  for (let n = 0; n < 25; n++) await read(tenant, 6000, keyed(`crumb-${n}`));
  const dry = () =>
    tenant.query("UPDATE b SET a = hex(randomblob(600))", undefined, {
      headers: { "x-dry-run": "1", "idempotency-key": "dry" },
    });
  assertEquals([(await dry()).status, replayed(await dry())], [200, [null, null]]);
  // What changes rows is stored with them, what is small has its own room, and others have a room of their own.
  const write = () =>
    tenant.query("INSERT INTO t SELECT hex(randomblob(?)) RETURNING a", [large / 2], keyed("write"));
  assertReplay(await write(), await write());
  assertReplay(await read(tenant, 100, keyed("small")), await read(tenant, 100, keyed("small")));
  assertReplay(await read(other, large, keyed("first")), await read(other, large, keyed("first")));
  clock.turn(26 * 3_600_000);
  assertReplay(await read(tenant, large, keyed("next-day")), await read(tenant, large, keyed("next-day")));
});

test("small answers are bounded by their number, in a room of their own: a reader's free steps do not fill the KV of all", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  const { kept } = smallLimits;
  smallLimits.kept = 6;
  try {
    const [tenant, other] = [await app.namespace(), await app.namespace("other")];
    const { token: reader } = await tenant.mint("read");
    const look = (name: string, token: string) =>
      app.request("GET", `${tenant.database.path}/tables`, { token, ...step("plan", name) });
    for (let n = 0; n < 5; n++) await look(`s${n}`, reader);
    assertReplay(await read(tenant, 100, keyed("sixth")), await read(tenant, 100, keyed("sixth")));
    for (const token of [reader, tenant.token]) {
      const [one, again] = [await look("late", token), await look("late", token)];
      assertEquals([one.status, again.status, replayed(again)], [200, 200, [null, null]]);
    }
    const late = [await read(tenant, 100, keyed("late")), await read(tenant, 100, keyed("late"))];
    assertEquals(late.map(({ status }) => status), [200, 200]);
    assertEquals(late[0]?.text === late[1]?.text, false);
    // What is larger has its bytes, and others have a room of their own.
    assertReplay(await read(tenant, 6000, keyed("larger")), await read(tenant, 6000, keyed("larger")));
    assertReplay(await read(other, 100, keyed("own")), await read(other, 100, keyed("own")));
    clock.turn(26 * 3_600_000);
    assertReplay(await read(tenant, 100, keyed("next-day")), await read(tenant, 100, keyed("next-day")));
  } finally {
    smallLimits.kept = kept;
  }
});
