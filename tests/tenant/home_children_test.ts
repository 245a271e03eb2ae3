// How databases are spread over engine children: more of them than one child holds open get another child.
import { assert, assertEquals } from "@std/assert";
import { pause } from "../../lib/core/pause.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { silentLog } from "../../lib/core/log.ts";
import { configFromEnvironment } from "../../lib/config.ts";
import { createLocalStore } from "../../lib/tenant/local/create_local_store.ts";
import { HomeChildren, roomBytesOf } from "../../lib/tenant/local/pool/home_children.ts";
import { freeProgressFile } from "../../lib/tenant/local/pool/progress_files.ts";
import { engineChildren } from "../testing/engine_children.ts";
import { withLocalStore } from "../testing/local_store.ts";
import { Tenant } from "../contracts/tenant_store.ts";

/** Room for 64 files of 128 KiB in each child. */
const KEEP_BYTES = 8 * 1024 * 1024;
const DATABASES = 80;
const ENDLESS_WRITE =
  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) INSERT INTO t SELECT sum(i) FROM n";

Deno.test("databases beyond what one engine child holds open get a second child, and all of them answer", async () => {
  const dataDirectory = await Deno.makeTempDir({ prefix: "cubby_homes_" });
  const store = await createLocalStore({
    ...{ dataDirectory, queryTimeoutMs: 20_000, logDays: 30, snapshotDays: 7, clock: systemClock },
    ...{ log: silentLog, engineEnvironment: configFromEnvironment().engineEnvironment },
    ...{ keepBytes: KEEP_BYTES },
  });
  try {
    const tenants: Tenant[] = [];
    for (let at = 0; at < DATABASES; at++) tenants.push(await Tenant.create(store));
    const askAll = async () => {
      const answers = await Promise.all(tenants.map((tenant, at) => tenant.rows("SELECT ?", [at])));
      assertEquals(answers, tenants.map((_, at) => [[at]]));
    };
    const children = async () => (await engineChildren(dataDirectory)).length;
    await askAll();
    // On a busy machine some may have been forgotten meanwhile. Elsewhere than on Linux nobody can count children.
    for (let round = 0; round < 10 && await children() < 2; round++) await askAll();
    if (Deno.build.os === "linux") assert(await children() > 1);
    await askAll();
  } finally {
    await store.close();
    await Deno.remove(dataDirectory, { recursive: true });
  }
});

Deno.test("a child that has not loaded its program yet gets no work while another one serves", () => {
  const slot = (number: number, serves: boolean, homes: number) => ({
    ...{ number, homes, flight: null as unknown, toClose: [], leaving: false, lowered: false },
    child: { serves },
  });
  const [full, starting] = [slot(1, true, 1000), slot(2, false, 0)];
  const pool = {
    slots: [full, starting],
    shares: { mayGrow: false, holdsTooMany: () => false },
    addChild: () => null,
  };
  const homes = new HomeChildren(pool as never, KEEP_BYTES);
  const next = () => homes.slotFor({ namespaceId: "ns" } as never, 0, true) as unknown;
  assertEquals(next() === full, true);
  full.flight = { work: { kind: "write" }, startedMs: 0 };
  assertEquals(next(), null);
  starting.child.serves = true;
  assertEquals(next() === starting, true);
  // Where none serves, what comes waits in the one that starts.
  [full.child.serves, starting.child.serves] = [false, false];
  assertEquals(next() === starting, true);
});

Deno.test("what finds all children at work runs as soon as one more serves, and waits for none of theirs", async () => {
  await withLocalStore(async (store) => {
    const [busy, other] = [await Tenant.create(store, ["CREATE TABLE t (v)"]), await Tenant.create(store)];
    const gone = new AbortController();
    let wrote = false;
    const writing = busy.run("write", [[ENDLESS_WRITE]], { signal: () => gone.signal })
      .catch(() => {}).finally(() => wrote = true);
    await pause(50);
    assertEquals(await other.rows("SELECT 1"), [[1]]);
    assert(!wrote, "the read waited for the write that never ends");
    // It ends when its caller has left.
    gone.abort();
    await writing;
    assertEquals(await busy.rows("SELECT v FROM t"), []);
  }, { queryTimeoutMs: 120_000 });
});

Deno.test("all children together keep no more open than they may, and nearly all of that is in those that are started for it", async () => {
  const folder = await Deno.makeTempDir({ prefix: "cubby_homes_" });
  const first = freeProgressFile(folder, []).number;
  await Deno.remove(folder, { recursive: true });
  const pool = { slots: [], addChild: () => null } as never;
  for (const bytes of [128, 288, 1000].map((mb) => mb * 1024 * 1024)) {
    for (const maxChildren of [3, 5, 8, 16]) {
      const homes = new HomeChildren(pool, roomBytesOf(bytes, maxChildren));
      const each = Array.from({ length: maxChildren }, (_, at) => homes.keepBytesOf(first + at));
      const sum = each.reduce((all, one) => all + one, 0);
      assert(sum <= bytes && sum > bytes - maxChildren, `${maxChildren} children: ${sum} of ${bytes}`);
      assertEquals(each.toSorted((a, b) => b - a), each);
    }
  }
});
