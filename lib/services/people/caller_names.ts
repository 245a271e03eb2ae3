// Names for the ids of callers that logs and revisions keep: whoever reads those knows people and tokens by their names.
import type { ManageContext } from "../manage_context.ts";
import { listTokens } from "../tokens/manage_tokens.ts";
import { listMembers } from "./manage_members.ts";

/** Tokens and members whose names are looked up, of each as many. */
const LOOKED_UP = 500;

/**
 * Id of a token or a member, or `operator` → its name; of a member without one the address. Who is gone, or stands behind
 * the first 500, has none. Errors: those of `readableNamespace`.
 */
export async function callerNames(
  ctx: ManageContext,
  namespaceSlug: string,
): Promise<ReadonlyMap<string, string>> {
  const page = { namespaceSlug, cursor: null, pageSize: LOOKED_UP };
  const [members, tokens] = await Promise.all([listMembers(ctx, page), listTokens(ctx, page)]);
  return new Map([
    ["operator", "The operator"],
    ...members.items.map(({ id, name, email }) => [id, name ?? email] as const),
    ...tokens.items.map(({ id, name }) => [id, name] as const),
  ]);
}
