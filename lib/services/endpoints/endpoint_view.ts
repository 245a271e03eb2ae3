// An endpoint as the management API shows it.
import { isoTime } from "../../core/clock.ts";
import type { EndpointSpec, EndpointStatus } from "../../core/endpoint_spec.ts";
import type { EndpointRecord } from "../../store/records.ts";
import type { DatabaseAddress } from "../databases/require_database.ts";
import { endpointUrl } from "./endpoint_url.ts";

/** The specification, and what the service knows beside it. Times are ISO 8601. */
export type EndpointView = EndpointSpec & {
  readonly status: EndpointStatus;
  readonly revision: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly url: string;
};

export function endpointView(
  record: EndpointRecord,
  { baseUrl, address }: { readonly baseUrl: string; readonly address: DatabaseAddress },
): EndpointView {
  const { spec, status, revision, createdAt, updatedAt } = record;
  return {
    ...spec,
    ...{ status, revision, createdAt: isoTime(createdAt), updatedAt: isoTime(updatedAt) },
    url: endpointUrl(baseUrl, address, spec.slug),
  };
}
