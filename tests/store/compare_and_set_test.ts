import { assertEquals, assertRejects } from "@std/assert";
import { compareAndSet } from "../../lib/store/until_committed.ts";
import { keys } from "../../lib/store/keys.ts";

Deno.test("compareAndSet() loses no change of many at once", async () => {
  const kv = await Deno.openKv(":memory:");
  try {
    const key = keys.leftover("db_x");
    await kv.set(key, { kind: "database", sinceMs: 0 });
    const change = (record: { kind: "database" | "namespace"; sinceMs: number }) => ({
      ...record,
      sinceMs: record.sinceMs + 1,
    });
    await Promise.all(Array.from({ length: 20 }, () => compareAndSet(kv, { key, change })));
    assertEquals((await kv.get<{ sinceMs: number }>(key)).value?.sinceMs, 20);
  } finally {
    kv.close();
  }
});

Deno.test("compareAndSet() gives null where there is no record and makes none", async () => {
  const kv = await Deno.openKv(":memory:");
  try {
    const key = keys.operatorKeyHash();
    assertEquals(await compareAndSet(kv, { key, change: (value) => `${value}x` }), null);
    assertEquals((await kv.get(key)).versionstamp, null);
  } finally {
    kv.close();
  }
});

Deno.test("compareAndSet() writes nothing where nothing changes", async () => {
  const kv = await Deno.openKv(":memory:");
  try {
    const key = keys.leftover("db_x");
    const { versionstamp } = await kv.set(key, { kind: "database", sinceMs: 0 });
    assertEquals(await compareAndSet(kv, { key, change: (record) => record }), {
      kind: "database",
      sinceMs: 0,
    });
    assertEquals((await kv.get(key)).versionstamp, versionstamp);
  } finally {
    kv.close();
  }
});

Deno.test("compareAndSet() passes on what the change throws and changes nothing", async () => {
  const kv = await Deno.openKv(":memory:");
  try {
    const key = keys.operatorKeyHash();
    await kv.set(key, "a");
    const change = () => {
      throw new RangeError("no");
    };
    await assertRejects(() => compareAndSet(kv, { key, change }), /^RangeError: no$/);
    assertEquals((await kv.get(key)).value, "a");
  } finally {
    kv.close();
  }
});
