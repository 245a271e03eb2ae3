// Another commit of this repository in a temporary folder, to be measured beside this one.
import { git } from "./machine.ts";

export interface Checkout {
  /** With a slash at its end. */
  readonly folder: string;
  readonly commit: string;
  remove(): Promise<void>;
}

/** Throws with the words of git where there is no such commit. */
export async function checkOut(root: string, commit: string): Promise<Checkout> {
  const full = await git(root, ["rev-parse", "--verify", `${commit}^{commit}`]);
  const folder = await Deno.makeTempDir({ prefix: "bench_against_" });
  const remove = () => Deno.remove(folder, { recursive: true });
  try {
    await git(root, ["clone", "--quiet", "--shared", "--no-checkout", ".", folder]);
    await git(folder, ["checkout", "--quiet", "--detach", full]);
    return { folder: `${folder}/`, commit: full.slice(0, 12), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
