// A process of its own that spends from one namespace until its input ends: <kv path> <namespace> <lease ms> <dearest>.
// It prints what it has spent so far, in nano-dollars, one total a line; the test may kill it at any moment.
import { Meter } from "../../lib/control/balance/meter.ts";
import { AppError } from "../../lib/core/errors.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { pause } from "../../lib/core/pause.ts";
import { openKvFile } from "./open_kv_file.ts";

const [path = "", namespaceId = "", leaseMs = "", dearest = ""] = Deno.args;
const WORKERS = 6;
const kv = await openKvFile(path);
const meter = new Meter(kv, systemClock, { leaseMs: Number(leaseMs) });
let spent = 0;
let stopped = false;
const encoder = new TextEncoder();

function report(): void {
  Deno.stdout.writeSync(encoder.encode(`${spent}\n`));
}

async function work(name: number): Promise<void> {
  while (!stopped) {
    try {
      const admission = await meter.admit(namespaceId);
      await pause(Math.random() * 2);
      const costNanoUsd = 500 + Math.floor(Math.random() * (Number(dearest) - 500));
      meter.settle(admission, {
        databaseId: `db_${name}`,
        requests: 1,
        rowsRead: 1,
        rowsWritten: 1,
        costNanoUsd,
      });
      spent += costNanoUsd;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      await pause(20);
    }
  }
}

const timers = [
  setInterval(report, 20),
  setInterval(() => void meter.tick(), 250),
  setInterval(() => void meter.sweepBlocks().catch(() => {}), Number(leaseMs) / 4),
];
const workers = Array.from({ length: WORKERS }, (_, name) => work(name));
await Deno.stdin.read(new Uint8Array(1));
stopped = true;
await Promise.all(workers);
timers.forEach(clearInterval);
await meter.close();
report();
Deno.exit(0);
