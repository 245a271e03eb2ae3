// A new endpoint, as a draft: nobody outside reaches it before it is published.
import { AppError } from "../../core/errors.ts";
import { type DatabaseAddress, requireDatabase } from "../databases/require_database.ts";
import { actorOf } from "./actor_of.ts";
import { checkSpec, type UncheckedSpec } from "./check_spec.ts";
import type { EndpointContext } from "./endpoint_context.ts";
import { type EndpointView, endpointView } from "./endpoint_view.ts";

/** Errors: `validation_failed`, `slug_taken`, those of `requireDatabase`. */
export async function createEndpoint(
  ctx: EndpointContext,
  { address, unchecked }: { readonly address: DatabaseAddress; readonly unchecked: UncheckedSpec },
): Promise<EndpointView> {
  const database = await requireDatabase(ctx, address);
  const { namespaceSlug } = address;
  const spec = await checkSpec({ query: ctx.query, namespaceSlug, database }, unchecked);
  const by = { databaseId: database.id, slug: spec.slug, actor: actorOf(ctx.caller) };
  const record = await ctx.control.endpoints.create(spec, by);
  if (record === null) throw new AppError("slug_taken");
  return endpointView(record, { baseUrl: ctx.baseUrl, address });
}
