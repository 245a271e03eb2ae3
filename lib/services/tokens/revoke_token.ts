// Revokes a token of a namespace.
import { AppError } from "../../core/errors.ts";
import type { ManageContext } from "../manage_context.ts";
import { requireNamespace } from "../namespaces/require_namespace.ts";

/** Errors: `token_not_found` and those of `requireNamespace`. */
export async function revokeToken(
  ctx: ManageContext,
  input: { readonly namespaceSlug: string; readonly id: string },
): Promise<{ id: string }> {
  const namespace = await requireNamespace(ctx, input.namespaceSlug);
  if (!await ctx.control.tokens.remove(namespace.id, input.id)) throw new AppError("token_not_found");
  return { id: input.id };
}
