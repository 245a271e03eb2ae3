// Learns from the duration of reads which callers are slow.
import type { WireOutcome } from "./child/wire_call.ts";
import type { LaneFlight } from "./child_slot.ts";
import type { CallJob } from "./jobs.ts";
import { LONG_FLIGHT_MS, SLOW_READ_CPU_MS } from "./shares.ts";

/** Notes the durations of a group of reads that has just been answered. */
export function noteTimes(
  { lanes, slow, startedMs }: LaneFlight,
  jobs: readonly CallJob[],
  outcomes: readonly WireOutcome[],
  nowMs: number,
): void {
  const tookMs = nowMs - startedMs;
  if (slow !== null && tookMs < SLOW_READ_CPU_MS) {
    for (const job of jobs) lanes.reads.forget(job);
  }
  if (slow !== null || tookMs < LONG_FLIGHT_MS) return;
  for (const [index, outcome] of outcomes.entries()) {
    const job = jobs[index];
    const ms = "ms" in outcome ? outcome.ms : 0;
    if (job && ms >= LONG_FLIGHT_MS) lanes.reads.charge(job, ms, nowMs);
  }
}
