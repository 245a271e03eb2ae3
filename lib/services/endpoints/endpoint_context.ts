// What the services for a database's endpoints share: their context, and how they show an endpoint.
import { callerId } from "../../access/caller.ts";
import type { EndpointChange } from "../../control/endpoints.ts";
import { isoTime } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { EndpointSpec, EndpointStatus } from "../../core/endpoint_spec.ts";
import type { QueryContext } from "../../query/query_call.ts";
import type { DatabaseRecord, EndpointRecord } from "../../store/records.ts";
import type { Also } from "../../store/until_committed.ts";
import type { AuditAction, AuditFacts } from "../../store/audit_records.ts";
import { withAct } from "../note_act.ts";
import type { DatabaseAddress } from "../databases/database_record.ts";
import type { ManageContext } from "../manage_context.ts";
import { endpointUrl } from "../published/public_address.ts";

/** What they need of the process. */
export interface EndpointContext extends ManageContext {
  readonly query: QueryContext;
  /** Prefix of absolute URLs. */
  readonly baseUrl: string;
}

/** The endpoint, of any status. Errors: `endpoint_not_found`. */
export async function requireEndpoint(
  { control }: Pick<EndpointContext, "control">,
  database: DatabaseRecord,
  slug: string,
): Promise<EndpointRecord> {
  const record = await control.endpoints.read(database.id, slug);
  if (record === null) throw new AppError("endpoint_not_found");
  return record;
}

/** What the caller does to an endpoint. */
interface EndpointAct {
  readonly database: DatabaseRecord;
  readonly slug: string;
  readonly facts?: AuditFacts;
}

/** Which endpoint the caller changes, and how, with the note of it for the audit of its namespace. */
export function changeBy(
  ctx: EndpointContext,
  action: Extract<AuditAction, `endpoint.${string}`>,
  { database: { namespaceId, id: databaseId, slug: database }, slug, facts = {} }: EndpointAct,
): EndpointChange {
  const also = withAct(ctx, action, { namespaceId, database, target: slug, facts });
  return { namespaceId, databaseId, slug, actor: callerId(ctx.caller), also };
}

/** The note of what is done to an account by an endpoint, for the commit that does it. */
export function withAccount(
  ctx: EndpointContext,
  action: Extract<AuditAction, `account.${string}`>,
  { database: { namespaceId, slug: database }, slug }: EndpointAct,
): Also {
  return withAct(ctx, action, { namespaceId, database, target: slug });
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
