// One namespace, for whoever may manage it.
import type { ManageContext } from "../manage_context.ts";
import { type NamespaceDetail, namespaceDetail } from "./namespace_view.ts";
import { requireNamespace } from "./require_namespace.ts";

/** Errors: those of `requireNamespace`. */
export async function getNamespace(ctx: ManageContext, slug: string): Promise<NamespaceDetail> {
  return await namespaceDetail(ctx, await requireNamespace(ctx, slug));
}
