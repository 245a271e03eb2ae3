// Ends of end users' sessions by processes whose clocks differ, and by many log-outs.
import { assertEquals } from "@std/assert";
import { SessionEnds } from "../../lib/control/session_ends.ts";
import { controlWorld } from "../testing/control_world.ts";

const owner = { databaseId: "db_a", table: "users", userId: "1" };

Deno.test("all sessions of a user end by whichever process ends them, also one whose clock is behind", async () => {
  using world = await controlWorld();
  const nowMs = world.clock.now();
  const at = (ms: number) => new SessionEnds(world.kv, { now: () => ms, monotonicMs: () => ms });
  const [ahead, behind] = [at(nowMs + 60_000), at(nowMs)];
  for (const process of [ahead, behind, behind]) {
    const stand = { sessionId: "of then", epochMs: await process.epochMs(owner) };
    assertEquals(await at(nowMs).hasEnded(owner, stand), false);
    await process.endAll(owner);
    assertEquals(await at(nowMs).hasEnded(owner, stand), true);
  }
});

Deno.test("log-outs of sessions that have expired meanwhile end no others, however many they are", async () => {
  using world = await controlWorld();
  const { kv, clock } = world;
  let nowMs = clock.now();
  const ends = new SessionEnds(kv, { now: () => nowMs, monotonicMs: () => nowMs });
  const epochMs = await ends.epochMs(owner);
  for (let day = 0; day < 3; day++) {
    for (let n = 0; n < 100; n++) await ends.end(owner, { sessionId: `${day} ${n}`, untilMs: nowMs + 1000 });
    nowMs += 1000;
  }
  assertEquals(await ends.hasEnded(owner, { sessionId: "another", epochMs }), false);
});

Deno.test("an end counts for no user whose table and key read the same", async () => {
  using world = await controlWorld();
  const ends = new SessionEnds(world.kv, world.clock);
  const other = { databaseId: "db_a", table: "users 1", userId: "" };
  const ended = { databaseId: "db_a", table: "users", userId: "1 " };
  const stand = { sessionId: "one", epochMs: await ends.epochMs(other) };
  await ends.endAll(ended);
  assertEquals(await ends.hasEnded(ended, stand), true);
  assertEquals(await ends.hasEnded(other, stand), false);
});
