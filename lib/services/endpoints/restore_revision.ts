// Makes an older specification of an endpoint the present one again, as a new revision.
import { AppError } from "../../core/errors.ts";
import { type DatabaseAddress, requireDatabase } from "../databases/require_database.ts";
import { actorOf } from "./actor_of.ts";
import { checkSpec } from "./check_spec.ts";
import type { EndpointContext } from "./endpoint_context.ts";
import { type EndpointView, endpointView } from "./endpoint_view.ts";

export interface RestoreInput {
  readonly address: DatabaseAddress;
  readonly slug: string;
  /** As it stands in the path. */
  readonly revision: string;
}

/** One number has one spelling. */
const NUMBER = /^[1-9]\d{0,14}$/;

/**
 * Keeps the status; a deleted endpoint comes back as a draft. The specification is checked against the database as it
 * is now. Errors: `revision_not_found`, `validation_failed`, those of `requireDatabase`.
 */
export async function restoreRevision(ctx: EndpointContext, input: RestoreInput): Promise<EndpointView> {
  const { address, slug } = input;
  const database = await requireDatabase(ctx, address);
  const revision = NUMBER.test(input.revision)
    ? await ctx.control.endpoints.revision(database.id, slug, Number(input.revision))
    : null;
  if (revision === null) throw new AppError("revision_not_found");
  const { namespaceSlug } = address;
  await checkSpec({ query: ctx.query, namespaceSlug, database, slug }, { raw: revision.spec, issues: [] });
  const by = { databaseId: database.id, slug, actor: actorOf(ctx.caller) };
  const record = await ctx.control.endpoints.restoreRevision(revision, by);
  if (record === null) throw new AppError("revision_not_found");
  return endpointView(record, { baseUrl: ctx.baseUrl, address });
}
