// Credits, caps, usage and the end of an account, as the control plane sees them.
import { assertEquals, assertRejects } from "@std/assert";
import { changeAccount, inMonth, openAccount } from "../../lib/control/balance/change_account.ts";
import { newId } from "../../lib/core/ids.ts";
import { DOLLAR, NS, refusalOf, spend, World } from "./balance_world.ts";

Deno.test("one of 50 concurrent credits with the same reference counts", async () => {
  await World.run(0, async (world) => {
    const outcomes = await Promise.all(
      Array.from(
        { length: 50 },
        () => world.ledger.credit(NS, { amountNanoUsd: DOLLAR, reference: "inv-1" }),
      ),
    );
    assertEquals(outcomes.filter((outcome) => outcome.isNew).length, 1);
    assertEquals(new Set(outcomes.map((outcome) => outcome.credit.createdAt)).size, 1);
    assertEquals((await world.checkSums()).balanceNanoUsd, DOLLAR);
  });
});

Deno.test("50 concurrent credits with different references all count", async () => {
  await World.run(0, async (world) => {
    await Promise.all(
      Array.from(
        { length: 50 },
        (_, n) => world.ledger.credit(NS, { amountNanoUsd: 1 + n, reference: `r${n}` }),
      ),
    );
    assertEquals((await world.checkSums()).creditedNanoUsd, 50 * 51 / 2);
  });
});

Deno.test("credit() refuses another amount under the same reference, too large a sum and an unknown namespace", async () => {
  await World.run(DOLLAR, async (world) => {
    await world.ledger.credit(NS, { amountNanoUsd: 5, reference: "a" });
    await assertRejects(
      () => world.ledger.credit(NS, { amountNanoUsd: 6, reference: "a" }),
      /Validation failed/,
    );
    await assertRejects(
      () => world.ledger.credit(NS, { amountNanoUsd: Number.MAX_SAFE_INTEGER, reference: "b" }),
      /Validation failed/,
    );
    await assertRejects(
      () => world.ledger.credit("ns_none", { amountNanoUsd: 1, reference: "a" }),
      /no such namespace/,
    );
    for (const amountNanoUsd of [0.5, 0, -1]) {
      await assertRejects(() => world.ledger.credit(NS, { amountNanoUsd, reference: "c" }), /amountNanoUsd/);
    }
    for (const reference of ["", "c".repeat(201)]) {
      await assertRejects(() => world.ledger.credit(NS, { amountNanoUsd: 1, reference }), /reference/);
    }
    assertEquals(
      (await world.ledger.credit(NS, { amountNanoUsd: 1, reference: "😀".repeat(200) })).isNew,
      true,
    );
    assertEquals((await world.checkSums()).creditedNanoUsd, DOLLAR + 6);
  });
});

Deno.test("a credit that nobody confirmed counts once when it is repeated", async () => {
  await World.run(0, async (world) => {
    world.fault = "unconfirmed";
    await assertRejects(() => world.ledger.credit(NS, { amountNanoUsd: 7, reference: "a" }));
    world.fault = "none";
    assertEquals((await world.ledger.credit(NS, { amountNanoUsd: 7, reference: "a" })).isNew, false);
    assertEquals((await world.checkSums()).creditedNanoUsd, 7);
  });
});

Deno.test("openAccount() makes an account once and the welcome credit counts once", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    const open = async (namespaceId: string, creditNanoUsd: number) => {
      const account = { namespaceId, creditNanoUsd, nowMs: world.clock.now() };
      return (await openAccount(world.kv.atomic(), account).commit()).ok;
    };
    assertEquals(await open(NS, 5 * DOLLAR), false);
    assertEquals(await open("ns_two", 0), true);
    assertEquals((await world.ledger.balance("ns_two"))?.creditedNanoUsd, 0);
    assertEquals(await world.ledger.balance("ns_none"), null);
    assertEquals(await refusalOf(world.meter().admit("ns_two")), "balance_exhausted");
    assertEquals(await refusalOf(world.meter().admit("ns_none")), "namespace_not_found");
    assertEquals((await world.checkSums()).creditedNanoUsd, 5 * DOLLAR);
  });
});

