// Where a published endpoint is served.
import type { DatabaseAddress } from "../databases/require_database.ts";

/** Absolute. Slugs need no escaping. */
export function endpointUrl(
  baseUrl: string,
  { namespaceSlug, slug }: DatabaseAddress,
  endpoint: string,
): string {
  return `${baseUrl}/p/${namespaceSlug}/${slug}/${endpoint}`;
}
