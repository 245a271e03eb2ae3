// One namespace's money over one KV in memory, with clocks that tests turn and a KV that fails when they say so.
import { assert, assertEquals } from "@std/assert";
import { pause } from "../../lib/core/pause.ts";
import { openAccount } from "../../lib/control/balance/change_account.ts";
import { Ledger } from "../../lib/control/balance/ledger.ts";
import { Meter } from "../../lib/control/balance/meter.ts";
import type { CallUsage } from "../../lib/control/balance/database_usage.ts";
import type { Admission } from "../../lib/control/balance/spending_account.ts";
import type { Clock } from "../../lib/core/clock.ts";
import { AppError } from "../../lib/core/errors.ts";
import { keys } from "../../lib/store/keys.ts";
import type { BalanceRecord } from "../../lib/store/money_records.ts";

export const NS = "ns_test";
export const DOLLAR = 1_000_000_000;

/** Noon of a day in the middle of a month, in both clocks' hands. */
export class TestClock implements Clock {
  wallMs = Date.UTC(2026, 10, 20, 12);
  monoMs = 1_000_000;
  now = () => this.wallMs;
  monotonicMs = () => this.monoMs;
  pass(ms: number): void {
    this.wallMs += ms;
    this.monoMs += ms;
  }
}

/** What the KV does instead of working: fail before a commit, or only after it was made; `full`: it can be read alone. */
type Fault = "none" | "down" | "full" | "unconfirmed" | "late";

export class World {
  fault: Fault = "none";
  /** Commits that `late` held back. */
  readonly held: (() => Promise<unknown>)[] = [];
  /** Runs once, before the next commit goes to the store. */
  beforeCommit: (() => Promise<unknown>) | null = null;
  /** Runs once, before the next read of a block. */
  beforeBlockRead: (() => Promise<unknown>) | null = null;
  commits = 0;
  reads = 0;
  /** What the meters have asked the store and it has not answered yet. */
  #asked = 0;
  readonly clock = new TestClock();
  readonly kv: Deno.Kv;
  readonly meters: Meter[] = [];
  readonly ledger: Ledger;

  private constructor(readonly store: Deno.Kv) {
    this.kv = this.#faulty();
    const recheck = async (id: string) =>
      void await Promise.all(this.meters.map((meter) => meter.recheck(id)));
    this.ledger = new Ledger(this.kv, this.clock, recheck);
  }

  static async run(creditNanoUsd: number, body: (world: World) => Promise<void>): Promise<void> {
    const store = await Deno.openKv(":memory:");
    const world = new World(store);
    try {
      await openAccount(store.atomic(), { namespaceId: NS, creditNanoUsd, nowMs: world.clock.now() })
        .commit();
      await body(world);
      world.fault = "none";
      for (const meter of world.meters) await meter.close();
      if (await world.record() !== null) await world.checkSums();
    } finally {
      store.close();
    }
  }

  meter(): Meter {
    const meter = new Meter(this.kv, this.clock);
    this.meters.push(meter);
    return meter;
  }

  /** A process that stops without a word. */
  lost(): Meter {
    return new Meter(this.kv, this.clock);
  }

  async record(): Promise<BalanceRecord | null> {
    return (await this.store.get<BalanceRecord>(keys.balance(NS))).value;
  }

  async money(): Promise<BalanceRecord> {
    const record = await this.record();
    assert(record !== null);
    return record;
  }

  /** The equation, the blocks behind what is reserved, and the usage behind what was paid. */
  async checkSums(): Promise<BalanceRecord> {
    const record = await this.money();
    assertEquals(
      record.creditedNanoUsd,
      record.balanceNanoUsd + record.reservedNanoUsd + record.usedNanoUsd,
    );
    let reserved = 0;
    for await (
      const { value } of this.store.list<{ amountNanoUsd: number }>({ prefix: keys.balanceBlocks() })
    ) {
      reserved += value.amountNanoUsd;
    }
    assertEquals(record.reservedNanoUsd, reserved);
    const range = { fromMs: 0, toMs: this.clock.now() + 86_400_000 * 365, by: "day" } as const;
    const { byDatabase } = await this.ledger.usageSums(NS, range, null);
    assertEquals(
      byDatabase.values().reduce((sum, used) => sum + used.costNanoUsd, 0),
      record.usedNanoUsd + record.writtenOffNanoUsd,
    );
    return record;
  }

  /** Resolves when the store has answered everything, and nothing more is asked for some turns of the loop. */
  async settled(): Promise<void> {
    for (let quiet = 0; quiet < 5; quiet = this.#asked === 0 ? quiet + 1 : 0) {
      await pause(1);
    }
  }

  #counted<T>(answer: Promise<T>): Promise<T> {
    this.#asked++;
    return answer.finally(() => this.#asked--);
  }

  #faulty(): Deno.Kv {
    const fail = () => Promise.reject(new Error("the store is away"));
    const atomicOf = (atomic: Deno.AtomicOperation): Deno.AtomicOperation => {
      const proxy: Deno.AtomicOperation = new Proxy(atomic, {
        get: (target, name) => (...input: unknown[]) => {
          const call = Reflect.get(target, name);
          if (name !== "commit") {
            Reflect.apply(call, target, input);
            return proxy;
          }
          this.commits++;
          if (this.fault === "down") return fail();
          // As Deno KV says it of a file on a full disk.
          if (this.fault === "full") return Promise.reject(new TypeError("database or disk is full"));
          if (this.fault === "unconfirmed") return target.commit().then(fail);
          if (this.fault === "late") {
            this.held.push(() => target.commit());
            return fail();
          }
          const before = this.beforeCommit;
          this.beforeCommit = null;
          return this.#counted(before === null ? target.commit() : before().then(() => target.commit()));
        },
      });
      return proxy;
    };
    return new Proxy(this.store, {
      get: (target, name) => (...input: unknown[]) => {
        if (name === "atomic") return atomicOf(target.atomic());
        this.reads++;
        if (this.fault === "down") return fail();
        const read = () => Reflect.apply(Reflect.get(target, name), target, input);
        const before = this.beforeBlockRead;
        const [key] = input;
        if (before === null || name !== "get" || !Array.isArray(key) || key[0] !== keys.balanceBlocks()[0]) {
          const answer = read();
          return answer instanceof Promise ? this.#counted(answer) : answer;
        }
        this.beforeBlockRead = null;
        return before().then(read);
      },
    });
  }
}

export const usage = (costNanoUsd: number, databaseId = "db_a"): CallUsage => ({
  databaseId,
  requests: 1,
  rowsRead: 3,
  rowsWritten: 1,
  costNanoUsd,
});

export async function spend(meter: Meter, costNanoUsd: number, databaseId?: string): Promise<void> {
  meter.settle(await meter.admit(NS), usage(costNanoUsd, databaseId));
}

/** The code of a refusal, by an admission or a whole call. */
export async function refusalOf(call: Admission | Promise<unknown>): Promise<string> {
  try {
    await call;
    return "admitted";
  } catch (error) {
    return error instanceof AppError ? error.code : String(error);
  }
}

/** Lets what has been started come to its end: memory KV needs a few turns of the loop. */
export const turns = (): Promise<void> => pause(20);
