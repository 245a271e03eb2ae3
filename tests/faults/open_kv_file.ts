// A KV file that several processes of a test open at about the same time.
import { pause } from "../../lib/core/pause.ts";

/** A file that another process has locked just now is tried again. */
export async function openKvFile(path: string): Promise<Deno.Kv> {
  for (let attempt = 1;; attempt++) {
    try {
      return await Deno.openKv(path);
    } catch (error) {
      if (attempt === 50) throw error;
      await pause(20 * Math.random());
    }
  }
}
