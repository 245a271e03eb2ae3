// What a database offers to strangers: its published endpoints with their inputs.
import type { ControlPlane } from "../../../control/control_plane.ts";
import type { EndpointSpec } from "../../../core/endpoint_spec.ts";
import type { TargetPath } from "../../../access/resolve_target.ts";
import { endpointUrl, findPublicDatabase } from "../public_address.ts";
import { type InputSchema, inputSchema } from "./input_schema.ts";

/** What discovery needs of the process. */
export interface DiscoveryContext {
  readonly control: ControlPlane;
  readonly baseUrl: string;
}

/** A published endpoint as strangers see it. */
export interface DiscoveredEndpoint {
  readonly name: string;
  readonly slug: string;
  /** Empty where there is none. */
  readonly description: string;
  readonly kind: EndpointSpec["kind"];
  readonly method: EndpointSpec["method"];
  readonly url: string;
  readonly auth: "public" | "session";
  readonly captcha: boolean;
  readonly input_schema: InputSchema & { readonly $schema: string };
  readonly output: EndpointSpec["output"];
}

/** The published endpoints of one database. */
export interface Discovery {
  readonly namespace: string;
  readonly database: string;
  readonly endpoints: readonly DiscoveredEndpoint[];
}

const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** The published endpoints of a database with their inputs. Errors: `database_not_found`, `meter_unreachable`. */
export async function discoverEndpoints(
  { control, baseUrl }: DiscoveryContext,
  address: TargetPath,
): Promise<Discovery> {
  const database = await findPublicDatabase(control, address);
  const { namespaceSlug, databasePath } = address;
  const records = await control.endpoints.published(database.id);
  return {
    namespace: namespaceSlug,
    database: databasePath,
    endpoints: records.map(({ spec }) => ({
      name: spec.name,
      slug: spec.slug,
      description: spec.description ?? "",
      kind: spec.kind,
      method: spec.method,
      url: endpointUrl(baseUrl, { namespaceSlug, slug: databasePath }, spec.slug),
      auth: spec.auth ?? "public",
      captcha: spec.captcha ?? false,
      input_schema: { $schema: DIALECT, ...inputSchema(spec) },
      output: spec.output,
    })),
  };
}
