// Calls against a prepaid balance: admission, refilling, giving back, running out.
import { assert, assertEquals } from "@std/assert";
import { pause } from "../../lib/core/pause.ts";
import {
  IDLE_MS,
  LEASE_MS,
  MIN_BLOCK_NANO_USD,
  REFUSED_MS,
} from "../../lib/control/balance/balance_limits.ts";
import { Ledger } from "../../lib/control/balance/ledger.ts";
import type { Meter } from "../../lib/control/balance/meter.ts";
import { planBlock } from "../../lib/control/balance/plan_block.ts";
import type { Admission } from "../../lib/control/balance/spending_account.ts";
import { keys } from "../../lib/store/keys.ts";
import type { BlockRecord } from "../../lib/store/money_records.ts";
import { DOLLAR, NS, refusalOf, spend, turns, usage, World } from "./balance_world.ts";

Deno.test("admit() answers at once and writes nothing while the block has money", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    const meter = world.meter();
    await spend(meter, 500);
    const { commits, reads } = world;
    for (let n = 0; n < 300; n++) {
      const admission = meter.admit(NS);
      assert(!(admission instanceof Promise));
      meter.settle(admission, usage(500));
    }
    assertEquals([world.commits, world.reads], [commits, reads]);
    await meter.tick();
    const record = await world.checkSums();
    assertEquals(record.usedNanoUsd, 301 * 500);
    assert(record.reservedNanoUsd >= MIN_BLOCK_NANO_USD);
  });
});

Deno.test("what thousands of databases spend is booked within five seconds, each in its own usage, also at the close", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    const meter = world.meter();
    await secondOver(world, meter, { databases: 2500, costNanoUsd: 500 });
    for (let ticks = 0; ticks < 4; ticks++) {
      world.clock.pass(1000);
      await meter.tick();
    }
    assertEquals((await world.checkSums()).usedNanoUsd, 2500 * 500);
    const booked = await Array.fromAsync(world.store.list({ prefix: keys.usageOf(NS) }));
    assertEquals(booked.length, 2500);
    await secondOver(world, meter, { databases: 1700, costNanoUsd: 500 });
    await meter.close();
    assertEquals((await world.checkSums()).usedNanoUsd, 4200 * 500);
  });
});

Deno.test("of a thousand busy databases a fifth is booked each second, none later than after five, and the block holds the rest", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    const meter = world.meter();
    const second = { databases: 1000, costNanoUsd: 50_000 };
    const secondNanoUsd = second.databases * second.costNanoUsd;
    let spentNanoUsd = 0;
    for (let at = 0; at < 12; at++) {
      const { commits } = world;
      await secondOver(world, meter, second);
      spentNanoUsd += secondNanoUsd;
      const { usedNanoUsd, reservedNanoUsd } = await world.checkSums();
      if (at > 5) assert(world.commits - commits <= 2, `${world.commits - commits} commits`);
      assert(usedNanoUsd >= spentNanoUsd - 5 * secondNanoUsd, `${usedNanoUsd} booked of ${spentNanoUsd}`);
      const left = reservedNanoUsd - (spentNanoUsd - usedNanoUsd);
      assert(left >= 2 * secondNanoUsd, `${left} left in the block`);
    }
    // Nobody calls any more: all is booked, and only then the block goes back.
    const covered: boolean[] = [];
    const beforeCommit = async () => {
      const { usedNanoUsd, reservedNanoUsd } = await world.money();
      covered.push(reservedNanoUsd >= spentNanoUsd - usedNanoUsd);
      world.beforeCommit = beforeCommit;
    };
    world.beforeCommit = beforeCommit;
    world.clock.pass(IDLE_MS);
    for (let ticks = 0; ticks < 2; ticks++) await meter.tick();
    const record = await world.checkSums();
    assertEquals([record.usedNanoUsd, record.reservedNanoUsd], [spentNanoUsd, 0]);
    assert(covered.length > 1 && !covered.includes(false));
  });
});

