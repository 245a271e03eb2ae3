// The tokens of a namespace, without their secrets.
import type { PageInput } from "../../control/list_page.ts";
import type { ManageContext } from "../manage_context.ts";
import { requireNamespace } from "../namespaces/require_namespace.ts";
import { type TokenView, tokenView } from "./token_view.ts";

/** Errors: those of `requireNamespace`. */
export async function listTokens(
  ctx: ManageContext,
  input: PageInput & { readonly namespaceSlug: string },
): Promise<{ items: TokenView[]; nextCursor: string | null }> {
  const namespace = await requireNamespace(ctx, input.namespaceSlug);
  const { records, nextCursor } = await ctx.control.tokens.list(namespace.id, input);
  return { items: records.map(tokenView), nextCursor };
}
