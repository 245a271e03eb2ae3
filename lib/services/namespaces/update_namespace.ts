// Changes what people call a namespace, and the most it may spend in a month.
import { AppError } from "../../core/errors.ts";
import { toNanoUsd } from "../../query/prices.ts";
import type { ManageContext } from "../manage_context.ts";
import { type NamespaceDetail, namespaceDetail } from "./namespace_view.ts";
import { requireNamespace } from "./require_namespace.ts";

export interface NamespaceChange {
  readonly slug: string;
  readonly name?: string | undefined;
  /** Null takes the cap away. */
  readonly monthlyCapUsd?: number | null | undefined;
}

/** Only what is given changes. Errors: those of `requireNamespace`. */
export async function updateNamespace(ctx: ManageContext, input: NamespaceChange): Promise<NamespaceDetail> {
  const { monthlyCapUsd } = input;
  let record = await requireNamespace(ctx, input.slug);
  if (monthlyCapUsd !== undefined) {
    await ctx.ledger.setMonthlyCap(record.id, monthlyCapUsd === null ? null : toNanoUsd(monthlyCapUsd));
  }
  if (input.name !== undefined) {
    const changed = await ctx.control.namespaces.rename(record, input.name);
    if (changed === null) throw new AppError("namespace_not_found");
    record = changed;
  }
  return await namespaceDetail(ctx, record);
}
