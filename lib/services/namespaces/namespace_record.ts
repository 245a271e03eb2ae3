// The record of a namespace: found for a management call, shown by the API.
import { requireNamespaceAdmin, requireNamespaceReader } from "../../access/caller.ts";
import { isoTime } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { toUsd } from "../../query/prices.ts";
import type { NamespaceRecord } from "../../store/records.ts";
import type { ManageContext } from "../manage_context.ts";

/**
 * The record, once the caller may manage the namespace. Errors: `namespace_mismatch`, `out_of_scope`, `role_too_low`,
 * `namespace_not_found`.
 */
export async function requireNamespace(ctx: ManageContext, slug: string): Promise<NamespaceRecord> {
  requireNamespaceAdmin(ctx.caller, slug);
  return await knownNamespace(ctx, slug);
}

/** The record, once the caller may look at the namespace: any of its members may. Errors: as `requireNamespace`. */
export async function readableNamespace(ctx: ManageContext, slug: string): Promise<NamespaceRecord> {
  requireNamespaceReader(ctx.caller, slug);
  return await knownNamespace(ctx, slug);
}

async function knownNamespace({ control }: ManageContext, slug: string): Promise<NamespaceRecord> {
  const record = await control.namespaces.bySlug(slug);
  if (record === null) throw new AppError("namespace_not_found");
  return record;
}

/** A namespace in a list. */
export interface NamespaceView {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly createdAt: string;
}

/** One namespace by itself. */
export interface NamespaceDetail extends NamespaceView {
  /** The most that it may spend in a UTC month; null: no cap. */
  readonly monthlyCapUsd: number | null;
}

/** A namespace record as the API shows it. */
export function namespaceView({ id, slug, name, createdAt }: NamespaceRecord): NamespaceView {
  return { id, slug, name, createdAt: isoTime(createdAt) };
}

/** The record with what its account says. */
export async function namespaceDetail(
  { ledger }: ManageContext,
  record: NamespaceRecord,
): Promise<NamespaceDetail> {
  const capNanoUsd = (await ledger.balance(record.id))?.monthlyCapNanoUsd ?? null;
  return { ...namespaceView(record), monthlyCapUsd: capNanoUsd === null ? null : toUsd(capNanoUsd) };
}