Deno.test("calls of many databases do not wait where the block is too small for what is booked later", async () => {
  await World.run(100_000_000, async (world) => {
    const meter = world.meter();
    let waited = 0;
    for (let second = 0; second < 10; second++) {
      waited += await secondOver(world, meter, { databases: 1000, costNanoUsd: 5000 });
    }
    assertEquals(waited, 1);
  });
});

Deno.test("with little money left what many databases spend is booked at once, to the end of the balance", async () => {
  await World.run(900_000, async (world) => {
    const meters = [world.meter(), world.meter()];
    let served = 0;
    for (const meter of meters) {
      for (let n = 0, refusal = "admitted"; refusal === "admitted"; n++) {
        refusal = await refusalOf(spend(meter, 300, `db_${n % 700}`));
        if (refusal === "admitted") served++;
        else assertEquals(refusal, "balance_exhausted");
      }
      await meter.tick();
    }
    const record = await world.checkSums();
    assertEquals([record.balanceNanoUsd, record.reservedNanoUsd, record.usedNanoUsd], [0, 0, 900_000]);
    assertEquals([served, record.writtenOffNanoUsd], [3000, 0]);
  });
});

Deno.test("a block is refilled before it is empty and grows with the spending", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    const meter = world.meter();
    await spend(meter, 500);
    let waited = 0;
    for (let n = 0; n < 4000; n++) {
      const admission = meter.admit(NS);
      if (admission instanceof Promise) waited++;
      meter.settle(await admission, usage(2500));
      if (n % 4 === 0) world.clock.pass(1);
      if (n % 50 === 0) await world.settled();
      if (n % 1000 === 999) await meter.tick();
    }
    assertEquals(waited, 0);
    await meter.tick();
    // 10 million a second, for three seconds.
    assert((await world.checkSums()).reservedNanoUsd >= 25_000_000);
    assert(world.commits < 60, `${world.commits} commits`);
  });
});

Deno.test("a block takes at most an eighth of what is free", () => {
  const record = {
    balanceNanoUsd: 1000 * 1000 * 8,
    reservedNanoUsd: 0,
    usedNanoUsd: 0,
    creditedNanoUsd: 8_000_000,
    writtenOffNanoUsd: 0,
    monthlyCapNanoUsd: null,
    month: "2026-11",
    monthUsedNanoUsd: 0,
  };
  const plan = planBlock(record, { heldNanoUsd: 0, spentNanoUsd: 0, wantNanoUsd: 5_000_000 });
  assertEquals(plan.amountNanoUsd, 1_000_000);
  const little = planBlock({ ...record, balanceNanoUsd: 60_000, creditedNanoUsd: 60_000 }, {
    heldNanoUsd: 0,
    spentNanoUsd: 0,
    wantNanoUsd: 5_000_000,
  });
  assertEquals([little.amountNanoUsd, little.end], [50_000, null]);
});

Deno.test("a block goes back after five idle seconds, and at once at a clean stop", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    const meter = world.meter();
    await spend(meter, 700);
    world.clock.pass(IDLE_MS);
    await meter.tick();
    assertEquals((await world.checkSums()).balanceNanoUsd, 5 * DOLLAR - 700);
    // Closed, it is nothing that others look after.
    const blocks = await Array.fromAsync(world.store.list<BlockRecord>({ prefix: keys.balanceBlocks() }));
    assertEquals(blocks.map(({ value }) => value.closed), [true]);
    await spend(meter, 700);
    assert((await world.money()).reservedNanoUsd > 0);
    await meter.close();
    const record = await world.checkSums();
    assertEquals([record.reservedNanoUsd, record.usedNanoUsd], [0, 1400]);
    assertEquals(await refusalOf(meter.admit(NS)), "shutting_down");
  });
});

