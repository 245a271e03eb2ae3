// The endpoints of a database, of every status, sorted by slug.
import { type DatabaseAddress, requireDatabase } from "../databases/require_database.ts";
import type { EndpointContext } from "./endpoint_context.ts";
import { type EndpointView, endpointView } from "./endpoint_view.ts";

/** Errors: those of `requireDatabase`. */
export async function listEndpoints(ctx: EndpointContext, address: DatabaseAddress): Promise<EndpointView[]> {
  const database = await requireDatabase(ctx, address);
  const records = await ctx.control.endpoints.list(database.id);
  return records.map((record) => endpointView(record, { baseUrl: ctx.baseUrl, address }));
}
