// Notes what a member does about its own account, for the audit of the namespace.
import { actRecord, type SignedAct } from "../../control/audit.ts";
import type { ControlPlane } from "../../control/control_plane.ts";
import type { Clock } from "../../core/clock.ts";
import type { MemberRecord } from "../../store/people_records.ts";
import type { Also } from "../../store/until_committed.ts";

/** Notes it in the commit that does it. */
export function withOwnAct(
  { control, clock }: { readonly control: ControlPlane; readonly clock: Clock },
  { namespaceId, id, email }: Pick<MemberRecord, "namespaceId" | "id" | "email">,
  act: Pick<SignedAct, "action" | "target" | "facts">,
): Also {
  const record = actRecord(clock.now(), { ...act, namespaceId, actor: id, actorName: email });
  return (commit) => control.audit.addTo(commit, record);
}
