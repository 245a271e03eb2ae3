// A namespace at a glance: what somebody who has just come should see before anything else.
import type { Approvals } from "../../control/approvals.ts";
import type { ManageContext } from "../manage_context.ts";
import { costNanoUsd, toUsd } from "../../query/prices.ts";
import { readBalance } from "./manage_money.ts";
import { readableNamespace } from "../namespaces/namespace_record.ts";

/** What the rail says of a namespace. */
export interface Glance {
  /** Approvals that wait for a person, up to `MOST_WAITING`. */
  readonly waiting: number;
  readonly balanceUsd: number;
  readonly creditedUsd: number;
  /** What calls are refused for; null: they are not. */
  readonly spent: "balance" | "monthly cap" | null;
}

/** Errors: those of `readBalance`. */
export async function glanceAt(
  ctx: ManageContext & { readonly approvals: Approvals },
  namespaceSlug: string,
): Promise<Glance> {
  const namespace = await readableNamespace(ctx, namespaceSlug);
  const [waiting, { creditedUsd, monthlyCapUsd, monthUsedUsd, ...left }] = await Promise.all([
    ctx.approvals.countWaiting(namespace.id),
    readBalance(ctx, namespaceSlug),
  ]);
  // What running processes hold is not spent.
  const balanceUsd = left.balanceUsd + left.reservedUsd;
  // What is less than one call costs is nothing.
  const isSpent = (leftUsd: number) => leftUsd < toUsd(costNanoUsd(0, 0));
  const room = monthlyCapUsd === null ? Infinity : monthlyCapUsd - monthUsedUsd;
  const spent = isSpent(balanceUsd) ? "balance" : isSpent(room) ? "monthly cap" : null;
  return { waiting, balanceUsd, creditedUsd, spent };
}
