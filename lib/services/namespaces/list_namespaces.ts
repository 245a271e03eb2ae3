// All namespaces, for the operator.
import { requireOperator } from "../../access/require_operator.ts";
import type { PageInput } from "../../control/list_page.ts";
import type { ManageContext } from "../manage_context.ts";
import { type NamespaceView, namespaceView } from "./namespace_view.ts";

/** Errors: `operator_required`. */
export async function listNamespaces(
  ctx: ManageContext,
  page: PageInput,
): Promise<{ items: NamespaceView[]; nextCursor: string | null }> {
  requireOperator(ctx.caller);
  const { records, nextCursor } = await ctx.control.namespaces.list(page);
  return { items: records.map(namespaceView), nextCursor };
}
