// Memory of a process and all its descendants, from /proc.

export interface ProcessMemory {
  /** Sum of what each holds resident; pages that several share count several times. */
  readonly residentBytes: number;
  /** The same with file pages, which the processes share as they run one binary, counted once. */
  readonly uniqueBytes: number;
  readonly processes: number;
}

/** null where there is no /proc. */
export function processMemory(rootPid: number): ProcessMemory | null {
  try {
    const pids = descendants(rootPid);
    const parts = pids.map((pid) => {
      const path = `/proc/${pid}/status`;
      return {
        own: kilobytes(path, "RssAnon") + kilobytes(path, "RssShmem"),
        file: kilobytes(path, "RssFile"),
      };
    });
    const own = parts.reduce((sum, part) => sum + part.own, 0);
    return {
      residentBytes: 1024 * (own + parts.reduce((sum, part) => sum + part.file, 0)),
      uniqueBytes: 1024 * (own + Math.max(0, ...parts.map((part) => part.file))),
      processes: pids.length,
    };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** The process and all that descend from it. */
export function descendants(rootPid: number): number[] {
  const children = new Map<number, number[]>();
  for (const entry of Deno.readDirSync("/proc")) {
    const pid = Number(entry.name);
    if (!Number.isInteger(pid)) continue;
    const parent = parentOf(pid);
    children.set(parent, [...children.get(parent) ?? [], pid]);
  }
  const found: number[] = [];
  for (const queue = [rootPid]; queue.length > 0;) {
    const pid = queue.pop() ?? 0;
    found.push(pid);
    queue.push(...children.get(pid) ?? []);
  }
  return found;
}

function parentOf(pid: number): number {
  try {
    // The name in parentheses may hold anything; the parent is the second field after it.
    return Number(Deno.readTextFileSync(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ")[1]);
  } catch {
    return -1; // ended meanwhile
  }
}

function kilobytes(path: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(Deno.readTextFileSync(path))?.[1] ?? 0);
}
