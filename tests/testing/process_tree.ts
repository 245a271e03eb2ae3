// The processes under a process, on Linux.

/** Their ids, grandchildren too. */
export async function childrenOf(pid: number): Promise<number[]> {
  const found: number[] = [];
  for await (const { name } of Deno.readDir(`/proc/${pid}/task`)) {
    const text = await Deno.readTextFile(`/proc/${pid}/task/${name}/children`).catch(() => "");
    for (const child of text.trim().split(" ").filter((one) => one !== "")) {
      found.push(Number(child), ...await childrenOf(Number(child)));
    }
  }
  return found;
}
