// Creates, shows, lists, changes and deletes namespaces.
import { requireFresh, requireOperator } from "../../access/caller.ts";
import { AppError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { toNanoUsd, toUsd } from "../../query/prices.ts";
import type { NamespaceRecord } from "../../store/records.ts";
import { nothingElse } from "../../store/until_committed.ts";
import { withAct } from "../note_act.ts";
import { type ManageContext, requireConfirm } from "../manage_context.ts";
import { inLentRoom } from "../removal/in_lent_room.ts";
import { clearNamespace } from "../removal/remove_records.ts";
import {
  type NamespaceDetail,
  namespaceDetail,
  type NamespaceView,
  namespaceView,
  readableNamespace,
  requireNamespace,
} from "./namespace_record.ts";
import { requireCursor, type ShownPage } from "../shown_page.ts";
import type { SlugPageInput } from "../../control/list_page.ts";

/** A namespace to create. */
export interface NamespaceInput {
  readonly slug: string;
  readonly name?: string | undefined;
}

/** A new tenant, which only the operator creates. Errors: `operator_required`, `slug_taken`. */
export async function createNamespace(ctx: ManageContext, input: NamespaceInput): Promise<NamespaceView> {
  requireOperator(ctx.caller);
  const now = ctx.clock.now();
  const record = {
    id: newId("ns", now),
    slug: input.slug,
    name: input.name ?? input.slug,
    createdAt: now,
  };
  const act = withAct(ctx, "namespace.created", { namespaceId: record.id, target: record.slug });
  if (!await ctx.control.namespaces.add(record, ctx.welcomeCreditNanoUsd, act)) {
    throw new AppError("slug_taken");
  }
  return namespaceView(record);
}

/** One namespace, for whoever may manage it. Errors: those of `requireNamespace`. */
export async function getNamespace(ctx: ManageContext, slug: string): Promise<NamespaceDetail> {
  return await namespaceDetail(ctx, await readableNamespace(ctx, slug));
}

/** All namespaces, for the operator. Errors: `operator_required`, `validation_failed` for a cursor that is none. */
export async function listNamespaces(
  ctx: ManageContext,
  page: SlugPageInput,
): Promise<ShownPage<NamespaceView>> {
  requireOperator(ctx.caller);
  requireCursor(page.cursor, "ns", !!page.prefix);
  const { records, nextCursor } = await ctx.control.namespaces.list(page);
  return { items: records.map(namespaceView), nextCursor };
}

interface NamespaceChange {
  readonly slug: string;
  readonly name?: string | undefined;
  /** Null takes the cap away. */
  readonly monthlyCapUsd?: number | null | undefined;
}

/**
 * Changes the name of a namespace and the most that it may spend in a month. Only what is given changes. Errors:
 * `sign_in_again` for another cap, those of `requireNamespace`.
 */
export async function updateNamespace(ctx: ManageContext, input: NamespaceChange): Promise<NamespaceDetail> {
  let record = await requireNamespace(ctx, input.slug);
  const isNoted = input.monthlyCapUsd !== undefined && await changeCap(ctx, record, input.monthlyCapUsd);
  if (input.name !== undefined) {
    // One call is one act: the first commit of it has the note.
    const act = withAct(ctx, "namespace.changed", { namespaceId: record.id, target: record.slug });
    const changed = await ctx.control.namespaces.rename(record, input.name, isNoted ? nothingElse : act);
    if (changed === null) throw new AppError("namespace_not_found");
    record = changed;
  }
  return await namespaceDetail(ctx, record);
}

/**
 * Another cap lets the namespace spend more, or stops its calls, and is noted. The cap that it has changes nothing, and asks
 * for nothing: false.
 */
async function changeCap(
  ctx: ManageContext,
  { id: namespaceId, slug: target }: NamespaceRecord,
  capUsd: number | null,
): Promise<boolean> {
  const cap = capUsd === null ? null : toNanoUsd(capUsd);
  const balance = await ctx.ledger.balance(namespaceId);
  if (balance?.monthlyCapNanoUsd === cap) return false;
  requireFresh(ctx.caller, ctx.clock.now());
  await ctx.ledger.setMonthlyCap(namespaceId, cap, (commit, former) => {
    const formerMonthlyCapUsd = former === null ? NO_CAP : toUsd(former);
    const facts = { monthlyCapUsd: capUsd ?? NO_CAP, formerMonthlyCapUsd };
    return withAct(ctx, "namespace.changed", { namespaceId, target, facts })(commit);
  });
  return true;
}

/** In the place of a cap where there is none. */
const NO_CAP = "none";

/**
 * Deletes a namespace with everything in it: first the record, then the contents. After a crash a sweep finishes it.
 * Errors: `sign_in_again`, `operator_required`, `namespace_not_found`, `validation_failed` unless `confirm` is the
 * slug.
 */
export async function deleteNamespace(
  ctx: ManageContext,
  input: { readonly slug: string; readonly confirm: string },
): Promise<NamespaceView> {
  requireOperator(ctx.caller);
  const record = await requireNamespace(ctx, input.slug);
  requireFresh(ctx.caller, ctx.clock.now());
  requireConfirm(input.confirm, record.slug);
  await inLentRoom(ctx.tenants, () => ctx.control.namespaces.remove(record));
  ctx.control.tokens.forgetAll();
  await inLentRoom(ctx.tenants, () => clearNamespace(ctx, record.id));
  return namespaceView(record);
}
