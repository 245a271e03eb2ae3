// Notes what a member has done about its own account, for the audit of the namespace.
import type { ControlPlane } from "../../control/control_plane.ts";
import type { Clock } from "../../core/clock.ts";
import { newId } from "../../core/ids.ts";
import type { AuditRecord } from "../../store/audit_records.ts";
import type { MemberRecord } from "../../store/people_records.ts";

/** Called once it is done. Never fails the call that did it. */
export async function noteOwnAct(
  { control, clock }: { readonly control: ControlPlane; readonly clock: Clock },
  { namespaceId, id, email }: Pick<MemberRecord, "namespaceId" | "id" | "email">,
  { action, target = null, facts = {} }:
    & Pick<AuditRecord, "action">
    & Partial<Pick<AuditRecord, "target" | "facts">>,
): Promise<void> {
  const at = clock.now();
  await control.audit.add({
    id: newId("aud", at),
    namespaceId,
    at,
    actor: id,
    actorName: email,
    action,
    database: null,
    target,
    facts,
  });
}