Deno.test("a monthly cap stops calls with its own code, blocks stay under it, and the next month is free", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    const meter = world.meter();
    await world.ledger.setMonthlyCap(NS, 100_000);
    for (let n = 0; n < 10; n++) await spend(meter, 10_000);
    assertEquals(await refusalOf(meter.admit(NS)), "monthly_cap_reached");
    assertEquals((await world.checkSums()).monthUsedNanoUsd, 100_000);
    await world.ledger.setMonthlyCap(NS, 110_000);
    await spend(meter, 10_000);
    assertEquals(await refusalOf(meter.admit(NS)), "monthly_cap_reached");
    world.clock.pass(15 * 86_400_000);
    assertEquals((await world.ledger.balance(NS))?.monthUsedNanoUsd, 0);
    await spend(meter, 10_000);
    world.clock.wallMs -= 3_600_000 * 24 * 20;
    await meter.tick();
    const record = await world.checkSums();
    assertEquals([record.month, record.monthUsedNanoUsd, record.usedNanoUsd], ["2026-12", 10_000, 120_000]);
  });
});

Deno.test("a cap that is lowered under what is reserved has taken the blocks back once it is answered", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    const meter = world.meter();
    await spend(meter, 10_000);
    await world.ledger.setMonthlyCap(NS, 5_000);
    assertEquals(await refusalOf(meter.admit(NS)), "monthly_cap_reached");
    assertEquals((await world.checkSums()).reservedNanoUsd, 0);
  });
});

Deno.test("usage is kept by database and hour, and sums to what was paid", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    const meter = world.meter();
    const startMs = world.clock.now();
    for (let hour = 0; hour < 30; hour++) {
      for (let n = 0; n < 12; n++) await spend(meter, 1000 + hour, `db_${n}`);
      await meter.tick();
      world.clock.pass(3_600_000);
    }
    const usage = async (hours: number, by: "hour" | "day") => {
      const range = { fromMs: startMs, toMs: startMs + hours * 3_600_000, by };
      return (await world.ledger.usage(NS, range, { cursor: null, pageSize: null })).rows;
    };
    const hours = await usage(2, "hour");
    assertEquals(hours.length, 24);
    assertEquals(hours[0], {
      startMs,
      databaseId: "db_0",
      requests: 1,
      rowsRead: 3,
      rowsWritten: 1,
      costNanoUsd: 1000,
    });
    const days = await usage(30, "day");
    assertEquals(days.length, 24);
    assertEquals([days[0]?.requests, days[12]?.requests], [12, 18]);
    await world.checkSums();
  });
});

Deno.test("nothing of a deleted namespace's money stays or comes back", async () => {
  await World.run(5 * DOLLAR, async (world) => {
    const meter = world.meter();
    await spend(meter, 500);
    await meter.tick();
    await spend(meter, 500);
    await world.ledger.remove(NS);
    await meter.tick();
    assertEquals(await refusalOf(meter.admit(NS)), "namespace_not_found");
    await meter.sweepBlocks();
    await meter.close();
    assertEquals(await Array.fromAsync(world.store.list({ prefix: [] })), []);
  });
});

Deno.test("no change of an account goes below nothing, or leaves it with parts of a nano-dollar", async () => {
  await World.run(DOLLAR, async (world) => {
    for (const moved of [DOLLAR + 1, 0.5]) {
      const take = changeAccount(world.kv, NS, (balance) => {
        const { balanceNanoUsd, usedNanoUsd } = balance;
        const next = { balanceNanoUsd: balanceNanoUsd - moved, usedNanoUsd: usedNanoUsd + moved };
        return { next: { ...balance, ...next }, outcome: null };
      });
      await assertRejects(() => take, /does not add up/);
    }
    assertEquals((await world.checkSums()).balanceNanoUsd, DOLLAR);
  });
});

Deno.test("a month that a clock far ahead has begun is this one again, but not by a clock from before the namespace", async () => {
  await World.run(DOLLAR, async (world) => {
    const made = newId("ns", Date.UTC(2026, 10, 20));
    const at = async (month: string, nowMs: number) => {
      const { month: now, monthUsedNanoUsd } = inMonth(
        { ...await world.money(), month, monthUsedNanoUsd: 7 },
        made,
        nowMs,
      );
      return [now, monthUsedNanoUsd];
    };
    const newYearsEve = Date.UTC(2026, 11, 31, 23);
    assertEquals(await at("2026-12", newYearsEve), ["2026-12", 7]);
    // Another process is an hour ahead.
    assertEquals(await at("2027-01", newYearsEve), ["2027-01", 7]);
    assertEquals(await at("2027-03", newYearsEve), ["2026-12", 7]);
    assertEquals(await at("2026-11", newYearsEve), ["2026-12", 0]);
    assertEquals(await at("2026-11", Date.UTC(2026, 5, 1)), ["2026-11", 7]);
  });
});
