// A dry run that is repeated with its key gets the first answer, as a read does: claimed and stored in KV.
import type { Replays, ReplayScope } from "../../control/replays.ts";
import { claimHarmless } from "../../query/claim_harmless.ts";

/** The text of an answer; `replayed`: it is that of an earlier dry run. */
export interface PreviewText {
  readonly text: string;
  readonly replayed: boolean;
}

/**
 * Answers what `preview` writes, or what it wrote for an earlier dry run of that name. Null: without a key it runs each time.
 * Errors: `replay_mismatch`, `replay_running`, `meter_unreachable`, those of `preview`; after these the key is free again.
 */
export async function previewOnce(
  replays: Replays,
  { scope, namespaceId }: { readonly scope: ReplayScope | null; readonly namespaceId: string },
  preview: () => Promise<string>,
): Promise<PreviewText> {
  const claimed = scope === null ? { claim: null } : await claimHarmless(replays, scope);
  if ("answer" in claimed) return { text: new TextDecoder().decode(claimed.answer), replayed: true };
  try {
    const text = await preview();
    // It has run, so it is answered whether its answer can be stored or not.
    await claimed.claim?.store(new TextEncoder().encode(text), namespaceId).catch(() => {});
    return { text, replayed: false };
  } finally {
    await claimed.claim?.release();
  }
}
