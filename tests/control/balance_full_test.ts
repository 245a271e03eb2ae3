// What a meter does when KV can be read and has no room: reads go on within a bound, and their price is booked later.
import { assertEquals } from "@std/assert";
import { LEASE_MS, TRUSTED_MS, TRUSTED_NANO_USD } from "../../lib/control/balance/balance_limits.ts";
import { LoginFailures } from "../../lib/control/login_failures.ts";
import type { Meter } from "../../lib/control/balance/meter.ts";
import { RateCounters } from "../../lib/control/rate_counters.ts";
import { DOLLAR, NS, refusalOf, spend, usage, World } from "./balance_world.ts";

async function read(meter: Meter, costNanoUsd: number): Promise<void> {
  meter.settle(await meter.admit(NS, true), usage(costNanoUsd));
}

Deno.test("where KV is full reads outlast the block, writes are refused, and all of it is booked when there is room", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    const meter = world.meter();
    await spend(meter, 500);
    world.fault = "full";
    for (let second = 0; second < 3 * LEASE_MS / 1000; second++) {
      await read(meter, 700);
      world.clock.pass(1000);
      await meter.tick();
    }
    assertEquals(await refusalOf(meter.admit(NS)), "storage_full");
    await read(meter, 700);
    world.fault = "none";
    await meter.tick();
    await spend(meter, 500);
    await meter.tick();
    const { usedNanoUsd, writtenOffNanoUsd } = await world.checkSums();
    assertEquals([usedNanoUsd, writtenOffNanoUsd], [1000 + 700 * (3 * LEASE_MS / 1000 + 1), 0]);
  });
});

Deno.test("a process that starts with a full KV lets reads in and spends no more than the balance", async () => {
  await World.run(1_000_000, async (world) => {
    world.fault = "full";
    const meter = world.meter();
    for (let call = 0; call < 10; call++) await read(meter, 100_000);
    assertEquals(await refusalOf(meter.admit(NS, true)), "storage_full");
    world.fault = "none";
    world.clock.pass(TRUSTED_MS);
    await meter.tick();
    assertEquals((await world.checkSums()).writtenOffNanoUsd, 0);
  });
});

Deno.test("reads that cannot be booked end at the bound of what is owed", async () => {
  await World.run(50 * DOLLAR, async (world) => {
    world.fault = "full";
    const meter = world.meter();
    await read(meter, TRUSTED_NANO_USD / 4);
    const running = await Promise.all([1, 2, 3].map(() => meter.admit(NS, true)));
    assertEquals(await refusalOf(meter.admit(NS, true)), "storage_full", "each may cost as much");
    for (const one of running) meter.release(one);
    for (let call = 0; call < 3; call++) await read(meter, TRUSTED_NANO_USD / 4);
    assertEquals(await refusalOf(meter.admit(NS, true)), "storage_full");
  });
});

Deno.test("a write waits with reads for a full KV, and is refused where they go on; reads go on as long as the balance was read", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    world.fault = "full";
    const meter = world.meter();
    const calls = [meter.admit(NS), meter.admit(NS, true), meter.admit(NS)];
    assertEquals(await Promise.all(calls.map(refusalOf)), ["storage_full", "admitted", "storage_full"]);
    meter.release(await calls[1] ?? await Promise.reject(new Error("it was let in")));
    world.fault = "down";
    world.clock.pass(TRUSTED_MS - 1);
    await read(meter, 500);
    world.clock.pass(1);
    assertEquals(await refusalOf(meter.admit(NS, true)), "meter_unreachable");
  });
});

Deno.test("reads that cannot be booked end at the monthly cap", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    await world.ledger.setMonthlyCap(NS, 400_000);
    world.fault = "full";
    const meter = world.meter();
    for (let call = 0; call < 4; call++) await read(meter, 100_000);
    assertEquals(await refusalOf(meter.admit(NS, true)), "storage_full");
  });
});

Deno.test("a KV that does not answer lets nothing in, reads neither", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    world.fault = "down";
    assertEquals(await refusalOf(world.meter().admit(NS, true)), "meter_unreachable");
  });
});

Deno.test("where KV is full a rate limit admits no more than it says, and goes on from there afterwards", async () => {
  await World.run(DOLLAR, async (world) => {
    const counters = new RateCounters(world.kv, world.clock);
    const subject = { databaseId: "db_a", slug: "list", client: "c" };
    const windows = (nowMs: number) => [{ name: "minute", id: "m1", limit: 20, endsAtMs: nowMs + 60_000 }];
    let admitted = 0;
    const call = async () => {
      if ((await counters.take(subject, windows)).admitted) admitted++;
    };
    for (let before = 0; before < 5; before++) await call();
    world.fault = "full";
    for (let full = 0; full < 10; full++) await call();
    world.fault = "none";
    for (let after = 0; after < 30; after++) await call();
    assertEquals(admitted, 20);
  });
});

Deno.test("where KV is full the tenth failed log-in still locks the account", async () => {
  await World.run(DOLLAR, async (world) => {
    const failures = new LoginFailures(world.kv, world.clock);
    for (let guess = 0; guess < 4; guess++) assertEquals(await failures.add("db_a", [{ account: "ann" }]), 0);
    world.fault = "full";
    for (let guess = 4; guess < 10; guess++) {
      assertEquals(await failures.add("db_a", [{ account: "ann" }]), 0);
    }
    assertEquals(await failures.lockedSec("db_a", [{ account: "ann" }]), 3600);
    assertEquals(await failures.lockedSec("db_a", [{ account: "bob" }]), 0);
    world.fault = "none";
    assertEquals(await failures.lockedSec("db_a", [{ account: "ann" }]), 3600);
    // Its owner has come in by another way, from an address that only this process counts.
    world.fault = "full";
    const from = [{ account: "ann", client: "there" }];
    for (let guess = 0; guess < 10; guess++) await failures.add("db_b", from);
    world.fault = "none";
    assertEquals(await failures.lockedSec("db_b", from), 3600);
    await failures.forget("db_b", ["ann"]);
    assertEquals(await failures.lockedSec("db_b", from), 0);
    world.clock.pass(3_600_000);
    assertEquals(await failures.lockedSec("db_a", [{ account: "ann" }]), 0);
  });
});

Deno.test("failures that were counted without KV while the clock was a month ahead refuse no log-in once it is put back", async () => {
  await World.run(DOLLAR, async (world) => {
    const failures = new LoginFailures(world.kv, world.clock);
    const monthMs = 30 * 86_400_000;
    world.clock.wallMs += monthMs;
    world.fault = "full";
    for (let round = 0; round < 100; round++) {
      await failures.add("db_a", Array.from({ length: 100 }, (_, nth) => ({ account: `${round}.${nth}` })));
    }
    const ann = [{ account: "ann" }];
    assertEquals(await refusalOf(failures.lockedSec("db_a", ann)), "storage_full");
    world.clock.wallMs -= monthMs;
    assertEquals(await failures.lockedSec("db_a", ann), 0);
    assertEquals(await failures.add("db_a", ann), 0);
  });
});
