// One page of a list of records, in the order of their creation.
import type { Key } from "../store/keys.ts";
import { kvPage } from "../store/kv_call.ts";

/** Which page. */
export interface PageInput {
  /** The id of the last record of the page before. */
  readonly cursor: string | null;
  readonly pageSize: number;
}

/** One page of records. */
export interface Page<Value> {
  readonly records: readonly Value[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** The records directly under `prefix`, whose last key part is their id. Errors: `meter_unreachable`. */
export async function listPage<Value extends { readonly id: string }>(
  kv: Deno.Kv,
  prefix: Key<Value>,
  { cursor, pageSize }: PageInput,
): Promise<Page<Value>> {
  const entries = await kvPage(kv, { prefix, after: cursor, limit: pageSize + 1 });
  const records = entries.slice(0, pageSize).map((entry) => entry.value);
  return { records, nextCursor: entries.length > pageSize ? records.at(-1)?.id ?? null : null };
}
