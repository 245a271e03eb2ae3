// The engine children of a data folder, found as anybody outside would find them.

/** Process ids of the children that serve `folder`. Linux only: elsewhere the list is empty. */
export async function engineChildren(folder: string): Promise<number[]> {
  if (Deno.build.os !== "linux") return [];
  const directory = await Deno.realPath(folder);
  const pids: number[] = [];
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const command = await Deno.readTextFile(`/proc/${name}/cmdline`).catch(() => "");
    if (command.includes("child/main.ts") && command.includes(directory)) pids.push(Number(name));
  }
  return pids;
}

/** Kills the children that serve `folder`; how many. */
export async function killChildren(folder: string): Promise<number> {
  let killed = 0;
  for (const pid of await engineChildren(folder)) {
    try {
      Deno.kill(pid, "SIGKILL");
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
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
