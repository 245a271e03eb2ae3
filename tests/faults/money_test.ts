// Eight processes spend from one namespace on one KV file, some are killed: money neither appears nor disappears.
import { assert, assertEquals } from "@std/assert";
import { FIRST_GUESS_NANO_USD } from "../../lib/control/balance/balance_limits.ts";
import { openAccount } from "../../lib/control/balance/change_account.ts";
import { Ledger } from "../../lib/control/balance/ledger.ts";
import { Meter } from "../../lib/control/balance/meter.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { keys } from "../../lib/store/keys.ts";
import { kvCall } from "../../lib/store/kv_call.ts";
import type { BalanceRecord, BlockRecord } from "../../lib/store/money_records.ts";
import { pause } from "../../lib/core/pause.ts";
import { startPermissions } from "../testing/start_permissions.ts";

const NS = "ns_money";
const PROCESSES = 8;
const LEASE_MS = 2_000;
const CREDIT_NANO_USD = 40_000_000;
/** What every process takes for granted before it has seen a call: no call here is dearer. */
const DEAREST_NANO_USD = FIRST_GUESS_NANO_USD;

/** One process and the total that it printed last. */
class Spender {
  spent = 0;
  readonly #process: Deno.ChildProcess;
  readonly #reading: Promise<void>;

  constructor(path: string) {
    const script = new URL("./money_process.ts", import.meta.url).pathname;
    this.#process = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        ...startPermissions(),
        "--no-check",
        script,
        path,
        NS,
        String(LEASE_MS),
        String(DEAREST_NANO_USD),
      ],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    this.#reading = this.#read();
  }

  async #read(): Promise<void> {
    let rest = "";
    for await (const text of this.#process.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.spent = Number(line);
    }
  }

  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#process.stdin.abort().catch(() => {});
    await Promise.all([this.#process.status, this.#reading]);
  }

  async stop(): Promise<void> {
    await this.#process.stdin.close();
    const [{ code }] = await Promise.all([this.#process.status, this.#reading]);
    assertEquals(code, 0);
  }
}

interface Sight {
  readonly balance: BalanceRecord;
  readonly blocks: readonly BlockRecord[];
}

/** The balance and the blocks of one moment: nothing moved between two looks at the balance. */
async function look(kv: Deno.Kv): Promise<Sight | null> {
  const before = await kvCall(() => kv.get<BalanceRecord>(keys.balance(NS)));
  const entries = await kvCall(() =>
    Array.fromAsync(kv.list<BlockRecord>({ prefix: keys.balanceBlocksOf(NS) }))
  );
  const after = await kvCall(() => kv.get<BalanceRecord>(keys.balance(NS)));
  if (after.versionstamp === null) throw new Error("the balance is gone");
  checkEquation(after.value);
  if (before.versionstamp !== after.versionstamp) return null;
  return { balance: after.value, blocks: entries.map((entry) => entry.value) };
}

function checkEquation(balance: BalanceRecord): void {
  const { creditedNanoUsd, balanceNanoUsd, reservedNanoUsd, usedNanoUsd, writtenOffNanoUsd } = balance;
  assertEquals(creditedNanoUsd, balanceNanoUsd + reservedNanoUsd + usedNanoUsd);
  for (const amount of [balanceNanoUsd, reservedNanoUsd, usedNanoUsd, writtenOffNanoUsd]) assert(amount >= 0);
}

/** How often the balance is looked at between two kills, at least: a busy machine takes its time for it. */
const LOOKS_A_KILL = 8;

Deno.test("eight processes on one KV, kills included, spend no more than was there and all reserved money comes back", async () => {
  const directory = await Deno.makeTempDir();
  const path = `${directory}/control.kv`;
  const kv = await Deno.openKv(path);
  const ledger = new Ledger(kv, systemClock);
  const account = { namespaceId: NS, creditNanoUsd: CREDIT_NANO_USD, nowMs: systemClock.now() };
  await openAccount(kv.atomic(), account).commit();
  const spenders = Array.from({ length: PROCESSES }, () => new Spender(path));
  let looks = 0;
  let watching = true;
  const watcher = (async () => {
    while (watching) {
      const sight = await look(kv);
      if (sight !== null) {
        const reserved = sight.blocks.reduce((sum, block) => sum + block.amountNanoUsd, 0);
        assertEquals(sight.balance.reservedNanoUsd, reserved);
        looks++;
      }
      await pause(2);
    }
  })();
  watcher.catch(() => watching = false);

  let dead = 0;
  let kills = 0;
  let lostNanoUsd = 0;
  try {
    await pause(1500);
    for (; kills < 14; kills++) {
      await pause(100 + Math.random() * 400);
      while (watching && looks < LOOKS_A_KILL * (kills + 1)) await pause(2);
      const at = Math.floor(Math.random() * PROCESSES);
      const victim = spenders[at];
      assert(victim !== undefined);
      await victim.kill();
      dead += victim.spent;
      // What it spent and nobody paid: at most its block, which is still there, and the statement that ended it.
      const blocks = await kvCall(() =>
        Array.fromAsync(kv.list<BlockRecord>({ prefix: keys.balanceBlocksOf(NS) }))
      );
      lostNanoUsd += Math.max(...blocks.map(({ value }) => value.amountNanoUsd)) + DEAREST_NANO_USD;
      spenders[at] = new Spender(path);
      if (kills === 9) await ledger.credit(NS, { amountNanoUsd: CREDIT_NANO_USD, reference: "more" });
    }
    await pause(1000);
    await Promise.all(spenders.map((spender) => spender.stop()));
    const meter = new Meter(kv, systemClock, { leaseMs: LEASE_MS });
    for (let waited = 0; waited < 2 * LEASE_MS; waited += 250) {
      await meter.sweepBlocks();
      if ((await ledger.balance(NS))?.reservedNanoUsd === 0) break;
      await pause(250);
    }
    watching = false;
    await watcher;

    const balance = await ledger.balance(NS);
    assert(balance !== null);
    checkEquation(balance);
    assertEquals([balance.reservedNanoUsd, balance.creditedNanoUsd], [0, 2 * CREDIT_NANO_USD]);
    const used = balance.usedNanoUsd + balance.writtenOffNanoUsd;
    const range = { fromMs: 0, toMs: systemClock.now() + 3_600_000, by: "day" } as const;
    const { byTime } = await ledger.usageSums(NS, range, null);
    assertEquals(byTime.values().reduce((sum, day) => sum + day.costNanoUsd, 0), used);
    // One statement a process whenever the money ran out; a kill lets it run out once more.
    const overrun = DEAREST_NANO_USD * PROCESSES * (kills + 2);
    assert(balance.writtenOffNanoUsd <= overrun, `${balance.writtenOffNanoUsd} written off`);
    const spent = spenders.reduce((sum, spender) => sum + spender.spent, dead);
    assert(spent <= balance.creditedNanoUsd + overrun + lostNanoUsd, `${spent} spent`);
    assert(used <= spent + kills * 50 * DEAREST_NANO_USD * 6, `${used} paid for ${spent}`);
  } finally {
    watching = false;
    await watcher.catch(() => {});
    await Promise.all(spenders.map((spender) => spender.kill().catch(() => {})));
    kv.close();
    await Deno.remove(directory, { recursive: true });
  }
});