Deno.test("nothing is spent from a block while it is given back", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    const meter = world.meter();
    await spend(meter, 700);
    world.clock.pass(IDLE_MS);
    let admission: Admission | Promise<Admission> | null = null;
    // The answer comes when a new block is there, so the commit must not wait for it.
    world.beforeCommit = () => {
      admission = meter.admit(NS);
      return Promise.resolve();
    };
    await meter.tick();
    assert(admission !== null);
    assert(Object(admission) instanceof Promise);
    meter.settle(await admission, usage(700));
    await meter.tick();
    assertEquals((await world.checkSums()).usedNanoUsd, 1400);
  });
});

Deno.test("a block that its last call leaves while it is renewed goes back with the next look", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    const meter = world.meter();
    const long = await meter.admit(NS);
    world.clock.pass(LEASE_MS / 2);
    world.beforeCommit = () => Promise.resolve(meter.release(long));
    await meter.tick();
    assert((await world.checkSums()).reservedNanoUsd > 0);
    await meter.tick();
    assertEquals((await world.checkSums()).reservedNanoUsd, 0);
  });
});

Deno.test("what a long call costs is booked too where it ends while the last of the money is", async () => {
  await World.run(20_000, async (world) => {
    const meter = world.meter();
    const [long, other] = [await meter.admit(NS), await meter.admit(NS)];
    world.clock.pass(IDLE_MS);
    world.beforeCommit = () => Promise.resolve(meter.settle(long, usage(500)));
    meter.settle(other, usage(20_000));
    await meter.tick();
    await meter.tick();
    const { usedNanoUsd, writtenOffNanoUsd } = await world.checkSums();
    assertEquals([usedNanoUsd, writtenOffNanoUsd], [20_000, 500]);
  });
});

Deno.test("a statement dearer than what is left finishes, the balance stops at zero and the rest is written off", async () => {
  await World.run(10_000, async (world) => {
    const meter = world.meter();
    await spend(meter, 50_000);
    assertEquals(await refusalOf(meter.admit(NS)), "balance_exhausted");
    const record = await world.checkSums();
    assertEquals(
      [record.balanceNanoUsd, record.reservedNanoUsd, record.usedNanoUsd, record.writtenOffNanoUsd],
      [0, 0, 10_000, 40_000],
    );
  });
});

Deno.test("with little money left the calls of one process run one at a time, in their order", async () => {
  await World.run(19_000, async (world) => {
    const meter = world.meter();
    let running = 0;
    let most = 0;
    const order: number[] = [];
    const call = async (n: number) => {
      const admission = await meter.admit(NS);
      most = Math.max(most, ++running);
      order.push(n);
      await turns();
      running--;
      meter.settle(admission, usage(9000));
    };
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, (_, n) => call(n)));
    assertEquals(most, 1);
    const served = outcomes.filter((outcome) => outcome.status === "fulfilled").length;
    assertEquals([served, order], [3, [0, 1, 2]]);
    await meter.tick();
    assertEquals((await world.checkSums()).writtenOffNanoUsd, 8000);
  });
});

Deno.test("calls side by side never run up more than the dearest known call of each process", async () => {
  for (let round = 0; round < 20; round++) {
    const credit = 200_000 + Math.floor(Math.random() * 300_000);
    await World.run(credit, async (world) => {
      const meters = [world.meter(), world.meter(), world.meter()];
      const call = async (meter: Meter) => {
        const admission = await meter.admit(NS);
        await pause(Math.random() * 3);
        meter.settle(admission, usage(500 + Math.floor(Math.random() * 9500)));
      };
      const calls = meters.flatMap((meter) => Array.from({ length: 80 }, () => call(meter)));
      await Promise.allSettled(calls);
      await Promise.all(meters.map((meter) => meter.tick()));
      const record = await world.checkSums();
      assert(record.writtenOffNanoUsd <= 30_000, `${record.writtenOffNanoUsd} written off`);
    });
  }
});

