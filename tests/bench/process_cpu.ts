// Processor time of a process and all its descendants, from /proc: what a call costs, whatever else the machine does.
import { descendants } from "./process_memory.ts";

/** Ticks of the kernel's clock in a second, as /proc counts them. */
const TICKS = 100;

/** Seconds computed so far, by ended ones that were waited for as well; null where there is no /proc. */
export function processCpuSeconds(rootPid: number): number | null {
  try {
    return descendants(rootPid).reduce((sum, pid) => sum + ticksOf(pid), 0) / TICKS;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** Seconds that the process itself has computed, without its descendants. Throws where there is no /proc. */
export function ownCpuSeconds(pid: number): number {
  const fields = fieldsOf(pid);
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** Seconds that the present process's first thread has computed. Throws where there is no /proc. */
export function threadCpuSeconds(): number {
  const fields = fieldsOf(`self/task/${Deno.pid}`);
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

function ticksOf(pid: number): number {
  // The name in parentheses may hold anything; user and system time are the 12th and 13th field after it, and behind
  // them those of its ended children.
  return fieldsOf(pid).slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
}

function fieldsOf(pid: number | string): string[] {
  return Deno.readTextFileSync(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ") ?? [];
}
