import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { pause } from "../../lib/core/pause.ts";
import { AppError } from "../../lib/core/errors.ts";
import { keys } from "../../lib/store/keys.ts";
import { kvCall, kvCommit, kvGet, kvPage } from "../../lib/store/kv_call.ts";

async function withKv(body: (kv: Deno.Kv) => Promise<void>): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  try {
    await body(kv);
  } finally {
    kv.close();
  }
}

/** The code that a call fails with. */
async function codeOf(call: () => Promise<unknown>, deadlineMs = 1000): Promise<string> {
  return await kvCall(call, { deadlineMs }).then(
    () => "none",
    (error) => error instanceof AppError ? error.code : error.name,
  );
}

Deno.test("kvCall() makes meter_unreachable of silence and of what a lost store says", async () => {
  assertEquals(await codeOf(() => new Promise(() => {}), 20), "meter_unreachable");
  for (
    const error of [
      new Error("disk I/O error"),
      new TypeError("connection reset"),
      new Deno.errors.BadResource("x"),
    ]
  ) {
    assertEquals(await codeOf(() => Promise.reject(error)), "meter_unreachable", error.message);
  }
});

Deno.test("kvCall() names the way out where a part of the file is damaged, which no other try mends", async () => {
  const path = await Deno.makeTempFile({ prefix: "cubby_damaged_" });
  try {
    const written = await Deno.openKv(path);
    for (let at = 0; at < 200; at++) await written.set(["x", at], "x".repeat(2000));
    written.close();
    // All pages but the first, which has the engine's own facts of the file, and those of the schema.
    using file = await Deno.open(path, { write: true });
    const { size } = await file.stat();
    await file.seek(Math.ceil(size / 2), Deno.SeekMode.Start);
    await file.write(new Uint8Array(size / 4).fill(0xab));
    const kv = await Deno.openKv(path);
    const listed = kvCall(() => Array.fromAsync(kv.list({ prefix: ["x"] })));
    const said = await listed.then(() => "listed", (error) => `${error.code}: ${error.message}`);
    assertMatch(said, /^meter_unreachable: Have the operator restore .* backup; .* damaged/);
    kv.close();
  } finally {
    for (const end of ["", "-wal", "-shm"]) await Deno.remove(path + end).catch(() => {});
  }
});

Deno.test("kvCall() leaves mistakes of our own and failures of the table as they are", async () => {
  await withKv(async (kv) => {
    assertEquals(await codeOf(() => kv.set(keys.operatorKeyHash(), "x".repeat(100_000))), "TypeError");
  });
  assertEquals(await codeOf(() => Promise.reject(new RangeError("x"))), "RangeError");
  assertEquals(await codeOf(() => Promise.reject(new AppError("slug_taken"))), "slug_taken");
});

Deno.test("kvCall() tries a locked file again until its deadline", async () => {
  let calls = 0;
  const locked = () => ++calls < 3 ? Promise.reject(new Error("database is locked")) : Promise.resolve("x");
  assertEquals(await kvCall(locked), "x");
  assertEquals(calls, 3);
  calls = -1_000_000;
  assertEquals(await codeOf(locked, 200), "meter_unreachable");
  const atDeadline = calls;
  await pause(100);
  assertEquals([calls > -1_000_000 + 3, calls <= atDeadline + 1], [true, true]);
});

Deno.test("a KV that is closed is meter_unreachable, for reads, lists and commits", async () => {
  const kv = await Deno.openKv(":memory:");
  kv.close();
  const calls = [
    () => kvGet(kv, keys.operatorKeyHash()),
    () => kvPage(kv, { prefix: keys.namespaces(), after: null, limit: 1 }),
    () => kvCommit(kv.atomic().delete(keys.operatorKeyHash())),
  ];
  for (const call of calls) {
    const code = await call().then(
      () => "none",
      (error) => error instanceof AppError ? error.code : `${error}`,
    );
    assertEquals(code, "meter_unreachable");
  }
});

Deno.test("a commit that was not confirmed says that it may have been made", async () => {
  const kv = await Deno.openKv(":memory:");
  kv.close();
  await assertRejects(
    () => kvCommit(kv.atomic().delete(keys.operatorKeyHash())),
    /Look whether the change was made/,
  );
});

Deno.test("kvCommit() is false when a check fails", async () => {
  await withKv(async (kv) => {
    const key = keys.operatorKeyHash();
    const unset = await kvGet(kv, key);
    assertEquals(await kvCommit(kv.atomic().check(unset).set(key, "a")), true);
    assertEquals(await kvCommit(kv.atomic().check(unset).set(key, "b")), false);
    assertEquals((await kvGet(kv, key)).value, "a");
  });
});

Deno.test("kvPage() goes on behind a key, also behind one that is gone", async () => {
  await withKv(async (kv) => {
    for (const id of ["a", "b", "ba", "c"]) await kv.set(keys.leftover(id), { kind: "database", sinceMs: 0 });
    const page = async (after: string | null) =>
      (await kvPage(kv, { prefix: keys.leftovers(), after, limit: 2 })).map(({ key }) => key.at(-1));
    assertEquals(await page(null), ["a", "b"]);
    assertEquals(await page("b"), ["ba", "c"]);
    await kv.delete(keys.leftover("b"));
    assertEquals(await page("b"), ["ba", "c"]);
    assertEquals(await page("c"), []);
  });
});
