// That nobody waits for a transaction which was left open at sqld: it keeps the lock for five seconds, and then sqld takes
// it away.
import { assert } from "@std/assert";

const STOLEN_MS = 5000;
const PROMPT_MS = 3000;
/** A busy machine may be slow once; a transaction that is left open keeps others waiting each time. */
const TRIES = 3;

/** `work` does what others must not wait for, and resolves with the milliseconds that they took. */
export async function assertPrompt(work: () => Promise<number>, about = ""): Promise<void> {
  const took: number[] = [];
  while (took.length < TRIES) {
    const ms = await work();
    if (ms < PROMPT_MS) return;
    took.push(Math.round(ms));
  }
  assert(false, `${about} took ${took.join(", ")} of ${STOLEN_MS} ms`);
}
