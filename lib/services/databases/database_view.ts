// A database record as the API shows it.
import { isoTime } from "../../core/clock.ts";
import type { DatabaseRecord } from "../../store/records.ts";
import type { DatabaseState } from "../../tenant/damage.ts";
import type { TenantStore } from "../../tenant/tenant_store.ts";

export interface DatabaseView {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly branchRef: string;
  readonly createdAt: string;
  readonly sizeBytes: number;
  readonly state: DatabaseState;
}

export async function databaseView(tenants: TenantStore, record: DatabaseRecord): Promise<DatabaseView> {
  const { id, slug, name, branchRef } = record;
  return {
    id,
    slug,
    name,
    branchRef,
    createdAt: isoTime(record.createdAt),
    ...await tenants.storageOf(id),
  };
}
