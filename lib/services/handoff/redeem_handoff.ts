// Exchanges a handoff token, once, for an API token that reaches exactly the pinned branch. The handoff is the proof.
import { isToken, newToken, tokenHash } from "../../access/token_format.ts";
import type { ControlPlane } from "../../control/control_plane.ts";
import { audienceOf } from "../../control/token_records.ts";
import { type Clock, isoTime } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { Role } from "../../core/role.ts";
import { databasePath } from "../databases/database_path.ts";

/** What whoever redeems a handoff token gets. */
export interface RedeemedHandoff {
  /** `cub_live_…`, shown once. */
  readonly token: string;
  readonly tokenId: string;
  readonly namespaceSlug: string;
  /** As it goes into a path. */
  readonly databaseSlug: string;
  readonly databaseId: string;
  readonly branchRef: string;
  readonly role: Role;
  /** When the minting token expires. Null: it does not. */
  readonly expiresAt: string | null;
}

/**
 * Of many callers one wins. Errors: `handoff_not_found` for whatever else is wrong with it: form, unknown, used,
 * expired, minting token or database gone; `meter_unreachable`.
 */
export async function redeemHandoff(
  { control, clock }: { readonly control: ControlPlane; readonly clock: Clock },
  input: { readonly token: string; readonly name: string },
): Promise<RedeemedHandoff> {
  if (!isToken("phand_", input.token)) throw new AppError("handoff_not_found");
  const hash = tokenHash(input.token);
  const handoff = await control.handoffs.find(hash);
  const databaseSlug = handoff && await databasePath(control, handoff);
  if (handoff === null || databaseSlug === null) throw new AppError("handoff_not_found");
  const token = newToken("cub_live_");
  const now = clock.now();
  const redeemed = await control.handoffs.redeem(
    hash,
    ({ namespaceId, parentId, databaseId, branchRef, role }, parent) => ({
      id: newId("tok", now),
      hash: tokenHash(token),
      name: input.name,
      namespaceId,
      role,
      scopes: [{ databaseId, branchRef, role }],
      createdAt: now,
      expiresAt: parent.expiresAt,
      parentId,
      ...audienceOf(parent),
    }),
  );
  if (redeemed === null) throw new AppError("handoff_not_found");
  const { id, role, expiresAt } = redeemed.token;
  const { databaseId, branchRef } = handoff;
  return {
    token,
    tokenId: id,
    namespaceSlug: redeemed.namespaceSlug,
    databaseSlug,
    databaseId,
    branchRef,
    role,
    expiresAt: expiresAt === null ? null : isoTime(expiresAt),
  };
}
