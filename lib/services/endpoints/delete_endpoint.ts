// Takes an endpoint away. Its revisions stay, and any of them brings it back as a draft.
import { AppError } from "../../core/errors.ts";
import { type DatabaseAddress, requireDatabase } from "../databases/require_database.ts";
import { actorOf } from "./actor_of.ts";
import type { EndpointContext } from "./endpoint_context.ts";
import { type EndpointView, endpointView } from "./endpoint_view.ts";

/** What it was. Errors: `endpoint_not_found`, those of `requireDatabase`. */
export async function deleteEndpoint(
  ctx: EndpointContext,
  { address, slug }: { readonly address: DatabaseAddress; readonly slug: string },
): Promise<EndpointView> {
  const database = await requireDatabase(ctx, address);
  const by = { databaseId: database.id, slug, actor: actorOf(ctx.caller) };
  const record = await ctx.control.endpoints.remove(by);
  if (record === null) throw new AppError("endpoint_not_found");
  return endpointView(record, { baseUrl: ctx.baseUrl, address });
}
