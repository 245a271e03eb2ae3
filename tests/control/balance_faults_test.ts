// What a meter does when processes die, clocks jump, and KV fails or does not say what it did.
import { assert, assertEquals } from "@std/assert";
import { IDLE_MS, LEASE_MS, REFUSED_MS } from "../../lib/control/balance/balance_limits.ts";
import { Meter } from "../../lib/control/balance/meter.ts";
import { keys } from "../../lib/store/keys.ts";
import { DOLLAR, NS, refusalOf, spend, usage, World } from "./balance_world.ts";

Deno.test("a sweep leaves a block whose owner renewed it in the same moment", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    const [meter, sweeper] = [world.meter(), world.meter()];
    const admission = await meter.admit(NS);
    await sweeper.sweepBlocks();
    world.clock.pass(LEASE_MS + 1);
    world.beforeBlockRead = () => meter.tick();
    await sweeper.sweepBlocks();
    assert((await world.checkSums()).reservedNanoUsd > 0);
    meter.release(admission);
  });
});

Deno.test("a block that a long call keeps in use is renewed, not given back", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    const [meter, other] = [world.meter(), world.meter()];
    const admission = await meter.admit(NS);
    for (let second = 0; second < 3 * LEASE_MS / 1000; second++) {
      world.clock.pass(1000);
      await meter.tick();
      if (second % 10 === 0) await other.sweepBlocks();
    }
    assert((await world.checkSums()).reservedNanoUsd > 0);
    meter.settle(admission, usage(500));
    assert(!(meter.admit(NS) instanceof Promise));
  });
});

Deno.test("the block of a dead process is back within a minute, and only once", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    await spend(world.lost(), 500);
    const sweepers = [world.meter(), world.meter(), world.meter()];
    for (let second = 0; second < 60; second += 10) {
      world.clock.pass(10_000);
      await Promise.all(sweepers.map((meter) => meter.sweepBlocks()));
    }
    const record = await world.checkSums();
    assertEquals([record.reservedNanoUsd, record.balanceNanoUsd], [0, 5 * DOLLAR]);
    // What came back is left alone from then on.
    const { commits } = world;
    for (let sweeps = 0; sweeps < 2; sweeps++) {
      world.clock.pass(LEASE_MS);
      for (const meter of sweepers) await meter.sweepBlocks();
    }
    assertEquals(world.commits, commits);
  });
});

Deno.test("the block of a dead process comes back although the clock jumped back an hour", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    await spend(world.lost(), 500);
    const sweeper = world.meter();
    await sweeper.sweepBlocks();
    world.clock.wallMs -= 3_600_000;
    for (let second = 0; second < 50; second += 10) {
      world.clock.pass(10_000);
      await sweeper.sweepBlocks();
    }
    assertEquals((await world.checkSums()).reservedNanoUsd, 0);
  });
});

Deno.test("a clock that jumps forward an hour takes no block from a live process", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    const [meter, sweeper] = [world.meter(), world.meter()];
    const admission = await meter.admit(NS);
    await sweeper.sweepBlocks();
    world.clock.wallMs += 3_600_000;
    for (let second = 0; second < 60; second += 10) {
      await sweeper.sweepBlocks();
      assert((await world.checkSums()).reservedNanoUsd > 0);
      world.clock.pass(10_000);
      await meter.tick();
    }
    assert((await world.checkSums()).reservedNanoUsd > 0);
    assert(!(meter.admit(NS) instanceof Promise));
    meter.release(admission);
  });
});

for (const aheadMs of [35_000, 3_600_000, -3_600_000]) {
  Deno.test(`a process whose clock is ${aheadMs / 1000} s ahead of the owner's takes no block that is in use, and that of the dead`, async () => {
    await World.run(5 * DOLLAR, async (world) => {
      const other = { now: () => world.clock.now() + aheadMs, monotonicMs: () => world.clock.monotonicMs() };
      const [meter, sweeper] = [world.meter(), new Meter(world.kv, other)];
      const admission = await meter.admit(NS);
      for (let second = 1; second <= 120; second++) {
        world.clock.pass(1000);
        await meter.tick();
        if (second % 10 !== 9) continue;
        await sweeper.sweepBlocks();
        assert((await world.checkSums()).reservedNanoUsd > 0, `taken after ${second} s`);
      }
      // From here on it is dead.
      for (let second = 10; second <= 50; second += 10) {
        world.clock.pass(10_000);
        await sweeper.sweepBlocks();
      }
      assertEquals((await world.checkSums()).reservedNanoUsd, 0);
      meter.release(admission);
    });
  });
}

