// Another specification for an endpoint. Its status stays: a published one serves the new specification at once.
import { AppError } from "../../core/errors.ts";
import { type DatabaseAddress, requireDatabase } from "../databases/require_database.ts";
import { actorOf } from "./actor_of.ts";
import { checkSpec, type UncheckedSpec } from "./check_spec.ts";
import type { EndpointContext } from "./endpoint_context.ts";
import { type EndpointView, endpointView } from "./endpoint_view.ts";

export interface ReplaceInput {
  readonly address: DatabaseAddress;
  /** Also the slug of the specification. */
  readonly slug: string;
  readonly unchecked: UncheckedSpec;
}

/** Errors: `endpoint_not_found`, `validation_failed`, those of `requireDatabase`. */
export async function replaceEndpoint(ctx: EndpointContext, input: ReplaceInput): Promise<EndpointView> {
  const { address, slug, unchecked } = input;
  const database = await requireDatabase(ctx, address);
  const by = { databaseId: database.id, slug, actor: actorOf(ctx.caller) };
  if (await ctx.control.endpoints.read(database.id, slug) === null) throw new AppError("endpoint_not_found");
  const { namespaceSlug } = address;
  const spec = await checkSpec({ query: ctx.query, namespaceSlug, database, slug }, unchecked);
  const record = await ctx.control.endpoints.replace(spec, by);
  if (record === null) throw new AppError("endpoint_not_found");
  return endpointView(record, { baseUrl: ctx.baseUrl, address });
}
