// What is deleted from the log tables of a database: rows that are too old, and the oldest rows of a log that is too
// large. Ids sort by time, and the tables are ordered by id.

import { idTime } from "../../core/ids.ts";

/** Days of the audit trail. It has no bound of bytes: its rows are paid for, and nobody may push them out. */
const tables = [
  { table: "_service_meta_query_log", prefix: "qry", bytes: "200 + length(CAST(sql AS BLOB))" },
  { table: "_service_meta_endpoint_call", prefix: "evt", bytes: "150 + ifnull(length(hits), 0)" },
  { table: "_service_meta_audit", prefix: "evt", bytes: null },
] as const;

/** Rows deleted by one statement, so that no transaction takes long. */
const OLD_AT_ONCE = 5000;
export const MANY_AT_ONCE = 20_000;

/** Ids of the query log and of the log of calls; null: none. */
export type LogCuts = readonly [queryLog: string | null, calls: string | null];

/** Which rows to delete. */
export interface LogPruning {
  /** Rows with lower ids are too old; null: age is not checked. */
  readonly beforeId: string | null;
  /** Rows of the query log and of the call log below these ids are beyond the allowed size. */
  readonly cuts: LogCuts;
  /** Bytes that each of the two logs may have, when all of it is measured; null: the size is not checked. */
  readonly maxBytes: number | null;
  /** Unix milliseconds: stored answers whose deadline has passed are deleted too. Null: they stay. */
  readonly nowMs: number | null;
}

type Statement = readonly [sql: string, params: readonly (string | number)[]];

/** Answers a query with the first value of its first row. */
type Ask = (...query: Statement) => unknown;

/** The statements that delete those rows. `ask`: where the engine is at hand; cuts then take 0.6 of the time. */
export function pruneStatements(
  { beforeId, cuts, maxBytes }: LogPruning,
  ask: Ask | null = null,
): Statement[] {
  const statements: Statement[] = beforeId === null ? [] : [oldChanges(idTime(beforeId))];
  for (const [at, { table, prefix, bytes }] of tables.entries()) {
    const cut = cuts[at] ?? null;
    if (beforeId !== null) {
      const id = `${prefix}_${beforeId.slice(beforeId.indexOf("_") + 1)}`;
      statements.push([oldest(table, "id < ?", OLD_AT_ONCE), [id]]);
    }
    if (cut !== null) {
      statements.push(ask ? below(table, cut, ask) : [oldest(table, "id < ?", MANY_AT_ONCE), [cut]]);
    }
    if (maxBytes !== null && bytes !== null) {
      statements.push([oldest(table, `id <= (${lastBeyond(table, bytes)})`, MANY_AT_ONCE), [
        maxBytes,
        maxBytes,
      ]]);
    }
  }
  return statements;
}

/**
 * The newest row that has to go so that the rest has the allowed bytes, or null. One sum over the table, which nearly always
 * says that nothing has to; running sums, which take five times as long, from the oldest row to that one only.
 */
function lastBeyond(table: string, bytes: string): string {
  // Running sums come in their order, so the first one found is the lowest.
  const sums = `SELECT id, sum(${bytes}) OVER (ORDER BY id) AS total FROM ${table}`;
  const last = `SELECT id FROM (${sums}) WHERE total >= log.bytes - ? LIMIT 1`;
  return `WITH log AS MATERIALIZED (SELECT sum(${bytes}) AS bytes FROM ${table}) ` +
    `SELECT CASE WHEN bytes > ? THEN (${last}) END FROM log`;
}

/** The newest one stays, because its number is what the next one follows. */
function oldChanges(beforeMs: number): Statement {
  const newest = "(SELECT max(seq) FROM _service_meta_change)";
  const first =
    `SELECT seq, at FROM _service_meta_change WHERE seq < ${newest} ORDER BY seq LIMIT ${OLD_AT_ONCE}`;
  return [
    `DELETE FROM _service_meta_change WHERE seq IN (SELECT seq FROM (${first}) WHERE at < ?)`,
    [beforeMs],
  ];
}

/** Deletes while it walks the table: with a limit in the same statement, SQLite collects the ids of all rows first. */
function below(table: string, cut: string, ask: Ask): Statement {
  const first = ask(`SELECT id FROM ${table} WHERE id < ? ORDER BY id LIMIT 1 OFFSET ${MANY_AT_ONCE}`, [cut]);
  return [`DELETE FROM ${table} WHERE id < ?`, [typeof first === "string" ? first : cut]];
}

function oldest(table: string, where: string, rows: number): string {
  return `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE ${where} ORDER BY id LIMIT ${rows})`;
}
