// How much of the machine others use while something is measured, from /proc.
import { processCpuSeconds } from "./process_cpu.ts";

/** Ticks of the kernel's clock in a second, as /proc counts them. */
const TICKS = 100;

/** Watches from its making on. */
export class NoiseWatch {
  readonly #startedMs = performance.now();
  readonly #busy = busySeconds();
  readonly #own = processCpuSeconds(Deno.pid);

  /** The part of all processors that others have used so far; null where there is no /proc. */
  othersPart(): number | null {
    const [busy, own] = [busySeconds(), processCpuSeconds(Deno.pid)];
    if (busy === null || own === null || this.#busy === null || this.#own === null) return null;
    const seconds = (performance.now() - this.#startedMs) / 1000;
    const others = busy - this.#busy - (own - this.#own);
    return Math.max(0, others / (seconds * navigator.hardwareConcurrency));
  }
}

/** What all processors have computed, for whomever. */
function busySeconds(): number | null {
  try {
    const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] =
      /^cpu +(.+)$/m.exec(Deno.readTextFileSync("/proc/stat"))?.[1]?.split(" ").map(Number) ?? [];
    return (user + nice + system + irq + softirq + steal) / TICKS;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
