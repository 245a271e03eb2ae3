// Whether whoever has made a call may still make one, for a call that runs for long.
import { AppError } from "../core/errors.ts";
import { type AuthContext, authenticateId } from "./authenticate.ts";

/** A call, by whose it is and who has made it: the id of a token or a member, or another name that nobody revokes. */
export interface MadeCall {
  readonly target: { readonly namespaceId: string };
  readonly tokenId: string;
}

/** Errors: `invalid_bearer`, `session_ended` (whose it was is no member any more), `meter_unreachable`. */
export async function readmitCaller(
  ctx: Pick<AuthContext, "control" | "clock">,
  { target: { namespaceId }, tokenId: callerId }: MadeCall,
): Promise<void> {
  // Which door it came by was asked when it came.
  if (callerId.startsWith("tok_")) await authenticateId(ctx, { namespaceId, tokenId: callerId }, "mcp");
  if (!callerId.startsWith("mem_")) return;
  if (await ctx.control.members.byId(namespaceId, callerId) === null) throw new AppError("session_ended");
}
