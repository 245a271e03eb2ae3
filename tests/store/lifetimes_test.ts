import { assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { MINUTE_MS } from "../../lib/core/clock.ts";
import { pause } from "../../lib/core/pause.ts";
import { keys } from "../../lib/store/keys.ts";
import { sweepLifetimes, withLifetimes } from "../../lib/store/lifetimes.ts";
import { callApi } from "../testing/call_api.ts";
import { startService } from "../testing/start_service.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";

async function withKv(body: (kv: Deno.Kv, clock: TurnableClock) => Promise<void>): Promise<void> {
  const clock = new TurnableClock();
  const kv = withLifetimes(await Deno.openKv(":memory:"), clock);
  try {
    await body(kv, clock);
  } finally {
    kv.close();
  }
}

/** Keys of everything that is there, notes of lifetimes included. */
async function left(kv: Deno.Kv): Promise<string[]> {
  return (await Array.fromAsync(kv.list({ prefix: [] }))).map(({ key }) => key.join(" "));
}

Deno.test("sweepLifetimes() removes what is over, with what said so, and nothing before", async () => {
  await withKv(async (kv, clock) => {
    await kv.set(["short"], 1, { expireIn: 1000 });
    await kv.atomic().set(["long"], 2, { expireIn: 60 * MINUTE_MS }).set(["for ever"], 3).commit();
    await sweepLifetimes(kv, clock.now());
    assertEquals((await kv.get(["short"])).value, 1);
    clock.turn(2 * MINUTE_MS);
    await sweepLifetimes(kv, clock.now());
    assertEquals((await kv.getMany([["short"], ["long"], ["for ever"]])).map(({ value }) => value), [
      null,
      2,
      3,
    ]);
    clock.turn(60 * MINUTE_MS);
    await sweepLifetimes(kv, clock.now());
    assertEquals(await left(kv), ["for ever"]);
  });
});

Deno.test("sweepLifetimes() keeps a record that was written again, for its new lifetime or for ever", async () => {
  await withKv(async (kv, clock) => {
    for (const key of ["longer", "for ever", "removed"]) await kv.set([key], 1, { expireIn: 1000 });
    await kv.atomic().set(["longer"], 2, { expireIn: 10 * MINUTE_MS }).set(["for ever"], 2).delete([
      "removed",
    ]).commit();
    clock.turn(2 * MINUTE_MS);
    await sweepLifetimes(kv, clock.now());
    assertEquals((await kv.getMany([["longer"], ["for ever"], ["removed"]])).map(({ value }) => value), [
      2,
      2,
      null,
    ]);
    clock.turn(10 * MINUTE_MS);
    await sweepLifetimes(kv, clock.now());
    assertEquals(await left(kv), ["for ever"]);
  });
});

Deno.test("sweepLifetimes() removes more than one commit's worth", async () => {
  await withKv(async (kv, clock) => {
    const pieces = Array.from({ length: 35 }, (_, at) => keys.commitReceipt(String(at)));
    for (const key of pieces) await kv.set(key, true, { expireIn: 1 });
    clock.turn(2 * MINUTE_MS);
    await sweepLifetimes(kv, clock.now());
    assertEquals(await left(kv), []);
  });
});

Deno.test("Deno's own collector, which ends the process on a full disk, has nothing to collect in KV's file", async () => {
  const folder = await Deno.makeTempDir({ prefix: "cubby_lifetimes_" });
  try {
    const service = await startService({ folder, settings: { DEMO: "1" } });
    const app = { request: (path: string, init: RequestInit) => fetch(service.url + path, init) };
    try {
      const token = /cub_live_\w+/.exec(await untilPrinted(service.output))?.[0] ?? "";
      const calls: [method: string, path: string, body?: unknown, headers?: Record<string, string>][] = [
        ["GET", "/readyz"],
        ["GET", "/p/demo/demo/list-products"],
        ["POST", "/v1/db/demo/demo/handoff", { role: "read", ttlSec: 60 }],
        ["POST", "/v1/db/demo/demo/propose", { sql: "UPDATE products SET price_cents = 1" }],
        ["POST", "/v1/db/demo/demo/query", { sql: "SELECT 1" }, { "Idempotency-Key": "a" }],
        ["GET", "/v1/db/demo/demo/tables", undefined, { "Plan-Key": "a", "Plan-Step": "b" }],
        ["POST", "/api/namespaces/demo/tokens", { name: "short", role: "read", expiresInSec: 60 }],
      ];
      for (const [method, path, body, headers = {}] of calls) {
        const answer = await callApi(app, method, path, {
          token,
          headers,
          ...(body === undefined ? {} : { body }),
        });
        assertEquals(answer.status < 300, true, `${path} ${answer.text}`);
      }
    } finally {
      await service.stop();
    }
    using file = new DatabaseSync(`${folder}/kv.sqlite3`, { readOnly: true });
    const { ours, theirs } = file.prepare(
      "SELECT count(*) AS ours, count(nullif(expiration_ms, -1)) AS theirs FROM kv",
    ).get() ?? {};
    assertEquals({ some: Number(ours) > 0, theirs }, { some: true, theirs: 0 });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** The greeting comes a moment after the address. */
async function untilPrinted(output: () => string): Promise<string> {
  for (let look = 0; look < 200 && !output().includes("curl"); look++) {
    await pause(50);
  }
  return output();
}
