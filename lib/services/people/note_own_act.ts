// Notes what a member has done about its own account, for the audit of the namespace.
import { actRecord, type SignedAct } from "../../control/audit.ts";
import type { ControlPlane } from "../../control/control_plane.ts";
import type { Clock } from "../../core/clock.ts";
import type { MemberRecord } from "../../store/people_records.ts";

/** Called once it is done. Never fails the call that did it. */
export async function noteOwnAct(
  { control, clock }: { readonly control: ControlPlane; readonly clock: Clock },
  { namespaceId, id, email }: Pick<MemberRecord, "namespaceId" | "id" | "email">,
  act: Pick<SignedAct, "action" | "target" | "facts">,
): Promise<void> {
  await control.audit.add(actRecord(clock.now(), { ...act, namespaceId, actor: id, actorName: email }));
}
