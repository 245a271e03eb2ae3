// Money for a namespace, from the operator. The same reference counts once.
import { requireOperator } from "../../access/caller.ts";
import { isoTime } from "../../core/clock.ts";
import { toNanoUsd, toUsd } from "../../query/prices.ts";
import type { ManageContext } from "../manage_context.ts";
import { requireNamespace } from "../namespaces/namespace_record.ts";

/** A credit as the API shows it. */
export interface CreditView {
  readonly reference: string;
  readonly amountUsd: number;
  readonly createdAt: string;
  /** True when the reference had counted before: nothing was added now. */
  readonly repeated: boolean;
}

/** Errors: `operator_required`, `namespace_not_found`, `validation_failed` (reference with another amount). */
export async function addCredit(
  ctx: ManageContext,
  input: { readonly namespaceSlug: string; readonly amountUsd: number; readonly reference: string },
): Promise<CreditView> {
  requireOperator(ctx.caller);
  const namespace = await requireNamespace(ctx, input.namespaceSlug);
  const { credit, isNew } = await ctx.ledger.credit(namespace.id, {
    amountNanoUsd: toNanoUsd(input.amountUsd),
    reference: input.reference,
  });
  return {
    reference: credit.reference,
    amountUsd: toUsd(credit.amountNanoUsd),
    createdAt: isoTime(credit.createdAt),
    repeated: !isNew,
  };
}
