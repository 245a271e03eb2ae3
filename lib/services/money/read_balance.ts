// What a namespace has and owes.
import { AppError } from "../../core/errors.ts";
import { toUsd } from "../../query/prices.ts";
import type { ManageContext } from "../manage_context.ts";
import { requireNamespace } from "../namespaces/namespace_record.ts";

/** `creditedUsd = balanceUsd + reservedUsd + usedUsd` at every moment. */
export interface BalanceView {
  /** Free to spend. */
  readonly balanceUsd: number;
  /** Held by running processes, which give back what they do not spend. */
  readonly reservedUsd: number;
  /** Usage beyond what was there. */
  readonly writtenOffUsd: number;
  readonly usedUsd: number;
  readonly creditedUsd: number;
  readonly monthlyCapUsd: number | null;
  readonly monthUsedUsd: number;
  readonly currency: "USD";
}

/** Errors: those of `requireNamespace`. */
export async function readBalance(ctx: ManageContext, namespaceSlug: string): Promise<BalanceView> {
  const namespace = await requireNamespace(ctx, namespaceSlug);
  const balance = await ctx.ledger.balance(namespace.id);
  if (balance === null) throw new AppError("namespace_not_found");
  return {
    balanceUsd: toUsd(balance.balanceNanoUsd),
    reservedUsd: toUsd(balance.reservedNanoUsd),
    writtenOffUsd: toUsd(balance.writtenOffNanoUsd),
    usedUsd: toUsd(balance.usedNanoUsd),
    creditedUsd: toUsd(balance.creditedNanoUsd),
    monthlyCapUsd: balance.monthlyCapNanoUsd === null ? null : toUsd(balance.monthlyCapNanoUsd),
    monthUsedUsd: toUsd(balance.monthUsedNanoUsd),
    currency: "USD",
  };
}
