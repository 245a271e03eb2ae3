// A new database. Its storage is made before its record, so that whoever finds the record can use it; an id is made
// anew each time, so that no database ever gets the file of another.
import { AppError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { TRUNK } from "../../access/resolve_target.ts";
import type { DatabaseRecord } from "../../store/records.ts";
import type { FillStatement } from "../../tenant/tenant_store.ts";
import type { ManageContext } from "../manage_context.ts";
import { requireNamespace } from "../namespaces/require_namespace.ts";
import { type DatabaseView, databaseView } from "./database_view.ts";

export interface DatabaseInput {
  readonly namespaceSlug: string;
  readonly slug: string;
  readonly name?: string | undefined;
  /** Runs in the new database before anybody can find it. */
  readonly content?: readonly FillStatement[];
}

/** Errors: `slug_taken`, `store_unavailable` and those of `requireNamespace`. */
export async function createDatabase(ctx: ManageContext, input: DatabaseInput): Promise<DatabaseView> {
  const namespace = await requireNamespace(ctx, input.namespaceSlug);
  const { databases } = ctx.control;
  if (await databases.bySlug(namespace.id, input.slug) !== null) throw new AppError("slug_taken");
  const now = ctx.clock.now();
  const record: DatabaseRecord = {
    id: newId("db", now),
    slug: input.slug,
    name: input.name ?? input.slug,
    namespaceId: namespace.id,
    branchRef: TRUNK,
    createdAt: now,
  };
  await databases.announce(record.id);
  await ctx.tenants.create(record.id);
  if (input.content) await ctx.tenants.fill(record.id, input.content);
  const outcome = await databases.add(record);
  if (!outcome.ok) {
    await ctx.tenants.drop(record.id);
    await ctx.control.leftovers.end(record.id);
    throw new AppError(failureCode[outcome.reason]);
  }
  return await databaseView(ctx.tenants, record);
}

const failureCode = {
  slug_taken: "slug_taken",
  namespace_gone: "namespace_not_found",
  swept: "store_unavailable",
} as const;
