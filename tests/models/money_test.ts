// Random calls, credits, stops and crashes of processes that share a balance, beside sums: no nano-dollar comes or goes.
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { LEASE_MS } from "../../lib/control/balance/balance_limits.ts";
import type { Meter } from "../../lib/control/balance/meter.ts";
import { costNanoUsd } from "../../lib/query/prices.ts";
import { NS, refusalOf, usage, World } from "../control/balance_world.ts";
import { holds } from "./model_run.ts";

const PROCESSES = 3;

type Step =
  | { readonly do: "calls"; readonly at: number; readonly costs: readonly number[] }
  | { readonly do: "credit"; readonly amount: number; readonly reference: string }
  | { readonly do: "tick" | "stop" | "crash"; readonly at: number }
  | { readonly do: "pass"; readonly ms: number }
  | { readonly do: "store"; readonly fault: "none" | "down" | "unconfirmed" };

const at = fc.nat(PROCESSES - 1);
const costs = fc.tuple(fc.nat(5000), fc.nat(3000)).map(([read, written]) => costNanoUsd(read, written));
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant("calls" as const),
        at,
        costs: fc.array(costs, { minLength: 1, maxLength: 8 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constantFrom("tick" as const, "stop" as const, "crash" as const), at }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant("credit" as const),
        amount: fc.integer({ min: 1, max: 20_000_000 }),
        reference: fc.constantFrom("a", "b", "c"),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant("pass" as const),
        ms: fc.constantFrom(1, 300, 6000, LEASE_MS + 1000),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant("store" as const),
        fault: fc.constantFrom("none" as const, "down" as const, "unconfirmed" as const),
      }),
    },
  ),
  { minLength: 1, maxLength: 20 },
);

interface Process {
  readonly meter: Meter;
  /** Nano-dollars of calls since it last surely paid. */
  unpaid: number;
}

Deno.test("what was credited is balance, reserved and used, and what calls cost is used or written off", async () => {
  await holds(fc.tuple(fc.integer({ min: 0, max: 30_000_000 }), steps), 100, async ([opening, some]) => {
    await World.run(opening, async (world) => {
      const begin = (): Process => ({ meter: world.lost(), unpaid: 0 });
      const processes = Array.from({ length: PROCESSES }, begin);
      const credits = new Map<string, number>();
      let spent = 0;
      let lost = 0;
      for (const step of some) {
        await take(step);
        await checked();
      }
      world.fault = "none";
      for (const { meter } of processes) await meter.close();
      const sweeper = world.lost();
      for (let round = 0; round < 3; round++) {
        world.clock.pass(LEASE_MS + 1000);
        await sweeper.sweepBlocks();
      }
      await sweeper.close();
      await world.checkSums();
      const { reservedNanoUsd, usedNanoUsd, writtenOffNanoUsd } = await checked();
      assertEquals(reservedNanoUsd, 0);
      const booked = usedNanoUsd + writtenOffNanoUsd;
      assert(booked <= spent && booked >= spent - lost, `${booked} of ${spent}, at most ${lost} lost`);

      async function checked() {
        const record = await world.money();
        const { creditedNanoUsd, balanceNanoUsd, reservedNanoUsd, usedNanoUsd } = record;
        assertEquals(creditedNanoUsd, balanceNanoUsd + reservedNanoUsd + usedNanoUsd);
        const credited = [...credits.values()].reduce((sum, one) => sum + one, opening);
        assertEquals(record.creditedNanoUsd, credited);
        assert(record.balanceNanoUsd >= 0 && record.usedNanoUsd <= credited);
        return record;
      }

      async function take(step: Step): Promise<void> {
        switch (step.do) {
          case "calls":
            await Promise.all(step.costs.map((cost) => call(processes[step.at], cost)));
            return;
          case "credit":
            return await credit(step);
          case "pass":
            world.clock.pass(step.ms);
            return;
          case "store":
            world.fault = step.fault;
            return;
          default:
            return await end(step);
        }
      }

      async function call(process: Process | undefined, cost: number): Promise<void> {
        assert(process !== undefined);
        const admission = process.meter.admit(NS);
        const refusal = await refusalOf(admission);
        if (refusal !== "admitted") {
          assert(["balance_exhausted", "meter_unreachable"].includes(refusal), refusal);
          return;
        }
        process.meter.settle(await admission, usage(cost));
        spent += cost;
        process.unpaid += cost;
      }

      /** The same reference counts once, with its first amount; an answer that was lost is asked for again. */
      async function credit({ amount, reference }: { readonly amount: number; readonly reference: string }) {
        const { fault } = world;
        world.fault = "none";
        const amountNanoUsd = credits.get(reference) ?? amount;
        const { isNew } = await world.ledger.credit(NS, { amountNanoUsd, reference });
        assertEquals(isNew, !credits.has(reference));
        credits.set(reference, amountNanoUsd);
        for (const { meter } of processes) meter.recheck(NS);
        world.fault = fault;
      }

      async function end({ do: how, at }: { readonly do: "tick" | "stop" | "crash"; readonly at: number }) {
        const process = processes[at];
        assert(process !== undefined);
        if (how === "tick") {
          await process.meter.tick();
          if (world.fault === "none") process.unpaid = 0;
          return;
        }
        // What cannot be paid at a stop is lost as at a crash.
        if (how === "stop") await process.meter.close();
        if (how === "crash" || world.fault !== "none") lost += process.unpaid;
        processes[at] = begin();
      }
    });
  });
});
