// How much of the time that a look-up took by the clock was its own: on a busy machine others may have had the processor meanwhile,
// and a child, which would need more of it, would wait for it as well.
import process from "node:process";

/** Milliseconds up to which nobody asks. */
const SHORT_MS = 1;

/** What a process has used since its start. */
export interface ProcessUsage {
  /** Milliseconds of all of its threads. */
  readonly cpuMs: number;
  /** Reads that a disk had to answer. */
  readonly diskReads: number;
  /** How often the system took the processor away from it. */
  readonly preempted: number;
}

/** This process; null where its platform does not tell. It takes 3 µs. */
export function ownUsage(): ProcessUsage | null {
  const { userCPUTime, systemCPUTime, fsRead, involuntaryContextSwitches } = process.resourceUsage();
  if (userCPUTime + systemCPUTime === 0) return null;
  const cpuMs = (userCPUTime + systemCPUTime) / 1000;
  return { cpuMs, diskReads: fsRead, preempted: involuntaryContextSwitches };
}

/** The look-ups of one turn of the event loop. */
export class OwnTime {
  #before: ProcessUsage | null = null;

  constructor(private readonly usage: () => ProcessUsage | null) {}

  /** To be called before the first look-up; `isAsked`: whether anybody is going to ask. */
  begin(isAsked: boolean): void {
    this.#before = isAsked ? this.usage() : null;
  }

  /**
   * Of a look-up's milliseconds by the clock those that are its own: all of them where it had to wait for a disk, or where nobody
   * took the processor away; otherwise what of the processor has been used since the last question.
   */
  of(ms: number): number {
    const before = this.#before;
    if (before === null || ms <= SHORT_MS) return ms;
    const now = this.#before = this.usage();
    if (now === null || now.diskReads > before.diskReads || now.preempted === before.preempted) return ms;
    return Math.min(ms, now.cpuMs - before.cpuMs);
  }
}
