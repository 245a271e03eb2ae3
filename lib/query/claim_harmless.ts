// The key of a call that changes nothing: running it twice does no harm.
import type { Claim, Replays, ReplayScope } from "../control/replays.ts";
import { AppError } from "../core/errors.ts";
import { isKvFull } from "../store/kv_call.ts";

/**
 * Claims the key, or finds the answer that is stored under it. `claim` null: KV has no room for it, so the call runs, and so does
 * its repetition. Errors: `replay_mismatch`, `replay_running`, `meter_unreachable`.
 */
export async function claimHarmless(
  replays: Replays,
  scope: ReplayScope,
): Promise<{ readonly claim: Claim | null } | { readonly answer: Uint8Array }> {
  const claimed = await replays.claim(scope).catch((error) => {
    if (isKvFull(error)) return null;
    throw error;
  });
  if (claimed === null) return { claim: null };
  if (claimed.state === "claimed") return { claim: claimed.claim };
  if (claimed.state === "stored") return { answer: claimed.answer };
  throw new AppError(claimed.state === "mismatch" ? "replay_mismatch" : "replay_running");
}
