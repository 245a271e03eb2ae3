// Notes what a caller has just done, for the audit of the namespace.
import { type Caller, callerId } from "../access/caller.ts";
import type { ControlPlane } from "../control/control_plane.ts";
import type { Clock } from "../core/clock.ts";
import { newId } from "../core/ids.ts";
import type { AuditAction, AuditFacts, AuditRecord } from "../store/audit_records.ts";

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

/** Called once it is done. Never fails the call that did it. */
export async function noteAct(ctx: ActContext, action: AuditAction, act: Act): Promise<void> {
  await ctx.control.audit.add(actRecord(ctx, action, act));
}

/** The record of it, for a commit that does it. */
export function actRecord(
  ctx: Pick<ActContext, "clock" | "caller">,
  action: AuditAction,
  act: Act,
): AuditRecord {
  const at = ctx.clock.now();
  return {
    id: newId("aud", at),
    namespaceId: act.namespaceId,
    at,
    actor: callerId(ctx.caller),
    actorName: nameOf(ctx.caller),
    action,
    database: act.database ?? null,
    target: act.target ?? null,
    facts: act.facts ?? {},
  };
}

function nameOf(caller: Caller): string {
  if (caller.kind === "operator") return "the operator";
  return caller.kind === "member" ? caller.email : caller.name;
}
