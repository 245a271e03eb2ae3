// The TypeScript client of a database, kept as long as its list of published endpoints is.
import type { EndpointRecord } from "../../store/records.ts";
import type { QueryContext } from "../../query/query_call.ts";
import { readSchema } from "../schema/read_schema.ts";
import { clientSource } from "./client/client_source.ts";
import type { DiscoveryContext } from "./discover_endpoints.ts";
import type { PublicAddress } from "../published/find_public_place.ts";
import { findPublicDatabase } from "./find_public_database.ts";
import { trunkTarget } from "./trunk_target.ts";

/** By the list, which the control plane gives out again for a moment: strangers ask, and the schema is read for it. */
const kept = new WeakMap<readonly EndpointRecord[], Promise<string>>();

/** TypeScript source. Errors: `database_not_found`, `meter_unreachable`, those of the pipeline. */
export async function writeClient(
  ctx: DiscoveryContext & { readonly query: QueryContext },
  address: PublicAddress,
): Promise<string> {
  const { control, baseUrl, query } = ctx;
  const { namespaceSlug, databasePath } = address;
  const database = await findPublicDatabase(control, address);
  const records = await control.endpoints.published(database.id);
  const target = trunkTarget(database, namespaceSlug, "read");
  const title = `${namespaceSlug}/${database.slug}`;
  // A branch has the same endpoints at another address; its client is told by `url`.
  const url = `${baseUrl}/p/${title}`;
  let source = kept.get(records);
  if (source === undefined) {
    source = readSchema({ ...query, target, tokenId: "client" })
      .then((schema) => clientSource({ title, url, schema, specs: records.map(({ spec }) => spec) }));
    kept.set(records, source);
    source.catch(() => kept.delete(records));
  }
  const text = await source;
  return databasePath === database.slug
    ? text
    : text.replace(url, `${baseUrl}/p/${namespaceSlug}/${databasePath}`);
}
