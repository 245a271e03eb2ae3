// What the databases of a namespace used, by hour or by day.
import { isoTime } from "../../core/clock.ts";
import { toUsd } from "../../query/prices.ts";
import type { ManageContext } from "../manage_context.ts";
import { requireNamespace } from "../namespaces/namespace_record.ts";

/** What one database used in an hour or a day, as the API shows it. */
export interface UsageView {
  /** When the hour or day begins, ISO 8601. */
  readonly from: string;
  readonly databaseId: string;
  readonly requests: number;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly costUsd: number;
}

/** Which usage is wanted. */
export interface UsageInput {
  readonly namespaceSlug: string;
  /** Unix milliseconds; the last 24 hours or 30 days where not given. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
  readonly by: "hour" | "day";
}

const DAY_MS = 86_400_000;
const DEFAULT_MS = { hour: DAY_MS, day: 30 * DAY_MS } as const;

/** In the order of time. Errors: those of `requireNamespace`; `validation_failed` for too long a time. */
export async function readUsage(ctx: ManageContext, input: UsageInput): Promise<UsageView[]> {
  const namespace = await requireNamespace(ctx, input.namespaceSlug);
  const toMs = input.toMs ?? ctx.clock.now() + 1;
  const fromMs = input.fromMs ?? toMs - DEFAULT_MS[input.by];
  const rows = await ctx.ledger.usage(namespace.id, { fromMs, toMs, by: input.by });
  return rows.map(({ startMs, databaseId, requests, rowsRead, rowsWritten, costNanoUsd }) => ({
    from: isoTime(startMs),
    databaseId,
    requests,
    rowsRead,
    rowsWritten,
    costUsd: toUsd(costNanoUsd),
  }));
}
