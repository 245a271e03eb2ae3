// The money of a namespace: credit from the operator, the balance, and what databases have used.
import { requireFresh, requireOperator } from "../../access/caller.ts";
import { DAY_MS, isoTime } from "../../core/clock.ts";
import type { UsagePage } from "../../control/balance/read_usage.ts";
import { AppError } from "../../core/errors.ts";
import { toNanoUsd, toUsd } from "../../query/prices.ts";
import type { UsageRecord } from "../../store/money_records.ts";
import { actOf } from "../note_act.ts";
import { readableDatabase } from "../databases/database_record.ts";
import type { ManageContext } from "../manage_context.ts";
import { readableNamespace, requireNamespace } from "../namespaces/namespace_record.ts";
import type { ShownPage } from "../shown_page.ts";

/** A credit as the API shows it. */
export interface CreditView {
  readonly reference: string;
  readonly amountUsd: number;
  readonly createdAt: string;
  /** True when the reference had counted before: nothing was added now. */
  readonly repeated: boolean;
}

/**
 * Adds credit; the same reference counts once. Errors: `sign_in_again`, `operator_required`, `namespace_not_found`,
 * `validation_failed` (reference with another amount).
 */
export async function addCredit(
  ctx: ManageContext,
  input: { readonly namespaceSlug: string; readonly amountUsd: number; readonly reference: string },
): Promise<CreditView> {
  requireOperator(ctx.caller);
  requireFresh(ctx.caller, ctx.clock.now());
  const namespace = await requireNamespace(ctx, input.namespaceSlug);
  const { reference } = input;
  const amountNanoUsd = toNanoUsd(input.amountUsd);
  const facts = { amountUsd: toUsd(amountNanoUsd), reference };
  const act = actOf(ctx, "credit.added", { namespaceId: namespace.id, facts });
  // In one commit: whoever repeats a credit of which nobody knew adds nothing, and so would note nothing.
  const { credit, isNew } = await ctx.ledger.credit(
    namespace.id,
    { amountNanoUsd, reference },
    (commit) => ctx.control.audit.addTo(commit, act),
  );
  return {
    reference: credit.reference,
    amountUsd: toUsd(credit.amountNanoUsd),
    createdAt: isoTime(credit.createdAt),
    repeated: !isNew,
  };
}

/** `creditedUsd = balanceUsd + reservedUsd + usedUsd` at every moment. */
export interface BalanceView {
  /** Free to spend. */
  readonly balanceUsd: number;
  /** Held by running processes, which give back what they do not spend. */
  readonly reservedUsd: number;
  /** Usage beyond what was there. */
  readonly writtenOffUsd: number;
  readonly usedUsd: number;
  readonly creditedUsd: number;
  readonly monthlyCapUsd: number | null;
  readonly monthUsedUsd: number;
  readonly currency: "USD";
}

/** What a namespace has and owes. Errors: those of `requireNamespace`. */
export async function readBalance(ctx: ManageContext, namespaceSlug: string): Promise<BalanceView> {
  const namespace = await readableNamespace(ctx, namespaceSlug);
  const balance = await ctx.ledger.balance(namespace.id);
  if (balance === null) throw new AppError("namespace_not_found");
  return {
    balanceUsd: toUsd(balance.balanceNanoUsd),
    reservedUsd: toUsd(balance.reservedNanoUsd),
    writtenOffUsd: toUsd(balance.writtenOffNanoUsd),
    usedUsd: toUsd(balance.usedNanoUsd),
    creditedUsd: toUsd(balance.creditedNanoUsd),
    monthlyCapUsd: balance.monthlyCapNanoUsd === null ? null : toUsd(balance.monthlyCapNanoUsd),
    monthUsedUsd: toUsd(balance.monthUsedNanoUsd),
    currency: "USD",
  };
}

/** What was used. */
export interface UsageFigures {
  readonly requests: number;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly costUsd: number;
}

/** What one database used in an hour or a day, as the API shows it. */
interface UsageView extends UsageFigures {
  /** When the hour or day begins, ISO 8601. */
  readonly from: string;
  readonly databaseId: string;
}

/** Which usage is wanted. */
export interface UsageInput {
  readonly namespaceSlug: string;
  /** Unix milliseconds; the last 24 hours or 30 days where not given. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
  readonly by: "hour" | "day";
}

const DEFAULT_MS = { hour: DAY_MS, day: 30 * DAY_MS } as const;

/**
 * What the databases of a namespace used, or one of them, by its slug, by hour or by day in the order of time. Errors: those
 * of `readableDatabase`; `validation_failed` for too long a time without pages, and for what is no cursor.
 */
export async function readUsage(
  ctx: ManageContext,
  { cursor, pageSize, database, ...input }:
    & UsageInput
    & Pick<UsagePage, "cursor" | "pageSize">
    & { readonly database: string | null },
): Promise<ShownPage<UsageView>> {
  const { namespaceSlug } = input;
  const namespace = await readableNamespace(ctx, namespaceSlug);
  const only = database === null ? null : (await readableDatabase(ctx, { namespaceSlug, slug: database })).id;
  const page = { cursor, pageSize, only };
  const { rows, nextCursor } = await ctx.ledger.usage(namespace.id, rangeOf(ctx, input), page);
  const items = rows.map(({ startMs, databaseId, ...used }) => ({
    from: isoTime(startMs),
    databaseId,
    ...figuresOf(used),
  }));
  return { items, nextCursor };
}

/** Sums for pages. */
export interface UsageSumsView {
  /** By the time at which the hour or day begins, unix milliseconds; of the database that was asked for, or of all. */
  readonly byTime: ReadonlyMap<number, UsageFigures>;
  readonly byDatabase: ReadonlyMap<string, UsageFigures>;
}

/** The same in sums, however many databases there are. Errors: those of `requireNamespace`. */
export async function readUsageSums(
  ctx: ManageContext,
  { databaseId, ...input }: UsageInput & { readonly databaseId: string | null },
): Promise<UsageSumsView> {
  const namespace = await readableNamespace(ctx, input.namespaceSlug);
  const { byTime, byDatabase } = await ctx.ledger.usageSums(namespace.id, rangeOf(ctx, input), databaseId);
  return {
    byTime: new Map(byTime.entries().map(([startMs, used]) => [startMs, figuresOf(used)])),
    byDatabase: new Map(byDatabase.entries().map(([id, used]) => [id, figuresOf(used)])),
  };
}

function rangeOf(ctx: ManageContext, { fromMs, toMs, by }: UsageInput) {
  const end = toMs ?? ctx.clock.now() + 1;
  return { fromMs: fromMs ?? end - DEFAULT_MS[by], toMs: end, by };
}

function figuresOf({ costNanoUsd, requests, rowsRead, rowsWritten }: UsageRecord): UsageFigures {
  return { requests, rowsRead, rowsWritten, costUsd: toUsd(costNanoUsd) };
}
