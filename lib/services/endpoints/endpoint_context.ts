// What the services for a database's endpoints share: their context, and how they show an endpoint.
import { callerId } from "../../access/caller.ts";
import type { EndpointChange } from "../../control/endpoints.ts";
import { isoTime } from "../../core/clock.ts";
import type { EndpointSpec, EndpointStatus } from "../../core/endpoint_spec.ts";
import type { QueryContext } from "../../query/query_call.ts";
import type { DatabaseRecord, EndpointRecord } from "../../store/records.ts";
import type { AuditAction, AuditFacts } from "../../store/audit_records.ts";
import { noteAct } from "../note_act.ts";
import type { DatabaseAddress } from "../databases/database_record.ts";
import type { ManageContext } from "../manage_context.ts";
import { endpointUrl } from "../published/public_address.ts";

/** What they need of the process. */
export interface EndpointContext extends ManageContext {
  readonly query: QueryContext;
  /** Prefix of absolute URLs. */
  readonly baseUrl: string;
}

/** Which endpoint the caller changes. */
export function changeBy(
  { caller }: EndpointContext,
  { namespaceId, id: databaseId }: DatabaseRecord,
  slug: string,
): EndpointChange {
  return { namespaceId, databaseId, slug, actor: callerId(caller) };
}

/** Notes a change of an endpoint, or of an account by it, for the audit of its namespace. */
export function noteEndpoint(
  ctx: EndpointContext,
  action: Extract<AuditAction, `endpoint.${string}` | `account.${string}`>,
  { database: { namespaceId, slug: database }, slug, facts = {} }: {
    readonly database: Pick<DatabaseRecord, "namespaceId" | "slug">;
    readonly slug: string;
    readonly facts?: AuditFacts;
  },
): Promise<void> {
  return noteAct(ctx, action, { namespaceId, database, target: slug, facts });
}

/** The specification, and what the service knows beside it. Times are ISO 8601. */
export type EndpointView = EndpointSpec & {
  readonly status: EndpointStatus;
  readonly revision: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly url: string;
};

/** An endpoint as the management API shows it. */
export function endpointView(
  record: EndpointRecord,
  { baseUrl, address }: { readonly baseUrl: string; readonly address: DatabaseAddress },
): EndpointView {
  const { spec, status, revision, createdAt, updatedAt } = record;
  return {
    ...spec,
    status,
    revision,
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
    url: endpointUrl(baseUrl, address, spec.slug),
  };
}
