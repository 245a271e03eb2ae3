// Reads changes of a database behind a place, and notices where that place is gone.
import type { QueryContext, QueryTarget } from "../../query/query_call.ts";
import type { ChangePlace } from "../../sql/service/change_rows.ts";
import { readOwnRows } from "../query/read_own.ts";
import {
  beginningOf,
  changeOf,
  type ChangeTuple,
  isSamePlace,
  type PlacedChange,
  resetAt,
} from "./change.ts";

/** Changes read at once. */
export const CHANGES_AT_ONCE = 500;

/** Which database, for whom. */
export type ChangesTarget = Pick<
  QueryTarget,
  "databaseId" | "namespaceId" | "namespaceSlug" | "databaseSlug" | "branchRef"
>;

const SELECT = "SELECT seq, epoch, at, tables, kinds, rows FROM _service_meta_change";

/**
 * The next changes behind a place, oldest first; behind null all that are kept. Where the place is gone or of another
 * epoch, `reset` comes first and then all that are kept. Errors: those of the store.
 */
export async function readChanges(
  ctx: QueryContext,
  target: ChangesTarget,
  after: ChangePlace | null,
): Promise<PlacedChange[]> {
  const found = await rowsFrom(ctx, target, after?.seq ?? 0);
  const [first] = found;
  if (after === null) return found;
  const begins = isSamePlace(after, beginningOf(target.databaseId));
  if (first === undefined) return begins ? [] : await startOver(ctx, target);
  const { seq, epoch } = first.place;
  if (isSamePlace(first.place, after)) return found.slice(1);
  // A restore takes the place of what was there, also of what had come by no change.
  const isFirst = begins && !first.change.kinds.includes("restore");
  const follows = seq === after.seq + 1 && (epoch === after.epoch || isFirst);
  return follows ? found : await startOver(ctx, target);
}

/** The place of the newest change. Errors: those of the store. */
export async function newestPlace(ctx: QueryContext, target: ChangesTarget): Promise<ChangePlace> {
  const [newest] = await select(ctx, target, `${SELECT} ORDER BY seq DESC LIMIT 1`, []);
  return newest?.place ?? beginningOf(target.databaseId);
}

async function startOver(ctx: QueryContext, target: ChangesTarget): Promise<PlacedChange[]> {
  const kept = await rowsFrom(ctx, target, 0);
  const [first] = kept;
  if (first === undefined) return [resetAt(beginningOf(target.databaseId), ctx.clock.now())];
  const { place: { seq, epoch }, change: { at } } = first;
  return [resetAt({ seq: seq - 1, epoch }, Date.parse(at)), ...kept];
}

function rowsFrom(ctx: QueryContext, target: ChangesTarget, seq: number): Promise<PlacedChange[]> {
  return select(ctx, target, `${SELECT} WHERE seq >= ? ORDER BY seq LIMIT ?`, [seq, CHANGES_AT_ONCE + 1]);
}

async function select(
  ctx: QueryContext,
  target: ChangesTarget,
  sql: string,
  params: number[],
): Promise<PlacedChange[]> {
  const own = { ...ctx, target: { ...target, role: "read" }, tokenId: "" } as const;
  return (await readOwnRows<ChangeTuple>(own, { sql, params })).map(changeOf);
}
