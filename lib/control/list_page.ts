// One page of a list of records, in the order of their creation.
import type { Key } from "../store/keys.ts";
import { kvGetEach, kvPage } from "../store/kv_call.ts";

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

/** Which page of records that have slugs. */
export interface SlugPageInput extends PageInput {
  /** What the slugs begin with; they are in their own order then, and the cursor is one of them. Empty: all. */
  readonly prefix?: string | undefined;
}

/** Where such records are: under their ids, and the ids under the slugs. */
interface SlugRecords<Value> {
  readonly all: Key<Value>;
  readonly record: (id: string) => Key<Value>;
  readonly ids: Key<string>;
}

/** A page of them. Errors: `meter_unreachable`. */
export async function listSlugPage<Value extends { readonly id: string }>(
  kv: Deno.Kv,
  { all, record, ids }: SlugRecords<Value>,
  { prefix = "", ...page }: SlugPageInput,
): Promise<Page<Value>> {
  if (prefix === "") return await listPage(kv, all, page);
  const { cursor, pageSize } = page;
  const from = cursor === null ? prefix : `${cursor}\0`;
  const entries = await kvPage(kv, { prefix: ids, from, limit: pageSize + 1 });
  const found = entries.map(({ key, value }) => ({ slug: String(key.at(-1)), id: value }))
    .filter(({ slug }) => slug.startsWith(prefix));
  const shown = found.slice(0, pageSize);
  const records = (await kvGetEach(kv, shown.map(({ id }) => record(id)))).flatMap(({ value }) =>
    value ?? []
  );
  return { records, nextCursor: found.length > pageSize ? shown.at(-1)?.slug ?? null : null };
}
