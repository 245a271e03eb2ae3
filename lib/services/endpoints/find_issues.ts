// What is wrong with a specification, before anybody saves it.
import { failedWith, type Issue } from "../../core/errors.ts";
import { type DatabaseAddress, requireDatabase } from "../databases/database_record.ts";
import type { EndpointContext } from "./endpoint_context.ts";
import { checkSpec, type UncheckedSpec } from "./spec/check_spec.ts";

/** A specification to check; `slug`: of the endpoint that it is for, where that exists. */
export interface FindIssuesInput {
  readonly address: DatabaseAddress;
  readonly slug?: string;
  readonly unchecked: UncheckedSpec;
}

/** Empty: it can be saved. Nothing is changed. Errors: those of `requireDatabase` and of a store that does not answer. */
export async function findIssues(
  ctx: EndpointContext,
  { address, slug, unchecked }: FindIssuesInput,
): Promise<readonly Issue[]> {
  const database = await requireDatabase(ctx, address);
  const about = { query: ctx.query, namespaceSlug: address.namespaceSlug, database };
  try {
    await checkSpec(slug === undefined ? about : { ...about, slug }, unchecked);
    return [];
  } catch (error) {
    if (failedWith(error, "validation_failed")) return error.facts.issues ?? [];
    throw error;
  }
}
