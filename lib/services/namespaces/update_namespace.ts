// Changes what people call a namespace.
import { AppError } from "../../core/errors.ts";
import type { ManageContext } from "../manage_context.ts";
import { type NamespaceView, namespaceView } from "./namespace_view.ts";
import { requireNamespace } from "./require_namespace.ts";

/** Errors: those of `requireNamespace`. */
export async function updateNamespace(
  ctx: ManageContext,
  input: { readonly slug: string; readonly name: string },
): Promise<NamespaceView> {
  const record = await requireNamespace(ctx, input.slug);
  const changed = await ctx.control.namespaces.rename(record, input.name);
  if (changed === null) throw new AppError("namespace_not_found");
  return namespaceView(changed);
}
