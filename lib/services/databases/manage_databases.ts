// Creates, shows, lists, renames, deletes and undeletes the databases of a namespace.
import { requireFresh } from "../../access/caller.ts";
import { isSlug } from "../../access/slug.ts";
import type { SlugPageInput } from "../../control/list_page.ts";
import { AppError, invalidInput } from "../../core/errors.ts";
import { DELETED_KEEP_MS } from "../../core/limits.ts";
import type { ServiceStatement } from "../../tenant/service_statement.ts";
import { actOf, withAct } from "../note_act.ts";
import { type ManageContext, requireConfirm } from "../manage_context.ts";
import { readableNamespace, requireNamespace } from "../namespaces/namespace_record.ts";
import { inLentRoom } from "../removal/in_lent_room.ts";
import { removeBranches } from "../removal/remove_records.ts";
import { addDatabase } from "./add_database.ts";
import {
  type DatabaseAddress,
  type DatabaseView,
  databaseView,
  readableDatabase,
  requireDatabase,
} from "./database_record.ts";
import { requireCursor, type ShownPage } from "../shown_page.ts";

/** A database to create. */
export interface DatabaseInput {
  readonly namespaceSlug: string;
  readonly slug: string;
  readonly name?: string | undefined;
  /** Runs in the new database before anybody can find it. */
  readonly content?: readonly ServiceStatement[];
}

/** A new, empty database. Errors: `slug_taken`, `store_unavailable` and those of `requireNamespace`. */
export async function createDatabase(ctx: ManageContext, input: DatabaseInput): Promise<DatabaseView> {
  const namespace = await requireNamespace(ctx, input.namespaceSlug);
  return await addDatabase(ctx, {
    namespaceId: namespace.id,
    slug: input.slug,
    name: input.name ?? input.slug,
    make: async (databaseId) => {
      const storage = await ctx.tenants.create(databaseId);
      if (!input.content) return storage;
      await ctx.tenants.open({ databaseId, namespaceId: namespace.id }).write(input.content);
      return null;
    },
    act: (target) =>
      actOf(ctx, "database.created", { namespaceId: namespace.id, database: input.slug, target }),
  });
}

/** One database of a namespace. Errors: those of `requireDatabase`. */
export async function getDatabase(ctx: ManageContext, address: DatabaseAddress): Promise<DatabaseView> {
  return await databaseView(ctx.tenants, await readableDatabase(ctx, address));
}

/** The databases of a namespace. Errors: `validation_failed` for a cursor that is none, those of `requireNamespace`. */
export async function listDatabases(
  ctx: ManageContext,
  { namespaceSlug, ...page }: SlugPageInput & { readonly namespaceSlug: string },
): Promise<ShownPage<DatabaseView>> {
  requireCursor(page.cursor, "db", !!page.prefix);
  const { id } = await readableNamespace(ctx, namespaceSlug);
  const { records, nextCursor } = await ctx.control.databases.list(id, page);
  const items = await Promise.all(records.map((record) => databaseView(ctx.tenants, record)));
  return { items, nextCursor };
}

/** Id → slug of those databases that the namespace has. Errors: those of `requireNamespace`. */
export async function readSlugs(
  ctx: ManageContext,
  namespaceSlug: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const namespace = await readableNamespace(ctx, namespaceSlug);
  const records = await ctx.control.databases.byIds(namespace.id, ids);
  return new Map(records.map(({ id, slug }) => [id, slug]));
}

/** Ids of databases that a person has named in a field. Errors: `validation_failed`, those of `requireNamespace`. */
export async function readIds(
  ctx: ManageContext,
  { namespaceSlug, slugs, field }: {
    readonly namespaceSlug: string;
    readonly slugs: readonly string[];
    readonly field: string;
  },
): Promise<string[]> {
  const namespace = await readableNamespace(ctx, namespaceSlug);
  return await Promise.all(slugs.map(async (slug) => {
    const record = isSlug(slug) ? await ctx.control.databases.bySlug(namespace.id, slug) : null;
    if (record === null) {
      throw invalidInput(field, `Name databases of ${namespaceSlug}; one of these is none`);
    }
    return record.id;
  }));
}

/** Changes the name of a database; its slug stays. Errors: those of `requireDatabase`. */
export async function updateDatabase(
  ctx: ManageContext,
  input: DatabaseAddress & { readonly name: string },
): Promise<DatabaseView> {
  const record = await requireDatabase(ctx, input);
  const { namespaceId, slug, id } = record;
  const act = withAct(ctx, "database.changed", { namespaceId, database: slug, target: id });
  const changed = await ctx.control.databases.rename(record, input.name, act);
  if (changed === null) throw new AppError("database_not_found");
  return await databaseView(ctx.tenants, changed);
}

/**
 * Deletes a database, once the caller has written its slug again. For a while it can be undeleted. Errors:
 * `sign_in_again`, `validation_failed` unless `confirm` is the slug, and those of `requireDatabase`.
 */
export async function deleteDatabase(
  ctx: ManageContext,
  input: DatabaseAddress & { readonly confirm: string },
): Promise<DatabaseView> {
  const record = await requireDatabase(ctx, input);
  requireFresh(ctx.caller, ctx.clock.now());
  requireConfirm(input.confirm, record.slug);
  const view = await databaseView(ctx.tenants, record);
  const { namespaceId, slug, id } = record;
  const act = withAct(ctx, "database.deleted", { namespaceId, database: slug, target: id });
  const remove = () => ctx.control.databases.softDelete(record, DELETED_KEEP_MS, act);
  const deleted = await inLentRoom(ctx.tenants, remove);
  if (!deleted) throw new AppError("database_not_found");
  await inLentRoom(ctx.tenants, () => removeBranches(ctx, { namespaceId, trunkId: id }));
  return view;
}

interface UndeleteInput {
  readonly namespaceSlug: string;
  /** Its slug before. When several deleted databases had it, the last one deleted is meant. */
  readonly slug: string;
  /** Another slug, where the old one is in use again. */
  readonly into?: string | undefined;
}

/**
 * Brings back a database that was deleted less than a week ago, as it was. Errors: `sign_in_again`,
 * `database_not_found`, `slug_taken`, those of `requireNamespace`.
 */
export async function undeleteDatabase(ctx: ManageContext, input: UndeleteInput): Promise<DatabaseView> {
  const namespace = await requireNamespace(ctx, input.namespaceSlug);
  requireFresh(ctx.caller, ctx.clock.now());
  const deleted = await ctx.control.databases.findDeleted(namespace.id, input.slug);
  if (deleted === null) throw new AppError("database_not_found");
  const slug = input.into ?? input.slug;
  // The view is read first: after the database is back, nothing may fail.
  const view = await databaseView(ctx.tenants, { ...deleted.database, slug });
  const { namespaceId, id } = deleted.database;
  const act = withAct(ctx, "database.brought_back", { namespaceId, database: slug, target: id });
  const outcome = await ctx.control.databases.undelete(deleted, slug, act);
  if (!outcome.ok) throw new AppError(outcome.reason === "slug_taken" ? "slug_taken" : "database_not_found");
  return view;
}
