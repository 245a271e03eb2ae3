// A process that stands still. The signal is heard when its main thread gets to run, and on a busy machine the
// others go on working until then.
import { pause } from "../../lib/core/pause.ts";

/** Resolves when none of its threads runs any more, which only Linux tells. SIGCONT ends it. */
export async function suspend(pid: number): Promise<void> {
  Deno.kill(pid, "SIGSTOP");
  while (Deno.build.os === "linux" && !await isStill(pid)) {
    await pause(5);
  }
}

async function isStill(pid: number): Promise<boolean> {
  for await (const { name } of Deno.readDir(`/proc/${pid}/task`)) {
    // A thread that has ended meanwhile has no state.
    const stat = await Deno.readTextFile(`/proc/${pid}/task/${name}/stat`).catch(() => ") T");
    if (!/\) [TtZX]/.test(stat)) return false;
  }
  return true;
}
