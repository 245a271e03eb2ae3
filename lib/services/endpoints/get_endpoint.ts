// One endpoint of a database, of any status.
import { AppError } from "../../core/errors.ts";
import { type DatabaseAddress, requireDatabase } from "../databases/require_database.ts";
import type { EndpointContext } from "./endpoint_context.ts";
import { type EndpointView, endpointView } from "./endpoint_view.ts";

/** Errors: `endpoint_not_found`, those of `requireDatabase`. */
export async function getEndpoint(
  ctx: EndpointContext,
  { address, slug }: { readonly address: DatabaseAddress; readonly slug: string },
): Promise<EndpointView> {
  const database = await requireDatabase(ctx, address);
  const record = await ctx.control.endpoints.read(database.id, slug);
  if (record === null) throw new AppError("endpoint_not_found");
  return endpointView(record, { baseUrl: ctx.baseUrl, address });
}
