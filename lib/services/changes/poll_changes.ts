// Answers what has changed behind a place, at once or as soon as something has.
import { invalidInput } from "../../core/errors.ts";
import { Bill } from "../../query/bill.ts";
import type { ChangePlace } from "../../sql/service/change_rows.ts";
import { beginningOf, type Change, concerns, idOfPlace, type PlacedChange, placeOfId } from "./change.ts";
import type { ChangesContext } from "./changes_context.ts";
import { newestPlace, readChanges } from "./read_changes.ts";

/** What a follower has read, and what it wants. */
export interface PollInput {
  /** An id, `now`, or null for all that is kept. */
  readonly since: string | null;
  readonly tables: readonly string[] | null;
  /** Milliseconds to wait where there is nothing yet. */
  readonly waitMs: number;
  /** Aborts when the caller has gone. */
  readonly signal: AbortSignal;
  /** Finds the database once more, after a wait. May throw: whoever asked may no longer reach it. */
  readonly again: () => Promise<unknown>;
}

/** Changes, and the id to go on from. */
export interface PolledChanges {
  readonly changes: readonly Change[];
  readonly cursor: string;
}

/** Costs one request. Errors: `validation_failed`, `follower_limit`, those of a read and of `again`. */
export async function pollChanges(ctx: ChangesContext, input: PollInput): Promise<PolledChanges> {
  const { query, target } = ctx;
  const wanted = wantedTables(input.tables);
  requireSince(input.since);
  await payForRequest(ctx);
  let place = await startingPlace(ctx, input.since);
  const read = async (next: (after: ChangePlace | null) => Promise<readonly PlacedChange[]>) => {
    const found = await next(place);
    place = found.at(-1)?.place ?? place;
    return found.filter((one) => concerns(one, wanted)).map(({ change }) => change);
  };
  let changes = await read((after) => readChanges(query, target, after));
  if (changes.length === 0 && input.waitMs > 0) {
    changes = await waitFor(ctx, input, read);
    await input.again();
  }
  return { changes, cursor: idOfPlace(place ?? beginningOf(target.databaseId)) };
}

type Read = (next: (after: ChangePlace | null) => Promise<readonly PlacedChange[]>) => Promise<Change[]>;

async function waitFor(
  { feeds, query, target }: ChangesContext,
  input: PollInput,
  read: Read,
): Promise<Change[]> {
  const follower = feeds.follow(target);
  const { signal, waitMs } = input;
  const untilMs = query.clock.monotonicMs() + waitMs;
  try {
    for (let leftMs = waitMs;; leftMs = untilMs - query.clock.monotonicMs()) {
      const changes = await read((after) => follower.changes.next(after, { waitMs: leftMs, signal }));
      if (changes.length > 0 || leftMs <= 0 || signal.aborted || follower.changes.isClosed) return changes;
    }
  } finally {
    follower.leave();
  }
}

/** Takes the price of one request. Errors: those of `Bill.reserve`. */
export async function payForRequest({ query, target }: ChangesContext): Promise<void> {
  const bill = new Bill(query.meter, target);
  await bill.during("reads", () => {
    bill.figures = { rowsRead: 0, rowsWritten: 0 };
    return Promise.resolve();
  });
}

/** The place behind which a follower begins; null: before all that is kept. `since` is one that counts. */
export async function startingPlace(
  { query, target }: ChangesContext,
  since: string | null,
): Promise<ChangePlace | null> {
  if (since === "now") return await newestPlace(query, target);
  return since === null ? null : placeOfId(since);
}

/** To be called before anything is paid for. Errors: `validation_failed`. */
export function requireSince(since: string | null): void {
  if (since === null || since === "now" || placeOfId(since) !== null) return;
  throw invalidInput("since", "Send the id of a change as it came, or now");
}

/** As SQLite compares names. */
export function wantedTables(tables: readonly string[] | null): ReadonlySet<string> | null {
  return tables && new Set(tables.map((name) => name.toLowerCase()));
}
