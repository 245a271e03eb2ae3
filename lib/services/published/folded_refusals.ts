// Equal refusals of one minute share a row of the call log, so that strangers cannot fill a database with calls that
// nobody pays for. The first refusal writes the row, and later ones replace it with a higher count.
import type { EndpointCallRow } from "../../tenant/endpoint_call_row.ts";

const MINUTE_MS = 60_000;
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
    this.#open.delete(key);
    this.#open.set(key, folded);
    if (this.#open.size > MAX_OPEN) {
      const oldest = this.#open.keys().next();
      if (!oldest.done) this.#open.delete(oldest.value);
    }
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
