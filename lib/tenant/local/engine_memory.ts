// How much memory all engine children may hold together: what the operator says, or a part of what this machine, or the
// container that the service runs in, has.
import { ConfigError } from "../../core/errors.ts";

const MB = 1024 * 1024;
/** The rest is for the service, the system and its cache of files. */
const PART = 0.6;
/** Below that, what the children are themselves leaves no room for their work. */
const LEAST_BYTES = 512 * MB;

/** What a child holds when it has done little. */
const CHILD_BYTES = 80 * MB;

// Deno lets nobody read these files without all permissions, so a shell does; it prints the limit of each group that this
// process is in, outermost last.
const LIMITS = 'group=$(sed -n "s/^0:://p" /proc/self/cgroup 2>/dev/null); while :; do ' +
  'cat "/sys/fs/cgroup$group/memory.max" 2>/dev/null; [ -z "$group" ] && break; group=${group%/*}; done; ' +
  "cat /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null; true";

/** Bytes. `givenMb`: the operator's. Throws `ConfigError` where nothing can be found out. */
export async function findEngineMemory(givenMb: number | null): Promise<number> {
  if (givenMb !== null) return givenMb * MB;
  try {
    const { total } = Deno.systemMemoryInfo();
    return Math.max(LEAST_BYTES, Math.floor(PART * Math.min(total, ...await groupLimits())));
  } catch (error) {
    const reason = error instanceof Error ? error.name : "unknown";
    throw new ConfigError(
      `Set ENGINE_MEMORY_MB to what engine processes may take together; finding out what there is failed (${reason})`,
    );
  }
}

/** How many children at most: two for each processor, and no more than have room for themselves. */
export function childrenFor(memoryBytes: number): number {
  const wanted = Math.max(5, navigator.hardwareConcurrency * 2);
  return Math.max(5, Math.min(wanted, Math.floor(memoryBytes / CHILD_BYTES)));
}

async function groupLimits(): Promise<number[]> {
  if (Deno.build.os !== "linux") return [];
  const { stdout } = await new Deno.Command("sh", { args: ["-c", LIMITS], stdout: "piped", stderr: "null" })
    .output();
  // Without a limit it says `max`.
  return new TextDecoder().decode(stdout).split("\n").filter((line) => /^\d+$/.test(line)).map(Number);
}
