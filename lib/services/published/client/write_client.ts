// The TypeScript client of a database, cached for as long as its list of published endpoints is.
import type { QueryContext } from "../../../query/query_call.ts";
import type { EndpointRecord } from "../../../store/records.ts";
import { trunkTarget } from "../../databases/database_record.ts";
import { readSchema } from "../../schema/read_schema.ts";
import type { DiscoveryContext } from "../discovery/discover_endpoints.ts";
import { findPublicDatabase, type PublicAddress } from "../public_address.ts";
import { clientSource } from "./client_source.ts";

/** By the control plane's list, which stays the same object for a moment: strangers ask often, and it reads the schema. */
const cached = new WeakMap<readonly EndpointRecord[], Promise<string>>();

/** The client as TypeScript source. Errors: `database_not_found`, `meter_unreachable`, those of the pipeline. */
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
  // A branch has the same endpoints at another address, which replaces this one below.
  const url = `${baseUrl}/p/${title}`;
  let source = cached.get(records);
  if (source === undefined) {
    source = readSchema({ ...query, target, tokenId: "client" })
      .then((schema) => clientSource({ title, url, schema, specs: records.map(({ spec }) => spec) }));
    cached.set(records, source);
    source.catch(() => cached.delete(records));
  }
  const text = await source;
  return databasePath === database.slug
    ? text
    : text.replace(url, `${baseUrl}/p/${namespaceSlug}/${databasePath}`);
}
