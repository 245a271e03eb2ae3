// Who asks for an approval: what the token may do, and what became of what it asked for lately.
import { isId } from "../../core/ids.ts";
import { isoTime } from "../../core/clock.ts";
import type { Role } from "../../core/role.ts";
import { readableNamespace } from "../namespaces/namespace_record.ts";
import type { ApprovalContext } from "./approval_context.ts";

/** The facts. Counts are those of approvals that are not forgotten yet: two days. */
export interface AskerFacts {
  /** Null where the token has been revoked, or a person asks. */
  readonly role: Role | null;
  readonly createdAt: string | null;
  readonly asked: number;
  readonly approved: number;
  readonly denied: number;
}

/** Errors: those of `readableNamespace`. */
export async function describeAsker(
  ctx: ApprovalContext,
  { namespaceSlug, tokenId }: { readonly namespaceSlug: string; readonly tokenId: string },
): Promise<AskerFacts> {
  const namespace = await readableNamespace(ctx, namespaceSlug);
  const [token, all] = await Promise.all([
    isId("tok", tokenId) ? ctx.control.tokens.byId(namespace.id, tokenId) : null,
    ctx.query.approvals.list(namespace.id, null),
  ]);
  const own = all.filter(({ requestedBy }) => requestedBy === tokenId);
  return {
    role: token?.role ?? null,
    createdAt: token === null ? null : isoTime(token.createdAt),
    asked: own.length,
    approved: own.filter(({ state }) => state === "approved" || state === "redeemed").length,
    denied: own.filter(({ state }) => state === "denied").length,
  };
}
