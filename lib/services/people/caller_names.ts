// Names for the ids of callers that logs and revisions keep: whoever reads those knows people and tokens by their names.
import { callerId, callerName } from "../../access/caller.ts";
import { isId } from "../../core/ids.ts";
import type { ManageContext } from "../manage_context.ts";
import { readableNamespace } from "../namespaces/namespace_record.ts";

/** Tokens and members that are listed whether or not their names are asked for, of each as many. */
const LISTED = 500;

/**
 * Id of a token or a member, or `operator` → its name; of a member without one the address. Holds all of `ids` that are
 * still there, and beside them the first 500 members and tokens to choose from. Errors: those of `readableNamespace`.
 */
export async function callerNames(
  ctx: ManageContext,
  namespaceSlug: string,
  ids: Iterable<string>,
): Promise<ReadonlyMap<string, string>> {
  const { members, tokens } = ctx.control;
  const { id: namespaceId } = await readableNamespace(ctx, namespaceSlug);
  const page = { cursor: null, pageSize: LISTED };
  const [listed, held] = await Promise.all([members.list(namespaceId, page), tokens.list(namespaceId, page)]);
  const operator = { kind: "operator" } as const;
  const names = new Map([[callerId(operator), callerName(operator)]]);
  for (const member of listed.records) names.set(member.id, memberName(member));
  for (const { id, name } of held.records) names.set(id, name);
  const behind = [...new Set(ids)].filter((id) => !names.has(id));
  await Promise.all(behind.map(async (id) => {
    const name = await nameOf(ctx, namespaceId, id);
    if (name !== null) names.set(id, name);
  }));
  return names;
}

/** Null for who is gone, and for what is neither a member nor a token. */
async function nameOf({ control }: ManageContext, namespaceId: string, id: string): Promise<string | null> {
  if (isId("tok", id)) return (await control.tokens.byId(namespaceId, id))?.name ?? null;
  const member = isId("mem", id) ? await control.members.byId(namespaceId, id) : null;
  return member === null ? null : memberName(member);
}

function memberName({ name, email }: { readonly name: string | null; readonly email: string }): string {
  return name ?? email;
}
