// An imported file as a step of a plan: repeated while a person has not decided, it waits for the approval of the first one.
import type { ReplayScope } from "../../control/replays.ts";
import type { HeldImport, HeldStep } from "../../query/held_call.ts";
import { heldBefore, replayOfStep } from "../../query/hold_call.ts";
import type { LogIdentity } from "../../tenant/tenant_store.ts";
import { stepKeys } from "../plan_step.ts";
import { databaseOf } from "../snapshots/manage_snapshots.ts";
import { logged, type RestoreContext, restoredBefore } from "../snapshots/restore_snapshot.ts";

/** The step that a file comes with. */
export interface FileStep {
  readonly scope: ReplayScope;
  /** Of the file, SHA-256 in hex; null before it is read to its end. */
  readonly digest: () => string | null;
}

/** The step of a file that has been read; undefined: it is none. */
export function readStep(step: FileStep | undefined): HeldStep | undefined {
  return step && { ...step.scope, fileDigest: step.digest() ?? "" };
}

/**
 * What the file of the step has brought in, where the process has died before that was kept: then its tables are there. Null:
 * nothing. Errors: those of the store.
 */
export async function importedBefore(
  ctx: RestoreContext,
): Promise<HeldImport & { readonly snapshot: string | null } | null> {
  const { imported, restored } = await restoredBefore(ctx) ?? {};
  return imported && restored ? { ...imported, snapshot: restored.undo } : null;
}

/** Whether the database has an answer of the step, of this file or of another one: its file need not be read for that. */
export async function hasRun(ctx: RestoreContext, { scope }: FileStep): Promise<boolean> {
  const keys = stepKeys({ ...ctx, replay: replayOfStep(scope) }, "");
  return keys !== undefined && await databaseOf(ctx).findReplay(keys) !== null;
}

/** Errors: `approval_required` where the file of the step waits already; `log` is the row of the call. */
export async function refuseIfHeld(
  ctx: RestoreContext,
  log: LogIdentity,
  step: HeldStep | undefined,
): Promise<void> {
  if (step === undefined) return;
  const held = await heldBefore(ctx, { target: ctx.target, step });
  if (held !== null) await logged(ctx, { log }, () => Promise.reject(held));
}
