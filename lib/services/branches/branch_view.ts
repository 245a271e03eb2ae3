// A branch as the API shows it.
import { isoTime } from "../../core/clock.ts";
import type { Role } from "../../core/role.ts";
import type { BranchRecord } from "../../store/records.ts";
import type { DatabaseState } from "../../tenant/damage.ts";
import type { TenantStore } from "../../tenant/tenant_store.ts";

export interface BranchView {
  readonly branchRef: string;
  readonly databaseId: string;
  readonly databaseSlug: string;
  readonly purpose: string;
  readonly role: Role;
  readonly createdAt: string;
  /** When its present copy of the trunk was made. */
  readonly copiedAt: string;
  readonly expiresAt: string;
  readonly sizeBytes: number;
  readonly state: DatabaseState;
}

export async function branchView(
  tenants: TenantStore,
  trunkSlug: string,
  record: BranchRecord,
): Promise<BranchView> {
  const { id, ref, purpose, role } = record;
  return {
    branchRef: ref,
    databaseId: id,
    databaseSlug: `${trunkSlug}@${ref}`,
    ...{ purpose, role },
    createdAt: isoTime(record.createdAt),
    copiedAt: isoTime(record.copiedAt),
    expiresAt: isoTime(record.expiresAt),
    ...await tenants.storageOf(id),
  };
}
