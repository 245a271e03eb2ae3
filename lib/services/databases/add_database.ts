// Creates storage and then the record that lets it be found. Each attempt has a new id, so that no database ever gets
// the file of another.
import { TRUNK } from "../../access/resolve_target.ts";
import type { ControlPlane } from "../../control/control_plane.ts";
import type { Clock } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { AuditRecord } from "../../store/audit_records.ts";
import type { DatabaseStorage } from "../../tenant/damage.ts";
import type { TenantStore } from "../../tenant/tenant_store.ts";
import { type DatabaseView, databaseView } from "./database_record.ts";
import { dropUnused } from "../removal/remove_records.ts";

/** What this needs of the process. */
export interface NewStorage {
  readonly control: ControlPlane;
  readonly tenants: TenantStore;
  readonly clock: Clock;
}

/** A database to create, and how. */
export interface NewDatabase {
  readonly namespaceId: string;
  readonly slug: string;
  readonly name: string;
  /** Makes the storage. Resolves with what the view says of it; null: that has to be asked. */
  readonly make: (databaseId: string) => Promise<DatabaseStorage | null>;
  /** The record that is added with the database; none where the caller notes what it has done by itself. */
  readonly act?: (databaseId: string) => AuditRecord;
}

const failureCode = {
  slug_taken: "slug_taken",
  namespace_gone: "namespace_not_found",
  swept: "store_unavailable",
} as const;

/**
 * After a failure the storage is dropped, now or by a sweep. Errors: `slug_taken`, `namespace_not_found`,
 * `too_many_requests`, `make`'s.
 */
export async function addDatabase(ctx: NewStorage, input: NewDatabase): Promise<DatabaseView> {
  const { databases } = ctx.control;
  const { namespaceId, slug, name, act } = input;
  if (await databases.bySlug(namespaceId, slug) !== null) throw new AppError("slug_taken");
  const createdAt = ctx.clock.now();
  const id = await databases.announceNew(namespaceId);
  const record = { id, slug, name, namespaceId, branchRef: TRUNK, createdAt };
  let view: DatabaseView;
  try {
    const storage = await input.make(record.id);
    // The view is read before anybody can find the database: after the record, nothing may fail.
    view = await databaseView(ctx.tenants, record, storage);
  } catch (error) {
    await dropUnused(ctx, record.id);
    throw error;
  }
  const outcome = await databases.add(
    record,
    act && ((change) => ctx.control.audit.addTo(change, act(id))),
  );
  if (outcome.ok) return view;
  await dropUnused(ctx, record.id);
  throw new AppError(failureCode[outcome.reason]);
}
