// What the embedded store tells about itself to whoever scrapes: read from what it has in memory anyway.
import { byLabel, counter, gauge, type MetricFamily } from "../../core/metrics.ts";
import type { ArchiveHooks } from "./archive_hooks.ts";
import type { LocalStoreParts } from "./local_store_parts.ts";
import type { Scheduler } from "./pool/scheduler.ts";

/** The families of the store. */
export function localMetrics(parts: LocalStoreParts, archive: ArchiveHooks | null): MetricFamily[] {
  const { scheduler, transactions, lookups, spool } = parts;
  const { children } = transactions;
  const waiting = waitingOf(scheduler);
  return [
    gauge(
      "engine_children",
      "Engine processes, by what they are for",
      byLabel("pool", { calls: scheduler.slots.length, transactions: children.places.length }),
    ),
    gauge(
      "engine_resident_memory_bytes",
      "Bytes of memory that engine processes hold, as they have said last",
      byLabel("pool", { calls: heldBytes(scheduler), transactions: transactions.heldBytes }),
    ),
    gauge("engine_waiting_calls", "Calls that wait for an engine process", waiting.calls),
    gauge(
      "engine_oldest_wait_seconds",
      "Seconds that the oldest of them has waited",
      waiting.oldestMs / 1000,
    ),
    ...scheduler.options.counts.families(),
    counter(
      "lookups",
      "Look-ups by key that the service has answered without an engine process",
      lookups?.answered ?? 0,
    ),
    gauge(
      "log_spool_used_ratio",
      "Part of the room for log rows that wait which is used, up to 1",
      Math.max(spool.linesFullness, spool.packsFullness),
    ),
    ...(archive === null ? [] : archiveMetrics(archive)),
  ];
}

function archiveMetrics({ figures: { lagMs, failures } }: ArchiveHooks): MetricFamily[] {
  return [
    gauge("archive_lag_seconds", "Age of the oldest change that is not in the archive", lagMs / 1000),
    counter("archive_failures", "Attempts to archive changes of a database that failed", failures),
  ];
}

function heldBytes({ slots }: Scheduler): number {
  return slots.reduce((sum, { child }) => sum + (child.report(0)?.residentBytes || 0), 0);
}

/** Whoever does not wait is not looked at, however many databases there are. */
function waitingOf({ waiting, options: { clock } }: Scheduler): { calls: number; oldestMs: number } {
  const nowMs = clock.monotonicMs();
  let [calls, oldestMs] = [0, 0];
  for (const { reads, writes } of waiting) {
    for (const { queuedMs } of [...reads.all(), ...writes.calls()]) {
      calls++;
      oldestMs = Math.max(oldestMs, nowMs - queuedMs);
    }
  }
  return { calls, oldestMs };
}
