// Notes what a caller has just done, for the audit of the namespace.
import { type Caller, callerId, callerName } from "../access/caller.ts";
import { actRecord } from "../control/audit.ts";
import type { ControlPlane } from "../control/control_plane.ts";
import type { Clock } from "../core/clock.ts";
import { isId } from "../core/ids.ts";
import type { AuditAction, AuditFacts, AuditRecord } from "../store/audit_records.ts";
import type { Also } from "../store/until_committed.ts";

/** What it needs of a request. */
export interface ActContext {
  readonly control: ControlPlane;
  readonly clock: Clock;
  readonly caller: Caller;
}

/** What was done. */
export interface Act {
  readonly namespaceId: string;
  /** Slug. */
  readonly database?: string;
  /** What it was done to: an id or a slug. */
  readonly target?: string;
  readonly facts?: AuditFacts;
}

/**
 * For what no commit of the control plane does, once it is done. Never fails the call that did it: see `withAct` for all
 * else.
 */
export async function noteAct(ctx: ActContext, action: AuditAction, act: Act): Promise<void> {
  await ctx.control.audit.add(actOf(ctx, action, act));
}

/** The name under which acts of the caller with that id are noted; null for who is gone, and for what is no caller. */
export async function notedName(
  { control }: Pick<ActContext, "control">,
  namespaceId: string,
  id: string,
): Promise<string | null> {
  if (isId("tok", id)) return (await control.tokens.byId(namespaceId, id))?.name ?? null;
  if (isId("mem", id)) return (await control.members.byId(namespaceId, id))?.email ?? null;
  return id === callerId(OPERATOR) ? callerName(OPERATOR) : null;
}

const OPERATOR = { kind: "operator" } as const;

/**
 * Notes an act in the commit that does it: nobody can do it unnoticed, and whoever repeats what has been done already notes
 * nothing.
 */
export function withAct(ctx: ActContext, action: AuditAction, act: Act): Also {
  const record = actOf(ctx, action, act);
  return (commit) => ctx.control.audit.addTo(commit, record);
}

/** The record of it, for a commit that does it. */
export function actOf(
  { clock, caller }: Pick<ActContext, "clock" | "caller">,
  action: AuditAction,
  act: Act,
): AuditRecord {
  return actRecord(clock.now(), { ...act, action, actor: callerId(caller), actorName: callerName(caller) });
}
