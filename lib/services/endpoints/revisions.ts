// The history of an endpoint, which outlives it: lists its revisions and restores one.
import { isSlug } from "../../access/slug.ts";
import { isoTime } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { EndpointRevision } from "../../store/records.ts";
import { type DatabaseAddress, readableDatabase, requireDatabase } from "../databases/database_record.ts";
import { changeBy, type EndpointContext, type EndpointView, endpointView } from "./endpoint_context.ts";
import { checkSpec } from "./spec/check_spec.ts";

/** Newest first. Errors: `endpoint_not_found` where there never was such an endpoint, those of `readableDatabase`. */
export async function listRevisions(
  ctx: EndpointContext,
  { address, slug }: { readonly address: DatabaseAddress; readonly slug: string },
): Promise<RevisionView[]> {
  const database = await readableDatabase(ctx, address);
  // A text of any length is no part of a key.
  const revisions = isSlug(slug) ? await ctx.control.endpoints.revisions(database.id, slug) : [];
  if (revisions.length === 0) throw new AppError("endpoint_not_found");
  return revisions.map(revisionView);
}

interface RestoreInput {
  readonly address: DatabaseAddress;
  readonly slug: string;
  /** As it stands in the path. */
  readonly revision: string;
}

/** One number has one spelling. */
const NUMBER = /^[1-9]\d{0,14}$/;

/**
 * Makes an older specification the present one again, as a new revision. The status stays; a deleted endpoint comes
 * back as a draft. The specification is checked against the database as it is now. Errors: `revision_not_found`,
 * `validation_failed`, those of `requireDatabase`.
 */
export async function restoreRevision(ctx: EndpointContext, input: RestoreInput): Promise<EndpointView> {
  const { address, slug } = input;
  const database = await requireDatabase(ctx, address);
  const revision = NUMBER.test(input.revision) && isSlug(slug)
    ? await ctx.control.endpoints.revision(database.id, slug, Number(input.revision))
    : null;
  if (revision === null) throw new AppError("revision_not_found");
  const { namespaceSlug } = address;
  await checkSpec({ query: ctx.query, namespaceSlug, database, slug }, { raw: revision.spec, issues: [] });
  const facts = { revision: revision.revision };
  const by = changeBy(ctx, "endpoint.restored", { database, slug, facts });
  const record = await ctx.control.endpoints.restoreRevision(revision, by);
  if (record === null) throw new AppError("revision_not_found");
  return endpointView(record, { baseUrl: ctx.baseUrl, address });
}

/** A revision of an endpoint as the API shows it. */
export interface RevisionView extends Omit<EndpointRevision, "at"> {
  /** ISO 8601. */
  readonly at: string;
}

/** A revision of an endpoint as the management API shows it. */
function revisionView({ at, ...revision }: EndpointRevision): RevisionView {
  return { ...revision, at: isoTime(at) };
}