Deno.test("a process that is alone gives back at once what the one before it held", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    await spend(world.lost(), 500);
    world.clock.pass(LEASE_MS + 1);
    await new Meter(world.kv, world.clock, { isAlone: true }).sweepBlocks();
    assertEquals((await world.checkSums()).reservedNanoUsd, 0);
  });
});

Deno.test("a process that is alone takes no block by a clock that has jumped, and trusts it again a lease later", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    const meter = new Meter(world.kv, world.clock, { isAlone: true });
    world.meters.push(meter);
    const admission = await meter.admit(NS);
    await meter.sweepBlocks();
    world.clock.wallMs += LEASE_MS + 10_000;
    await meter.sweepBlocks();
    assert((await world.checkSums()).reservedNanoUsd > 0);
    meter.release(admission);
    await meter.close();
    world.clock.pass(LEASE_MS);
    const next = new Meter(world.kv, world.clock, { isAlone: true });
    for (const jumpMs of [-3000, 0]) {
      world.clock.wallMs += jumpMs;
      await next.sweepBlocks();
      await spend(world.lost(), 500);
      world.clock.pass(LEASE_MS + 1);
      await next.sweepBlocks();
      assertEquals((await world.checkSums()).reservedNanoUsd, 0);
    }
  });
});

Deno.test("the block of a namespace that was deleted meanwhile is forgotten, and keeps no other from coming back", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    await spend(world.lost(), 500);
    const blocks = () => Array.fromAsync(world.store.list({ prefix: keys.balanceBlocks() }));
    assertEquals((await blocks()).length, 1);
    await world.store.delete(keys.balance(NS));
    world.clock.pass(LEASE_MS + 1);
    await new Meter(world.kv, world.clock, { isAlone: true }).sweepBlocks();
    assertEquals(await blocks(), []);
  });
});

Deno.test("spending from a block that was swept is taken from the balance, and what is missing is written off", async () => {
  await World.run(3_000_000, async (world) => {
    const [meter, other] = [world.meter(), world.meter()];
    await spend(meter, 500);
    const admissions = await Promise.all([meter.admit(NS), meter.admit(NS)]);
    await meter.tick();
    await other.sweepBlocks();
    world.clock.pass(LEASE_MS + 1000);
    await other.sweepBlocks();
    assertEquals((await world.checkSums()).reservedNanoUsd, 0);
    for (const admission of admissions) meter.settle(admission, usage(2_000_000));
    await meter.tick();
    const record = await world.checkSums();
    assertEquals(
      [record.balanceNanoUsd, record.usedNanoUsd, record.writtenOffNanoUsd],
      [0, 3_000_000, 1_000_500],
    );
  });
});

Deno.test("without KV and without a block nothing runs: 429; with a block calls go on until its lease ends", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    const meter = world.meter();
    world.fault = "down";
    assertEquals(await refusalOf(meter.admit(NS)), "meter_unreachable");
    const { reads } = world;
    assertEquals(await refusalOf(meter.admit(NS)), "meter_unreachable");
    assertEquals(world.reads, reads);
    world.fault = "none";
    world.clock.pass(REFUSED_MS);
    await spend(meter, 500);
    world.fault = "down";
    let served = 0;
    for (let second = 0; second < 60; second++) {
      world.clock.pass(1000);
      await meter.tick();
      const admission = await Promise.resolve(meter.admit(NS)).catch((error) => {
        assertEquals(error.code, "meter_unreachable");
        return null;
      });
      if (admission === null) continue;
      served++;
      meter.settle(admission, usage(500));
    }
    assertEquals(served, LEASE_MS * 0.75 / 1000 - 1);
    world.fault = "none";
    await meter.tick();
    assertEquals((await world.checkSums()).usedNanoUsd, 500 + served * 500);
  });
});

Deno.test("what was spent is paid once although KV made the commit and did not say so", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    const meter = world.meter();
    await spend(meter, 500);
    let spent = 500;
    for (const fault of ["unconfirmed", "down", "unconfirmed", "unconfirmed", "none"] as const) {
      await spend(meter, 1000);
      spent += 1000;
      world.fault = fault;
      await meter.tick();
      world.fault = "none";
      await spend(meter, 100, "db_b");
      spent += 100;
    }
    await meter.tick();
    await meter.tick();
    assertEquals((await world.checkSums()).usedNanoUsd, spent);
    world.clock.pass(IDLE_MS);
    world.fault = "unconfirmed";
    await meter.tick();
    world.fault = "none";
    await meter.tick();
    const record = await world.checkSums();
    assertEquals([record.usedNanoUsd, record.reservedNanoUsd], [spent, 0]);
  });
});

