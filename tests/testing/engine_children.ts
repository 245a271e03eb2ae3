// The engine children of a data folder, found as anybody outside would find them.
import { pause } from "../../lib/core/pause.ts";
import { PROGRESS_HEAD_BYTES } from "../../lib/tenant/local/child/protocol.ts";

/** Process ids of the children that serve `folder`. Linux only: elsewhere the list is empty. */
export async function engineChildren(folder: string): Promise<number[]> {
  if (Deno.build.os !== "linux") return [];
  const directory = await Deno.realPath(folder);
  const pids: number[] = [];
  // Callers look again and again: to have each file read by another thread takes four times the processor.
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const command = commandOf(name);
    if (command.includes("child/main.ts") && command.includes(directory)) pids.push(Number(name));
  }
  return pids;
}

/** Empty where the process has ended. */
function commandOf(pid: string): string {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/cmdline`);
  } catch {
    return "";
  }
}

/** Of each child that serves `folder` the frame with whose statements it has begun last. */
export async function begunFrames(folder: string): Promise<ReadonlySet<string>> {
  const begun = new Set<string>();
  for (const pid of await engineChildren(folder)) {
    const command = await Deno.readTextFile(`/proc/${pid}/cmdline`).catch(() => "");
    const progress = command.split("\0").findLast((part) => part.includes("/run/engine-"));
    if (progress === undefined) continue;
    // A child begins with an emptied file, and the record of a call's first statement says which frame it is of.
    const record = (await Deno.readFile(progress)).subarray(PROGRESS_HEAD_BYTES, PROGRESS_HEAD_BYTES + 4);
    if (record.some((byte) => byte !== 0)) begun.add(`${pid} ${record.toHex()}`);
  }
  return begun;
}

/**
 * Waits until one of the children that serve `folder` has begun with a statement since `before`, or none has to any more.
 * Elsewhere than on Linux: for a while.
 */
export async function untilEngineRuns(
  folder: string,
  isOver: () => boolean,
  before: ReadonlySet<string> = new Set(),
): Promise<void> {
  for (let attempt = 0; attempt < 200 && !isOver(); attempt++) {
    if ((await begunFrames(folder)).difference(before).size > 0) return;
    await pause(50);
  }
}

/** Kills the children that serve `folder`, as anybody could, or by the signal of a process that ends itself; how many. */
export async function killChildren(
  folder: string,
  signal: "SIGKILL" | "SIGABRT" = "SIGKILL",
): Promise<number> {
  let killed = 0;
  for (const pid of await engineChildren(folder)) {
    try {
      Deno.kill(pid, signal);
      killed++;
    } catch (error) {
      // It may have ended between the two lines.
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return killed;
}

/** Waits until `folder` has no children any more; what is left after ten seconds is the answer. */
export async function childrenLeft(folder: string): Promise<number[]> {
  for (let attempt = 0;; attempt++) {
    const left = await engineChildren(folder);
    if (left.length === 0 || attempt === 100) return left;
    await pause(100);
  }
}
