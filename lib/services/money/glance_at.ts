// A namespace at a glance: what somebody who has just come should see before anything else.
import type { Approvals } from "../../control/approvals.ts";
import type { ManageContext } from "../manage_context.ts";
import { readBalance } from "./manage_money.ts";
import { readableNamespace } from "../namespaces/namespace_record.ts";

/** The glance. */
export interface Glance {
  /** Approvals that wait for a person, up to `MOST_WAITING`. */
  readonly waiting: number;
  readonly balanceUsd: number;
  readonly creditedUsd: number;
}

/** Errors: those of `readBalance`. */
export async function glanceAt(
  ctx: ManageContext & { readonly approvals: Approvals },
  namespaceSlug: string,
): Promise<Glance> {
  const namespace = await readableNamespace(ctx, namespaceSlug);
  const [waiting, { balanceUsd, creditedUsd, reservedUsd }] = await Promise.all([
    ctx.approvals.countWaiting(namespace.id),
    readBalance(ctx, namespaceSlug),
  ]);
  // What running processes hold is not spent.
  return { waiting, balanceUsd: balanceUsd + reservedUsd, creditedUsd };
}
