// The service tables that tell what has happened in a database. A restore does not undo them: it carries their rows over.
import { idFloor, type IdPrefix } from "../../core/ids.ts";

/**
 * Milliseconds by which a row may come later than rows with higher ids. A call has its id from its beginning and its row
 * from its end, clocks of instances differ, and a row of refusals counts those of its whole minute.
 */
const LATE_MS = 120_000;

const idPrefixes = {
  _service_meta_query_log: "qry",
  _service_meta_audit: "evt",
  _service_meta_endpoint_call: "evt",
} as const satisfies Readonly<Record<string, IdPrefix>>;

/** The name of one of those tables. */
export type Chronicle = keyof typeof idPrefixes;

/** All of them. */
export const CHRONICLES: readonly Chronicle[] = [
  "_service_meta_query_log",
  "_service_meta_audit",
  "_service_meta_endpoint_call",
];

/** Asks for the time of a table's row with the highest id: for `carriedAbove`. */
export function newestTimeQuery(table: Chronicle): string {
  return `SELECT ts FROM ${table} ORDER BY id DESC LIMIT 1`;
}

/** The id above which rows are carried over, in place of those that are there. `newestMs` null: the snapshot has none. */
export function carriedAbove(table: Chronicle, newestMs: number | null): string {
  return newestMs === null ? "" : idFloor(idPrefixes[table], newestMs - LATE_MS);
}
