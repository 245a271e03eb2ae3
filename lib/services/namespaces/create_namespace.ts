// A new tenant. Only the operator makes one.
import { requireOperator } from "../../access/require_operator.ts";
import { AppError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { ManageContext } from "../manage_context.ts";
import { type NamespaceView, namespaceView } from "./namespace_view.ts";

export interface NamespaceInput {
  readonly slug: string;
  readonly name?: string | undefined;
}

/** Errors: `operator_required`, `slug_taken`. */
export async function createNamespace(ctx: ManageContext, input: NamespaceInput): Promise<NamespaceView> {
  requireOperator(ctx.caller);
  const now = ctx.clock.now();
  const record = {
    id: newId("ns", now),
    slug: input.slug,
    name: input.name ?? input.slug,
    createdAt: now,
  };
  if (!await ctx.control.namespaces.add(record, ctx.welcomeCreditNanoUsd)) throw new AppError("slug_taken");
  return namespaceView(record);
}
