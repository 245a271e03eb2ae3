// An imported file as a step of a plan: repeated while a person has not decided, it waits for the approval of the first one.
import type { ReplayScope } from "../../control/replays.ts";
import type { HeldStep } from "../../query/held_call.ts";
import { heldBefore } from "../../query/hold_call.ts";
import type { LogIdentity } from "../../tenant/tenant_store.ts";
import { logged, type RestoreContext } from "../snapshots/restore_snapshot.ts";

/** The step that a file comes with. */
export interface FileStep {
  readonly scope: ReplayScope;
  /** Of the file, SHA-256 in hex; null before it is read to its end. */
  readonly digest: () => string | null;
}

/** The step of a file that has been read; `log`: the row of the call. Errors: `approval_required` where it waits already. */
export async function stepUnlessHeld(
  ctx: RestoreContext,
  log: LogIdentity,
  step: FileStep | undefined,
): Promise<HeldStep | undefined> {
  if (step === undefined) return undefined;
  const { scope, digest } = step;
  const asHeld = { ...scope, fileDigest: digest() ?? "" };
  const held = await heldBefore(ctx, { target: ctx.target, step: asHeld });
  if (held !== null) await logged(ctx, { log }, () => Promise.reject(held));
  return asHeld;
}
