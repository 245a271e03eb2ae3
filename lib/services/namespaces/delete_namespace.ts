// Ends a namespace with everything in it.
import { requireOperator } from "../../access/require_operator.ts";
import { requireConfirm } from "../require_confirm.ts";
import type { ManageContext } from "../manage_context.ts";
import { clearNamespace } from "./clear_namespace.ts";
import { type NamespaceView, namespaceView } from "./namespace_view.ts";
import { requireNamespace } from "./require_namespace.ts";

/**
 * Out of reach first, then emptied; what a crash leaves of it a sweep finishes. Errors: `operator_required`,
 * `namespace_not_found`, `validation_failed` unless `confirm` is the slug.
 */
export async function deleteNamespace(
  ctx: ManageContext,
  input: { readonly slug: string; readonly confirm: string },
): Promise<NamespaceView> {
  requireOperator(ctx.caller);
  const record = await requireNamespace(ctx, input.slug);
  requireConfirm(input.confirm, record.slug);
  await ctx.control.namespaces.remove(record);
  ctx.control.tokens.forgetAll();
  await clearNamespace(ctx, record.id);
  return namespaceView(record);
}