Deno.test("a stop waits until what was spent behind a commit that failed is paid", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    const meter = world.meter();
    await spend(meter, 500);
    world.fault = "late";
    await meter.tick();
    world.fault = "none";
    await spend(meter, 100, "db_b");
    await meter.close();
    const { usedNanoUsd, reservedNanoUsd } = await world.money();
    assertEquals([usedNanoUsd, reservedNanoUsd], [600, 0]);
  });
});

Deno.test("a commit that arrives late, before or after the one that repeats it, is not paid twice", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    const meter = world.meter();
    await spend(meter, 500);
    await meter.tick();
    const arrive = async () => {
      for (const commit of world.held.splice(0)) await commit();
    };
    for (let round = 0; round < 6; round++) {
      await spend(meter, 1000);
      world.fault = "late";
      await meter.tick();
      world.fault = "none";
      await spend(meter, 1000);
      if (round % 2 === 1) world.beforeCommit = arrive;
      await meter.tick();
      await arrive();
      await meter.tick();
    }
    await meter.tick();
    assertEquals((await world.checkSums()).usedNanoUsd, 12_500);
  });
});

Deno.test("what was spent is paid once although the block was swept while KV did not answer its owner", async () => {
  for (const fault of ["unconfirmed", "down"] as const) {
    await World.run(5 * DOLLAR, async (world) => {
      const [meter, other] = [world.meter(), world.meter()];
      await spend(meter, 1000);
      world.fault = fault;
      await meter.tick();
      world.fault = "none";
      await other.sweepBlocks();
      world.clock.pass(LEASE_MS + 1);
      await other.sweepBlocks();
      await meter.tick();
      await spend(meter, 1000);
      await meter.tick();
      assertEquals((await world.checkSums()).usedNanoUsd, 2000);
    });
  }
});

Deno.test("a call that settles after the stop is still paid", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    const meter = world.meter();
    const admission = await meter.admit(NS);
    await meter.close();
    meter.settle(admission, usage(900));
    await world.settled();
    const record = await world.checkSums();
    assertEquals([record.reservedNanoUsd, record.usedNanoUsd], [0, 900]);
  });
});

Deno.test("no other process takes a block while its owner may spend from it, however long its last commit took", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    const [meter, sweeper] = [world.lost(), world.meter()];
    world.beforeCommit = () => Promise.resolve(world.clock.pass(LEASE_MS / 4));
    await spend(meter, 500);
    await sweeper.sweepBlocks();
    world.fault = "down";
    const calls: string[] = [];
    for (let tenth = 0; tenth < 9; tenth++) {
      calls.push(await refusalOf(meter.admit(NS)));
      world.clock.pass(LEASE_MS / 10);
    }
    world.fault = "none";
    await sweeper.sweepBlocks();
    // The lease counts from before the commit: a quarter of it had passed by then.
    assertEquals(calls.filter((call) => call === "admitted").length, 5);
    assertEquals((await world.checkSums()).reservedNanoUsd, 0);
  });
  await World.run(5 * DOLLAR, async (world) => {
    await spend(world.lost(), 500);
    const sweeper = world.meter();
    await sweeper.sweepBlocks();
    world.clock.pass(0.8 * LEASE_MS);
    await sweeper.sweepBlocks();
    assert((await world.checkSums()).reservedNanoUsd > 0);
  });
});

Deno.test("where KV does not answer it is not asked again by every call that settles", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    const meter = world.meter();
    await spend(meter, 500);
    const half = meter.reservedNanoUsd / 2;
    world.fault = "down";
    await spend(meter, half);
    await world.settled();
    const { reads } = world;
    for (let call = 0; call < 5; call++) {
      await spend(meter, 500);
      await world.settled();
    }
    assertEquals(world.reads, reads);
  });
});

Deno.test("a call that settles while the last one is being paid behind the stop is paid too", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    const meter = world.meter();
    const [one, other] = [await meter.admit(NS), await meter.admit(NS)];
    await meter.close();
    world.beforeCommit = () => Promise.resolve(meter.settle(other, usage(300)));
    meter.settle(one, usage(500));
    await world.settled();
    const { usedNanoUsd, reservedNanoUsd } = await world.checkSums();
    assertEquals([usedNanoUsd, reservedNanoUsd], [800, 0]);
  });
});
