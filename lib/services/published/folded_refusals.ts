// Equal refusals of one minute share a row of the call log, so that strangers cannot fill a database with calls that
// nobody pays for. The first refusal writes the row, and later ones replace it with a higher count.
import { MINUTE_MS } from "../../core/clock.ts";
import type { EndpointCallRow } from "../../tenant/endpoint_call_row.ts";
import { putNewest } from "../../core/put_newest.ts";

/**
 * Rows that can still count on. Beyond this, the longest unused row is closed, and its next refusal begins another.
 */
const MAX_OPEN = 10_000;

/** The open rows of one process. */
export class FoldedRefusals {
  readonly #open = new Map<string, EndpointCallRow>();

  /** The row that stands for this refusal and for the equal ones before it. */
  fold(databaseId: string, row: EndpointCallRow): EndpointCallRow {
    const key = `${databaseId} ${row.endpoint} ${row.httpStatus} ${row.code}`;
    const known = this.#open.get(key);
    const isSame = known !== undefined && minuteOf(known) === minuteOf(row);
    const folded = isSame ? joined(known, row) : row;
    putNewest(this.#open, key, folded, MAX_OPEN);
    return folded;
  }
}

function minuteOf({ ts }: EndpointCallRow): number {
  return Math.floor(ts / MINUTE_MS);
}

function joined(known: EndpointCallRow, row: EndpointCallRow): EndpointCallRow {
  const count = known.count + 1;
  return {
    ...known,
    count,
    durationMs: known.durationMs + (row.durationMs - known.durationMs) / count,
    userId: known.userId === row.userId ? known.userId : null,
    ipHash: known.ipHash === row.ipHash ? known.ipHash : null,
  };
}
