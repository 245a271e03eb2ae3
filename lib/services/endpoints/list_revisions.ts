// What became of an endpoint and who did it, newest first. Also of one that is deleted.
import { AppError } from "../../core/errors.ts";
import { type DatabaseAddress, requireDatabase } from "../databases/require_database.ts";
import type { EndpointContext } from "./endpoint_context.ts";
import { type RevisionView, revisionView } from "./revision_view.ts";

/** Errors: `endpoint_not_found` where there never was one, those of `requireDatabase`. */
export async function listRevisions(
  ctx: EndpointContext,
  { address, slug }: { readonly address: DatabaseAddress; readonly slug: string },
): Promise<RevisionView[]> {
  const database = await requireDatabase(ctx, address);
  const revisions = await ctx.control.endpoints.revisions(database.id, slug);
  if (revisions.length === 0) throw new AppError("endpoint_not_found");
  return revisions.map(revisionView);
}
