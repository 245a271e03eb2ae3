// A namespace record as the API shows it.
import { isoTime } from "../../core/clock.ts";
import { toUsd } from "../../query/prices.ts";
import type { NamespaceRecord } from "../../store/records.ts";
import type { ManageContext } from "../manage_context.ts";

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

export function namespaceView({ id, slug, name, createdAt }: NamespaceRecord): NamespaceView {
  return { id, slug, name, createdAt: isoTime(createdAt) };
}

export async function namespaceDetail(
  { ledger }: ManageContext,
  record: NamespaceRecord,
): Promise<NamespaceDetail> {
  const capNanoUsd = (await ledger.balance(record.id))?.monthlyCapNanoUsd ?? null;
  return { ...namespaceView(record), monthlyCapUsd: capNanoUsd === null ? null : toUsd(capNanoUsd) };
}