Deno.test("a broke namespace reads KV at most five times a second and writes nothing", async () => {
  await World.run(500, async (world) => {
    const meter = world.meter();
    await spend(meter, 500);
    await refusalOf(meter.admit(NS));
    const { commits, reads } = world;
    let refused = 0;
    for (let ms = 0; ms < 1000; ms += 10) {
      world.clock.pass(10);
      if (await refusalOf(meter.admit(NS)) === "balance_exhausted") refused++;
    }
    await meter.tick();
    assertEquals([refused, world.commits], [100, commits]);
    assert(world.reads - reads <= 3 * 1000 / REFUSED_MS, `${world.reads - reads} reads`);
  });
});

Deno.test("a credit made in this process takes effect at once", async () => {
  await World.run(500, async (world) => {
    const meter = world.meter();
    await spend(meter, 500);
    for (let round = 0; round < 5; round++) {
      assertEquals(await refusalOf(meter.admit(NS)), "balance_exhausted");
      const racing = refusalOf(meter.admit(NS));
      await world.ledger.credit(NS, { amountNanoUsd: 600, reference: `r${round}` });
      await spend(meter, 600);
      await racing;
    }
    await meter.tick();
    assertEquals((await world.checkSums()).usedNanoUsd, 3500);
  });
});

Deno.test("a credit made here counts for a call that waits for an older look at KV", async () => {
  await World.run(500, async (world) => {
    const meter = world.meter();
    await spend(meter, 500);
    assertEquals(await refusalOf(meter.admit(NS)), "balance_exhausted");
    world.clock.pass(REFUSED_MS);
    world.beforeBlockRead = () => world.ledger.credit(NS, { amountNanoUsd: DOLLAR, reference: "r" });
    assertEquals(await refusalOf(meter.admit(NS)), "admitted");
  });
});

Deno.test("a credit made elsewhere takes effect when KV is asked again", async () => {
  await World.run(500, async (world) => {
    const meter = world.meter();
    await spend(meter, 500);
    assertEquals(await refusalOf(meter.admit(NS)), "balance_exhausted");
    await new Ledger(world.kv, world.clock).credit(NS, { amountNanoUsd: DOLLAR, reference: "r" });
    world.clock.pass(REFUSED_MS);
    await spend(meter, 500);
  });
});

Deno.test("release() costs nothing, and a call ends once", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    const meter = world.meter();
    const admission = await meter.admit(NS);
    meter.settle(admission, usage(500));
    meter.settle(admission, usage(500));
    meter.release(admission);
    meter.release(await meter.admit(NS));
    await meter.close();
    assertEquals((await world.checkSums()).usedNanoUsd, 500);
  });
});

Deno.test("a call that waited ten seconds for its turn is refused with 429", async () => {
  await World.run(10_000, async (world) => {
    const meter = world.meter();
    // Whoever ends a call twice gives no leave to another one.
    const ended = await meter.admit(NS);
    meter.settle(ended, usage(500));
    meter.release(ended);
    const admission = await meter.admit(NS);
    const waiting = refusalOf(meter.admit(NS));
    await turns();
    world.clock.pass(10_001);
    await meter.tick();
    assertEquals(await waiting, "meter_unreachable");
    meter.settle(admission, usage(500));
  });
});

/** One call of each of so many databases within a second, and the tick after it. Returns how many waited. */
async function secondOver(
  world: World,
  meter: Meter,
  { databases, costNanoUsd }: { readonly databases: number; readonly costNanoUsd: number },
): Promise<number> {
  let waited = 0;
  for (let n = 0; n < databases; n++) {
    const admission = meter.admit(NS);
    if (admission instanceof Promise) waited++;
    meter.settle(await admission, usage(costNanoUsd, `db_${n}`));
    world.clock.pass(1000 / databases);
    if (n % 200 === 0) await world.settled();
  }
  await meter.tick();
  return waited;
}
